/** A client's request for the list of changed files (`agentFileChangeReportRequest` of the AIR extension). */
import { property } from "./client-features.ts";

const REPORT_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The id of a request with exactly the keys `version` and `requestId`; undefined for one that is malformed. */
export function readReportRequest(request: unknown): string | undefined {
  if (typeof request !== "object" || request === null) return undefined;
  const requestId = property(request, "requestId");
  const isWhole = Object.keys(request).length === 2 && property(request, "version") === 1;
  return isWhole && typeof requestId === "string" && REPORT_ID.test(requestId) ? requestId : undefined;
}
