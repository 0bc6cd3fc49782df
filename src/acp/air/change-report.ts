/**
 * Which files a turn changed, as its agent says (seed document 002, "Agent file-change report"): asked for with the
 * prompt, told once before its result. One of these a session.
 */
import type { ChangeReport, TurnEventBody } from "../events.ts";
import { isObject } from "../frames.ts";
import type { Frame } from "../frames.ts";
import { AIR_VERSION, readAirField } from "./namespace.ts";

const MAX_PATHS = 1024;
const MAX_PATH_CHARS = 4096;
const MAX_BYTES = 256 * 1024;
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;
const NOT_REPORTED: ChangeReport = { status: "unavailable", reason: "notReported" };
const UNSUPPORTED: ChangeReport = { status: "unavailable", reason: "unsupported" };

export class ChangeReports {
  /** Of the prompt that runs, until its report came. */
  #expected: string | undefined;
  /** Of the prompts of this turn together. */
  #report: ChangeReport | undefined;

  /** The `_meta` of a prompt that asks for its report. `requestId`: 1-128 of `[A-Za-z0-9._:-]`, never used before. */
  request(requestId: string): object {
    this.#report = this.#soFar();
    this.#expected = requestId;
    return {
      jetbrains: { air: { version: AIR_VERSION, agentFileChangeReportRequest: { version: 1, requestId } } },
    };
  }

  /** The agent has no such report. */
  cannotRequest(): void {
    this.#report ??= UNSUPPORTED;
  }

  /** Takes in a `session_info_update`; one that is malformed, stale or told twice is ignored. */
  apply(update: Frame): TurnEventBody[] {
    const told = readChangeReport(readAirField(update["_meta"], "agentFileChangeReport"));
    if (told === undefined || told.requestId !== this.#expected) return [];
    this.#expected = undefined;
    this.#report = joined(this.#report, told.report);
    return [{ type: "changes", report: this.#report }];
  }

  /** The turn is over; its part of the outcome, where a prompt asked. What no report told is told now. */
  end(tell: (event: TurnEventBody) => void): { readonly changes?: ChangeReport } {
    const report = this.#soFar();
    if (report !== undefined && (this.#expected !== undefined || report === UNSUPPORTED))
      tell({ type: "changes", report });
    this.#expected = undefined;
    this.#report = undefined;
    return report === undefined ? {} : { changes: report };
  }

  #soFar(): ChangeReport | undefined {
    return this.#expected === undefined ? this.#report : joined(this.#report, NOT_REPORTED);
  }
}

/** Two prompts of one turn, the second of which went on from the first: what one of them does not tell is missing. */
function joined(before: ChangeReport | undefined, now: ChangeReport): ChangeReport {
  if (before === undefined) return now;
  if (before.status === "unavailable") return now.status === "unavailable" ? now : { ...now, ...INCOMPLETE };
  if (now.status === "unavailable") return { ...before, ...INCOMPLETE };
  const { uncertainty = before.uncertainty } = now;
  return {
    status: "reported",
    paths: [...new Set([...before.paths, ...now.paths])],
    declaredComplete: before.declaredComplete && now.declaredComplete,
    truncated: before.truncated || now.truncated,
    ...(uncertainty === undefined ? {} : { uncertainty }),
  };
}

const INCOMPLETE = { declaredComplete: false, truncated: true } as const;

interface ToldReport {
  readonly requestId: string;
  readonly report: ChangeReport;
}

/** Reads a report; undefined = there is none, or it is malformed. */
export function readChangeReport(value: unknown): ToldReport | undefined {
  if (!isObject(value) || value["version"] !== 1) return undefined;
  const { requestId } = value;
  const report = value["status"] === "reported" ? readReported(value) : readUnavailable(value);
  return typeof requestId === "string" && report !== undefined && fits(value) ? { requestId, report } : undefined;
}

function readReported({ paths, declaredComplete, truncated, uncertainty }: Frame): ChangeReport | undefined {
  if (!Array.isArray(paths) || paths.length > MAX_PATHS || !paths.every(isAbsolutePath)) return undefined;
  if (typeof declaredComplete !== "boolean" || typeof truncated !== "boolean") return undefined;
  if (uncertainty !== undefined && typeof uncertainty !== "string") return undefined;
  return {
    status: "reported",
    paths: [...new Set(paths)],
    declaredComplete,
    truncated,
    ...(uncertainty === undefined ? {} : { uncertainty }),
  };
}

function readUnavailable({ status, reason }: Frame): ChangeReport | undefined {
  const isReadable = status === "unavailable" && typeof reason === "string" && reason.trim() !== "";
  return isReadable ? { status, reason } : undefined;
}

function isAbsolutePath(path: unknown): path is string {
  return (
    typeof path === "string" &&
    path.length <= MAX_PATH_CHARS &&
    /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(path) &&
    !CONTROL_CHARACTER.test(path)
  );
}

function fits(value: Frame): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES;
  } catch {
    // Nested deeper than the stack.
    return false;
  }
}
