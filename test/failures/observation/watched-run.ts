/** One run under observation: frames and supervisor events in, events and incidents out. Time goes on 10 ms a line. */
import { labelOf } from "../../../src/failures/incidents/labels.ts";
import { IncidentFold } from "../../../src/failures/incidents/fold.ts";
import { Observer } from "../../../src/failures/observation/observer.ts";
import type { FailureEvent, Incident, IncidentState, JournalEvent } from "../../../src/failures/records.ts";
import type { RunEntry, RunEvent, RunLine } from "../../../src/failures/run-lines.ts";

export const RUN_ID = "ag_abcdef_1";
export const SESSION = "session-1";
export const CWD = "/workspace";
const START_MS = 1_700_000_000_000;
const LINE_MS = 10;

type Fields = Readonly<Record<string, unknown>>;

export interface RunKind {
  readonly trusted?: boolean;
  readonly strict?: boolean;
  /** The client declares AIR. Default false. */
  readonly air?: boolean;
}

export class WatchedRun {
  readonly lines: RunLine[] = [];
  readonly events: JournalEvent[] = [];
  /** Told, and of no use to the journal: never on a first reading. */
  readonly ignored: JournalEvent[] = [];
  readonly observer: Observer;
  readonly #fold = new IncidentFold();
  #nextId = 100;

  constructor({ trusted = false, strict = false, air = false }: RunKind = {}) {
    this.observer = new Observer({ runId: RUN_ID, conversationId: "conversation-1", trusted, strict });
    this.event({ type: "started", n: 1, pid: 42, cwd: CWD });
    const meta = air ? { _meta: { jetbrains: { air: { version: 1, capabilities: [] } } } } : {};
    this.out({ id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: meta } });
    this.in({ id: 0, result: { protocolVersion: 1 } });
    this.open(SESSION);
  }

  get state(): IncidentState {
    return this.#fold.state;
  }

  get incidents(): readonly Incident[] {
    return [...this.state.incidents.values()];
  }

  /** `<label>` or `<label> xN` of every incident, in the order of their opening. */
  get labels(): readonly string[] {
    return this.incidents.map((incident) =>
      incident.occurrences === 1 ? labelOf(incident) : `${labelOf(incident)} x${incident.occurrences}`,
    );
  }

  get failures(): readonly FailureEvent[] {
    return this.events.filter(isFailure);
  }

  /** When the newest line was written. */
  get now(): number {
    return START_MS + this.lines.length * LINE_MS;
  }

  line(entry: RunEntry, afterMs = 0): readonly JournalEvent[] {
    const n = this.lines.length + 1;
    const line: RunLine = { ...entry, t: START_MS + n * LINE_MS + afterMs, n };
    this.lines.push(line);
    return this.take(this.observer.observe(line, n * 1000, this.state));
  }

  take(events: readonly JournalEvent[]): readonly JournalEvent[] {
    for (const event of events) {
      if (!this.#fold.apply({ event, observedAt: this.now })) this.ignored.push(event);
    }
    this.events.push(...events);
    return events;
  }

  in(frame: Fields): readonly JournalEvent[] {
    return this.line({ d: "in", frame: { jsonrpc: "2.0", ...frame } });
  }

  out(frame: Fields): readonly JournalEvent[] {
    return this.line({ d: "out", frame: { jsonrpc: "2.0", ...frame } });
  }

  event(ev: RunEvent, afterMs = 0): readonly JournalEvent[] {
    return this.line({ d: "ev", ev }, afterMs);
  }

  update(update: Fields, sessionId = SESSION): readonly JournalEvent[] {
    return this.in({ method: "session/update", params: { sessionId, update } });
  }

  open(sessionId: string, cwd = CWD): void {
    const id = this.#id();
    this.out({ id, method: "session/new", params: { cwd, mcpServers: [] } });
    this.in({ id, result: { sessionId } });
  }

  /** Sends a prompt and returns the id of its request. */
  prompt(sessionId = SESSION): number {
    const id = this.#id();
    this.out({ id, method: "session/prompt", params: { sessionId, prompt: [{ type: "text", text: "Do it" }] } });
    return id;
  }

  answer(id: number, result: Fields = { stopReason: "end_turn" }): readonly JournalEvent[] {
    return this.in({ id, result });
  }

  /** A call of the harness's shell begins. */
  start(toolCallId: string, command: string, more: Fields = {}, sessionId = SESSION): readonly JournalEvent[] {
    const rawInput = { command, ...more };
    const call = { toolCallId, kind: "execute", title: command, status: "in_progress", rawInput };
    return this.update({ sessionUpdate: "tool_call", ...call }, sessionId);
  }

  /** It ends, with the exit code that a terminal tells. */
  end(toolCallId: string, code: number, sessionId = SESSION): readonly JournalEvent[] {
    const status = code === 0 ? "completed" : "failed";
    return this.ended(toolCallId, { status, _meta: { terminal_exit: { exit_code: code, signal: null } } }, sessionId);
  }

  ended(toolCallId: string, update: Fields, sessionId = SESSION): readonly JournalEvent[] {
    return this.update({ sessionUpdate: "tool_call_update", toolCallId, ...update }, sessionId);
  }

  /** The agent asks, Ostler answers. */
  permission(toolCallId: string, answer: "allow_once" | "reject_once" | "cancelled"): void {
    const id = `ask-${this.#id()}`;
    const options = ["allow_once", "reject_once"].map((kind) => ({ optionId: `o-${kind}`, name: kind, kind }));
    const params = { sessionId: SESSION, toolCall: { toolCallId, title: "?" }, options };
    this.in({ id, method: "session/request_permission", params });
    const outcome =
      answer === "cancelled" ? { outcome: "cancelled" } : { outcome: "selected", optionId: `o-${answer}` };
    this.out({ id, result: { outcome } });
  }

  /** A whole turn that the supervisor tells of, with what happens in it. */
  turn(turnId: string, outcome: string, inside: () => void = () => {}, hasOutput = outcome === "completed"): void {
    this.event({ type: "turn", state: "started", turnId, sessionId: SESSION });
    const id = this.prompt();
    inside();
    this.answer(id, { stopReason: outcome === "cancelled" ? "cancelled" : "end_turn" });
    this.event({ type: "turn", state: "ended", turnId, sessionId: SESSION, outcome, hasOutput });
  }

  #id(): number {
    this.#nextId += 1;
    return this.#nextId;
  }
}

function isFailure(event: JournalEvent): event is FailureEvent {
  return event.kind === "failure" || event.kind === "incomplete";
}
