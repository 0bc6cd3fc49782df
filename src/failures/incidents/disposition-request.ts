/** The arguments of `failure_disposition`, checked as a whole. Pure. */
import { nearestName } from "../../errors/nearest-name.ts";
import { stripControls } from "../../errors/redact.ts";
import { MAX_REASON_CHARS } from "../records.ts";
import type { Disposition, PermissionResource } from "../records.ts";
import { PERMISSION_RESOURCES, readPermissionResource } from "./permission-blocker.ts";

const MAX_TARGETS = 20;
const MAX_NAME_CHARS = 200;
/** The four words, in the order in which they are explained. */
export const DISPOSITIONS: readonly Disposition[] = ["recovered", "superseded", "expected", "open"];
const FIELDS: readonly string[] = ["disposition", "targets", "reason", "evidence", "permissionResource"];

/** A request that is well-formed; whether it holds is decided against the incidents. */
export interface DispositionRequest {
  readonly disposition: Disposition;
  /** Incident, attempt, tool call or operation ids: 1 to 20. */
  readonly targets: readonly string[];
  readonly reason: string;
  /** The id of an attempt or of a tool call. */
  readonly evidence?: string;
  readonly permissionResource?: PermissionResource;
}

/** Refuses any field that it does not know; `null` is absent where a field may be. */
export function readDispositionRequest(
  input: unknown,
): { readonly ok: true; readonly request: DispositionRequest } | { readonly ok: false; readonly reason: string } {
  const request = readRequest(input);
  return typeof request === "string" ? { ok: false, reason: request } : { ok: true, request };
}

function readRequest(input: unknown): DispositionRequest | string {
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return "The arguments are not an object with disposition, targets and reason";
  const fields = new Map<string, unknown>(Object.entries(input));
  const unknown = [...fields.keys()].find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, FIELDS);
    return `There is no field ${JSON.stringify(unknown.slice(0, MAX_NAME_CHARS))}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
  }
  const disposition = DISPOSITIONS.find((word) => word === fields.get("disposition"));
  if (disposition === undefined) return `disposition is one of ${DISPOSITIONS.join(", ")}`;
  const targets = fields.get("targets");
  if (!Array.isArray(targets) || targets.length === 0 || targets.length > MAX_TARGETS || !targets.every(isName))
    return `targets is a list of 1 to ${MAX_TARGETS} ids, each a text of 1 to ${MAX_NAME_CHARS} characters`;
  const reason = fields.get("reason");
  if (typeof reason !== "string" || reason.length > MAX_REASON_CHARS || stripControls(reason).trim() === "")
    return `reason is a text of 1 to ${MAX_REASON_CHARS} characters, not blank`;
  const evidence = fields.get("evidence") ?? undefined;
  if (evidence !== undefined && !isName(evidence))
    return `evidence is the id of an attempt or of a tool call: a text of 1 to ${MAX_NAME_CHARS} characters`;
  const resource = fields.get("permissionResource") ?? undefined;
  const permissionResource = readPermissionResource(resource);
  if (resource !== undefined && permissionResource === undefined)
    return `permissionResource is one of ${PERMISSION_RESOURCES.join(", ")}`;
  return {
    disposition,
    targets,
    reason,
    ...(evidence !== undefined && { evidence }),
    ...(permissionResource !== undefined && { permissionResource }),
  };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_NAME_CHARS;
}
