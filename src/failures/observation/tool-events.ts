/** What is written down of an attempt: its failure, its recovery, its missing result. Pure. */
import { isAbsolute } from "node:path";
import { readDiffBlocks } from "../../acp/diff-blocks.ts";
import { isObject } from "../../acp/frames.ts";
import { readPaths, readToolContent } from "../../acp/tool-merge.ts";
import { cleanLine, redact } from "../../errors/redact.ts";
import { policyRefusal, resourceOf } from "../incidents/permission-blocker.ts";
import { keyOf } from "../keys.ts";
import { MAX_SUMMARY_CHARS } from "../records.ts";
import type { AttemptRef, FailureEvent, IncidentState, PermissionBlocker, RecoveredEvent } from "../records.ts";
import type { Attempt, Ending } from "./attempt.ts";
import { toolOf } from "./operation.ts";

const MAX_TOOL_CHARS = 128;
/** Scrubbed before it is cut to what a summary holds. */
const MAX_SUBJECT_CHARS = 64 * 1024;
/** Of an id of the wire that is used as it came: what a permission report may name. */
const PLAIN_ID = /^[A-Za-z0-9._:|-]{1,150}$/;
/** The frame that Markdown puts around an output. */
const FENCE = /^```\w*\n|\n```$/g;
/** All gaps of what was seen are one incident. */
export const SCAN = keyOf("scan");

/** An id of the wire as a part of ours: as it stands in the log, or what stands for it. */
export function plainId(id: string): string {
  const scrubbed = redact(id);
  return PLAIN_ID.test(scrubbed) ? scrubbed : keyOf(scrubbed);
}

/** Of the failure of a call that had ended well before, behind the id of its event. */
export const SECOND_ENDING = "~2";

/** `tool:<session>:<call>`, with the number of the reuse of the call's id. */
export function toolEventId(
  word: "tool" | "recovered",
  { session, toolCallId, reuse }: Pick<Attempt, "session" | "toolCallId" | "reuse">,
): string {
  return `${word}:${session.tag}:${plainId(toolCallId)}${reuse === 0 ? "" : `#${reuse}`}`;
}

/** The tool of an attempt as records name it. */
export function toolName(attempt: Attempt): string {
  return cleanLine(toolOf(attempt), MAX_TOOL_CHARS);
}

export function evidenceAt(byte: number | undefined): { readonly evidence?: string } {
  return byte === undefined ? {} : { evidence: `output.log#byte=${byte}` };
}

export function attemptRef({ toolCallId, intent, startN }: Attempt, endN: number): AttemptRef {
  const { attemptId, operationId } = intent ?? {};
  return {
    toolCallId: plainId(toolCallId),
    ...(attemptId !== undefined && { attemptId }),
    ...(operationId !== undefined && { operationId }),
    startN,
    endN,
  };
}

export interface FailedAttempt {
  readonly attempt: Attempt;
  readonly id: string;
  readonly operation: string;
  readonly ending: Ending;
  readonly runId: string;
  readonly cwd: string;
}

/** An attempt that failed, was denied, or ended with a declared exit code. */
export function failureOf({ attempt, id, operation, ending, runId, cwd }: FailedAttempt): FailureEvent {
  const { code, signal, outcome, refusal } = attempt;
  const blockers =
    refusal === undefined || outcome !== "denied" ? [] : [blockerOf(attempt, { id, operation, runId, cwd })];
  return {
    id,
    operation,
    kind: "failure",
    at: ending.t,
    category: "tool",
    tool: toolName(attempt),
    summary: cleanLine(`${toolOf(attempt)} ${howOf(attempt)}${subjectOf(attempt)}`, MAX_SUMMARY_CHARS),
    ...evidenceAt(ending.byte),
    ...(outcome === "expected" && { expected: true }),
    ...(code !== undefined && { exitCode: code }),
    ...(signal !== undefined && { signal }),
    attempt: attemptRef(attempt, ending.n),
    ...(blockers.length > 0 && { permissionBlockers: blockers }),
  };
}

/** A success after failures of the same operation. */
export function recoveryOf(
  attempt: Attempt,
  operation: string,
  incident: string,
  { n, t }: Ending,
  { incidentOfEvent }: IncidentState,
): RecoveredEvent {
  // A call with the same id may have recovered something before: in its own turn, or for an Ostler before this one.
  const { session, toolCallId } = attempt;
  let { reuse } = attempt;
  while (incidentOfEvent.has(toolEventId("recovered", { session, toolCallId, reuse }))) reuse += 1;
  return {
    id: toolEventId("recovered", { session, toolCallId, reuse }),
    operation,
    kind: "recovered",
    at: t,
    incidents: [incident],
    attempt: attemptRef(attempt, n),
  };
}

