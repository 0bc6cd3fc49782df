/** Calls of Ostler's own `run` tool: attempts that the supervisor saw first-hand. */
import type { IncidentState, JournalEvent } from "../records.ts";
import type { RunEvent } from "../run-lines.ts";
import { cleanLine } from "../../errors/redact.ts";
import { keyOf } from "../keys.ts";
import { MAX_SUMMARY_CHARS } from "../records.ts";
import { evidenceAt, plainId } from "./tool-events.ts";
import type { Attempt, Ending } from "./attempt.ts";
import type { Attempts } from "./attempts.ts";
import { readIntent } from "./intent-rules.ts";
import { decideOutcome } from "./outcome.ts";
import type { RunFacts } from "./run-facts.ts";
import type { RunSession } from "./run-session.ts";
import type { OwnCalls } from "./own-calls.ts";
import type { Verdicts } from "./verdicts.ts";

const NONE: readonly JournalEvent[] = [];
const TOOL = "run";

type CallEvent = Extract<RunEvent, { readonly type: "call" }>;
type Refused = Extract<CallEvent, { readonly state: "refused" }>;
type Ended = Extract<CallEvent, { readonly state: "ended" }>;

export class RunCalls {
  readonly #facts: RunFacts;
  readonly #attempts: Attempts;
  readonly #verdicts: Verdicts;
  readonly #ownCalls: OwnCalls;
  /** Ids of calls are the run's own: they stand in a session of their own. */
  readonly #session: RunSession;

  constructor(facts: RunFacts, attempts: Attempts, verdicts: Verdicts, ownCalls: OwnCalls) {
    this.#facts = facts;
    this.#attempts = attempts;
    this.#verdicts = verdicts;
    this.#ownCalls = ownCalls;
    this.#session = facts.sessions.get(facts.runId);
  }

  event(event: CallEvent, place: Ending, state: IncidentState): readonly JournalEvent[] {
    switch (event.state) {
      case "started":
        this.#start(event.callId, event.input, place);
        return NONE;
      case "refused":
        return event.by === "intent" ? [this.#rejected(event, place)] : this.#denied(event, place, state);
      case "ended":
        return this.#end(event, place, state);
    }
  }

  #start(callId: string, input: unknown, { n }: Ending): Attempt {
    this.#ownCalls.served(TOOL, input);
    const attempt = this.#attempts.start(this.#session, callId, n);
    attempt.harnessName = TOOL;
    attempt.kind = "execute";
    attempt.input = input;
    const read = readIntent(input);
    // Under the exact rule what was declared is ordinary arguments.
    if (read.ok && this.#facts.trusted) this.#attempts.declare(attempt, read.intent);
    if (read.ok && read.intent.attemptId !== undefined) this.#attempts.spend(read.intent.attemptId);
    return attempt;
  }

  #end({ callId, exitCode, signal, timedOut, cancelled, problem }: Ended, place: Ending, state: IncidentState) {
    const attempt = this.#session.calls.get(callId);
    if (attempt === undefined || attempt.ending !== undefined) return NONE;
    if (exitCode !== null) attempt.code = exitCode;
    if (signal !== null) attempt.signal = signal;
    attempt.isTimedOut = timedOut;
    if (problem !== undefined) attempt.rawOutput = problem;
    const hasFailed = problem !== undefined || (exitCode === null && signal === null && !timedOut);
    const status = cancelled ? "cancelled" : hasFailed ? "failed" : "completed";
    return this.#verdicts.ended(attempt, decideOutcome(attempt, status, false), place, state);
  }

  /** Ostler's policy, or a person, said no: nothing ran. */
  #denied({ callId, input }: Refused, place: Ending, state: IncidentState): readonly JournalEvent[] {
    const attempt = this.#start(callId, input, place);
    attempt.refusal = { didNothing: true };
    return this.#verdicts.ended(attempt, "denied", place, state);
  }

  /** It broke the rules of intents: an observation of its own, no failure of the command that it names. */
  #rejected({ callId, input, reason, attemptId }: Refused, place: Ending): JournalEvent {
    const { runId } = this.#facts;
    this.#ownCalls.served(TOOL, input);
    if (attemptId !== undefined) this.#attempts.spend(attemptId);
    const attempt = this.#attempts.start(this.#session, callId, place.n);
    attempt.harnessName = TOOL;
    attempt.eventId = `tool:${this.#session.tag}:${plainId(callId)}`;
    attempt.operation = keyOf("rejected-intent", runId, callId);
    this.#verdicts.close(attempt, "rejected", place);
    return {
      id: attempt.eventId,
      operation: attempt.operation,
      kind: "failure",
      at: place.t,
      category: "rejected-intent",
      summary: cleanLine(`A call of run was refused before anything ran: ${reason}`, MAX_SUMMARY_CHARS),
      ...evidenceAt(place.byte),
      attempt: { toolCallId: plainId(callId), startN: place.n, endN: place.n },
    };
  }
}
