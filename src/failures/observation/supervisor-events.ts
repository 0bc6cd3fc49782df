/**
 * What the supervisor itself saw, as events of the journal: failures that were judged already, deaths of the process, turns
 * that brought nothing, and the good turn that ends them (failure observations, sections 4.5 and 5.5). Pure.
 */
import type { Failure } from "../../errors/failure.ts";
import { cleanLine, redact } from "../../errors/redact.ts";
import { keyOf, sessionTag } from "../keys.ts";
import { MAX_SUMMARY_CHARS } from "../records.ts";
import type { FailureEvent, IncidentState, ObservationCategory, RecoveredEvent } from "../records.ts";
import type { RunEvent } from "../run-lines.ts";
import type { Ending } from "./attempt.ts";
import { evidenceAt, plainId } from "./tool-events.ts";

export interface RunNames {
  readonly runId: string;
  readonly conversationId: string;
}

type FailedEvent = Extract<RunEvent, { readonly type: "failure" }>;
type ExitedEvent = Extract<RunEvent, { readonly type: "exited" }>;

/** What a good turn of the conversation ends. */
const ENDED_BY_GOOD_TURN: ReadonlySet<ObservationCategory> = new Set([
  "model",
  "session",
  "auth",
  "exit",
  "supervision",
]);

/** A failure that acp judged, unless the exit of its process stands for it. */
export function judgedFailure(
  { failure, sessionId, turnId }: FailedEvent,
  names: RunNames,
  place: Ending,
): FailureEvent {
  const session = sessionTag(redact(sessionId ?? names.runId));
  const isRecord = failure.source === "session_failure";
  return {
    id: isRecord ? recordEventId(failure, sessionId ?? names.runId) : `${wordOf(failure)}:${session}:${place.n}`,
    operation: operationOf(failure, sessionId, turnId, names),
    ...base(place),
    category: categoryOf(failure, turnId),
    summary: cleanLine(failure.title, MAX_SUMMARY_CHARS),
    ...(isRecord && { sf: { id: plainId(failure.id), revision: failure.revision } }),
  };
}

/** The id of the event that a record of the harness becomes: the same whenever it is told. */
export function recordEventId({ id, revision }: Failure, sessionId: string): string {
  return `sf:${sessionTag(redact(sessionId))}:${plainId(id)}:${revision}`;
}

/** The process ended although nobody asked it to. */
export function unexpectedExit({ code, signal, title }: ExitedEvent, { runId }: RunNames, place: Ending): FailureEvent {
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  return {
    id: `exit:${runId}:${place.n}`,
    operation: keyOf("exit", runId),
    ...base(place),
    category: "exit",
    summary: cleanLine(title ?? `The agent ended ${how}`, MAX_SUMMARY_CHARS),
    ...(code !== null && code >= 0 && { exitCode: code }),
    ...(signal !== null && { signal }),
  };
}

/** A turn that ended without output and without a reason. */
export function emptyTurn(sessionId: string | null, names: RunNames, place: Ending): FailureEvent {
  return {
    id: `empty:${sessionTag(redact(sessionId ?? names.runId))}:${place.n}`,
    operation: keyOf("prompt", names.conversationId),
    ...base(place),
    category: "model",
    summary: "The turn ended with no output",
  };
}

/** An MCP server that Ostler asked for did not start. */
export function failedServer(name: string, { runId }: RunNames, place: Ending): FailureEvent {
  return {
    id: `mcp:${runId}:${place.n}`,
    operation: keyOf("supervision", runId, `mcp ${redact(name)}`),
    ...base(place),
    category: "supervision",
    summary: cleanLine(`The MCP server ${name} did not start`, MAX_SUMMARY_CHARS),
  };
}

/** A turn that began at line `startN` ended well: whatever kept the conversation from going on before it is over. */
export function recoveriesBy(
  startN: number,
  state: IncidentState,
  { runId }: RunNames,
  { n, t }: Ending,
): RecoveredEvent[] {
  const events: RecoveredEvent[] = [];
  for (const [operation, id] of state.current) {
    const incident = state.incidents.get(id);
    if (incident?.status !== "unresolved" || !ENDED_BY_GOOD_TURN.has(incident.category)) continue;
    if (incident.attempt === undefined || incident.attempt.endN >= startN) continue;
    const attempt = { startN, endN: n };
    const event = { id: `recovered:${runId}:${n}:${operation}`, operation, at: t, incidents: [id], attempt };
    events.push({ kind: "recovered", ...event });
  }
  return events;
}

function base({ n, t, byte }: Ending) {
  return { kind: "failure", at: t, ...evidenceAt(byte), attempt: { startN: n, endN: n } } as const;
}

function wordOf({ source }: Failure): string {
  return source === "rpc_error" || source === "thread_status" ? "rpc" : source;
}

function categoryOf({ kind, source }: Failure, turnId: string | null): ObservationCategory {
  if (kind === "auth" || kind === "credentials_settling") return "auth";
  if (source === "session_failure") return "session";
  return turnId !== null && (source === "rpc_error" || source === "thread_status") ? "model" : "supervision";
}

function operationOf(
  { id, source }: Failure,
  sessionId: string | null,
  turnId: string | null,
  { runId, conversationId }: RunNames,
): string {
  if (source === "session_failure") return keyOf("session-failure", redact(sessionId ?? runId), plainId(id));
  if (source === "framing") return keyOf("supervision", runId, "transport");
  if (source === "spawn" || turnId === null) return keyOf("supervision", runId, "start");
  return keyOf("prompt", conversationId);
}