/** A call that its turn left without a result. `turnEnd` is the end of that turn. */
export function missingResultOf(attempt: Attempt, turnEnd: Ending): FailureEvent {
  const tool = toolName(attempt);
  return {
    id: `gap:scan:${attempt.startN}`,
    operation: SCAN,
    kind: "incomplete",
    at: turnEnd.t,
    category: "observation-incomplete",
    summary: cleanLine(`${tool} has no result: its turn ended without one${subjectOf(attempt)}`, MAX_SUMMARY_CHARS),
    ...evidenceAt(turnEnd.byte),
    attempt: attemptRef(attempt, turnEnd.n),
  };
}

/** A tool frame that cannot be read. */
export function unreadableFrame(place: Ending, why: string): FailureEvent {
  return gapAt(place, `gap:scan:${place.n}`, `A message about a tool call cannot be read: ${why}`);
}

/** A line that the observer could not take in, by a bug of Ostler's own. The name of the error says no more than that. */
export function unobservedLine(place: Ending, error: unknown): FailureEvent {
  const name = error instanceof Error ? error.name : typeof error;
  return gapAt(place, `gap:observer:${place.n}`, `A line of the run's log could not be observed (${name})`);
}

function gapAt({ n, t, byte }: Ending, id: string, summary: string): FailureEvent {
  return {
    id,
    operation: SCAN,
    kind: "incomplete",
    at: t,
    category: "observation-incomplete",
    summary,
    ...evidenceAt(byte),
    attempt: { startN: n, endN: n },
  };
}

function howOf({ outcome, code, signal, isTimedOut, refusal, notRun }: Attempt): string {
  if (outcome === "expected") return `ended with exit code ${code}, as declared`;
  if (refusal !== undefined && outcome === "denied") return "was not allowed by Ostler";
  if (outcome === "denied") return notRun === undefined ? "was refused by the agent" : "was not allowed by the agent";
  if (isTimedOut) return "took too long and was ended";
  if (signal !== undefined) return `was ended by ${signal}`;
  return code === undefined || code === 0 ? "failed" : `failed with exit code ${code}`;
}

/** What it was about: the command, else what it showed at its end, else its title. */
function subjectOf({ input, content, rawOutput, title }: Attempt): string {
  const subject = commandIn(input) ?? textIn(content) ?? outputIn(rawOutput) ?? title;
  return typeof subject === "string" && subject !== "" ? `: ${subject.slice(0, MAX_SUBJECT_CHARS)}` : "";
}

function commandIn(input: unknown): string | undefined {
  const command = isObject(input) ? (input["command"] ?? input["cmd"]) : undefined;
  if (Array.isArray(command)) return command.map(String).join(" ");
  return typeof command === "string" && command !== "" ? command : undefined;
}

function textIn(content: unknown): string | undefined {
  const blocks = Array.isArray(content) ? readToolContent(content) : [];
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return text.trim() === "" ? undefined : text.trim().replaceAll(FENCE, "");
}

function outputIn(rawOutput: unknown): string | undefined {
  const output = isObject(rawOutput) ? (rawOutput["error"] ?? rawOutput["message"]) : rawOutput;
  return typeof output === "string" && output !== "" ? output : undefined;
}

function blockerOf(
  attempt: Attempt,
  { id, operation, runId, cwd }: { id: string; operation: string; runId: string; cwd: string },
): PermissionBlocker {
  const { kind, locations, content, diffs, code, refusal, notRun } = attempt;
  const paths = [...(readPaths(locations) ?? []), ...readDiffBlocks(content).paths, ...readDiffBlocks(diffs).paths];
  const resource = resourceOf(kind, paths.map(rooted), rooted(cwd));
  const didNothing = notRun !== undefined || (code === undefined && refusal?.didNothing === true);
  return policyRefusal({ incidentId: id, runId, operation, resource, didNothing });
}

/** A path as it stands in the log, where a home folder is `~`; absolute if it was. */
function rooted(path: string): string {
  const scrubbed = redact(path);
  return scrubbed.startsWith("~") && !isAbsolute(scrubbed) ? `/${scrubbed}` : scrubbed;
}
