/**
 * What an agent, the program that runs it, or a person says of incidents: taken whole or refused whole, and a refusal
 * says why and what could be named instead. Pure: it decides, the caller writes the record before it answers.
 */
import { cleanLine } from "../../errors/redact.ts";
import type { AttemptBook, AttemptFact, AttemptOutcome } from "../attempt-book.ts";
import { sessionTag } from "../keys.ts";
import { compactExcerpt } from "../pages/excerpt.ts";
import { MAX_REASON_CHARS } from "../records.ts";
import type { DisposedBy, DispositionEvent, Incident, IncidentState } from "../records.ts";
import { readDispositionRequest } from "./disposition-request.ts";
import type { DispositionRequest } from "./disposition-request.ts";
import { refusalOf } from "./disposition-rules.ts";
import { agentReport } from "./permission-blocker.ts";

/** Incidents that a refusal lists. */
const MAX_LISTED = 10;
const MAX_NAME_CHARS = 200;

/** Where a request stands: what is known at that place of the run's log. */
export interface DispositionContext {
  readonly state: IncidentState;
  readonly attempts: AttemptBook;
  readonly by: DisposedBy;
  readonly runId: string;
  /** Names the request; with the session it is the id of the record, so that a rescan records it once. */
  readonly callId: string;
  /** Call ids are unique in one session only; absent for a person. */
  readonly sessionId?: string;
  /** The line of output.log at which it was made: what ended later proves nothing. Infinity for a person. */
  readonly atN: number;
  /** Milliseconds since 1970. */
  readonly at?: number;
}

export type DispositionDecision =
  | { readonly accepted: true; readonly event: DispositionEvent }
  /** `message`: the reason, and up to ten incidents that can be named. */
  | { readonly accepted: false; readonly message: string };

/** Decides a request of failure observations, section 9.3. Whether a child may ask at all (trust) is the caller's part. */
export function decideDisposition(input: unknown, context: DispositionContext): DispositionDecision {
  const read = readDispositionRequest(input);
  const result = read.ok ? toEvent(read.request, context) : read.reason;
  if (typeof result !== "string") return { accepted: true, event: result };
  return { accepted: false, message: [`Nothing was recorded: ${result}`, ...listed(context)].join("\n") };
}

/** The record, or why there is none. */
function toEvent(request: DispositionRequest, context: DispositionContext): DispositionEvent | string {
  const { disposition, reason, evidence, permissionResource } = request;
  const { by, runId, callId, sessionId, at } = context;
  const targets = new Map<string, Incident>();
  for (const target of request.targets) {
    const incident = findTarget(target, context);
    if (typeof incident === "string") return incident;
    targets.set(incident.id, incident);
  }
  const [first] = targets.values();
  if (first === undefined) return "It names no incident";
  const proof = evidence === undefined ? undefined : findProof(evidence, context);
  if (typeof proof === "string") return proof;
  const event: DispositionEvent = {
    id: sessionId === undefined ? `disposition:${callId}` : `disposition:${sessionTag(sessionId)}:${callId}`,
    operation: first.operation,
    kind: "disposition",
    ...(at !== undefined && { at }),
    incidents: [...targets.keys()],
    disposition,
    reason: cleanLine(reason, MAX_REASON_CHARS),
    by,
    ...(evidence !== undefined && { evidence: cleanLine(evidence, MAX_NAME_CHARS) }),
    ...(proof !== undefined && { proof }),
    ...(permissionResource !== undefined && {
      permissionBlockers: [...targets.values()].map((incident) => agentReport(incident, permissionResource, runId)),
    }),
  };
  return refusalOf(event, context.state) ?? event;
}

/** An incident id, the id of an attempt, of a tool call, or of an operation: the first that fits. */
function findTarget(target: string, { state, attempts }: DispositionContext): Incident | string {
  const incident = state.incidents.get(target);
  if (incident !== undefined) return incident;
  const attempt = attempts.byAttemptId(target) ?? attempts.byToolCallId(target);
  if (attempt !== undefined) {
    const failed = state.incidents.get(state.incidentOfEvent.get(attempt.eventId ?? "") ?? "");
    return failed ?? `${quoted(target)} did not fail: ${OUTCOME[attempt.outcome]}`;
  }
  const current = state.incidents.get(state.current.get(attempts.operationOf(target) ?? "") ?? "");
  return current ?? `This run knows no incident, attempt, tool call or operation ${quoted(target)}`;
}

/** The attempt that proves it, in the form of the record; or why it proves nothing. */
function findProof(evidence: string, { attempts, atN }: DispositionContext): DispositionEvent["proof"] | string {
  const attempt = attempts.byAttemptId(evidence) ?? attempts.byToolCallId(evidence);
  if (attempt === undefined) return `This run knows no attempt or tool call ${quoted(evidence)} as evidence`;
  const { outcome, startN, endN, operation } = attempt;
  if (outcome !== "succeeded" || endN === undefined || endN > atN) {
    const how = outcome === "succeeded" ? OUTCOME.running : OUTCOME[outcome];
    return `The evidence ${quoted(evidence)} is no success: ${how}`;
  }
  return { ...idsOf(attempt), startN, endN, operation };
}

function idsOf({ toolCallId, attemptId, operationId }: AttemptFact) {
  return {
    toolCallId,
    ...(attemptId !== undefined && { attemptId }),
    ...(operationId !== undefined && { operationId }),
  };
}

const OUTCOME: Readonly<Record<AttemptOutcome, string>> = {
  running: "it has not ended",
  succeeded: "it succeeded",
  failed: "it failed",
  expected: "it ended with an exit code that was declared beforehand",
  cancelled: "it was cancelled",
  denied: "it was denied",
  aborted: "its process died, which is an incident of its own",
  rejected: "it was refused before it ran",
};

/** What the asker could name. */
function listed({ state, by }: DispositionContext): string[] {
  const open = [...state.incidents.values()].filter(
    ({ status, category }) => status === "unresolved" && (by !== "child" || category !== "observation-incomplete"),
  );
  if (open.length === 0) return ["No incident is unresolved"];
  const rows = open.toReversed().slice(0, MAX_LISTED).map(listedRow);
  const rest = open.length - rows.length;
  return ["Incidents that can be named:", ...rows, ...(rest > 0 ? [`and ${rest} more`] : [])];
}

function listedRow({ id, attempt, summary }: Incident): string {
  return [
    `- ${id}`,
    ...(attempt?.attemptId === undefined ? [] : [`attempt ${attempt.attemptId}`]),
    ...(attempt?.operationId === undefined ? [] : [`operation ${attempt.operationId}`]),
    compactExcerpt(summary),
  ].join(" · ");
}

function quoted(name: string): string {
  return `"${cleanLine(name, MAX_NAME_CHARS)}"`;
}
