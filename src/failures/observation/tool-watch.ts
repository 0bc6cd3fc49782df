/**
 * Tool frames of all sessions of a run, from the first word of a call to how it ended (failure observations, sections 5.1
 * to 5.4). The way of a call that goes well costs next to nothing: no hash, no scrubbing, no text.
 */
import { isObject } from "../../acp/frames.ts";
import type { Frame } from "../../acp/frames.ts";
import { readAirField } from "../../acp/air/namespace.ts";
import { readBeatOf } from "../../acp/tool-merge.ts";
import type { IncidentState, JournalEvent } from "../records.ts";
import { isBare } from "./attempt.ts";
import type { Attempt, Ending } from "./attempt.ts";
import type { Attempts } from "./attempts.ts";
import { readIntent } from "./intent-rules.ts";
import { isShell } from "./operation.ts";
import { ENDS, decideOutcome, isCoarse } from "./outcome.ts";
import { OWN_SERVER, OwnCalls, ownToolOf } from "./own-calls.ts";
import type { RunFacts } from "./run-facts.ts";
import type { RunSession } from "./run-session.ts";
import { failedServer } from "./supervisor-events.ts";
import { SECOND_ENDING, toolEventId, unreadableFrame } from "./tool-events.ts";
import type { TurnEndings } from "./turn-endings.ts";
import type { Verdicts } from "./verdicts.ts";

const NONE: readonly JournalEvent[] = [];

export class ToolWatch {
  readonly ownCalls = new OwnCalls();
  readonly #facts: RunFacts;
  readonly #attempts: Attempts;
  readonly #verdicts: Verdicts;
  readonly #endings: TurnEndings;
  /** Calls by the background task that they became. */
  readonly #tasks = new Map<string, Attempt>();

  constructor(facts: RunFacts, attempts: Attempts, verdicts: Verdicts, endings: TurnEndings) {
    this.#facts = facts;
    this.#attempts = attempts;
    this.#verdicts = verdicts;
    this.#endings = endings;
  }

  /** A `tool_call` or `tool_call_update`. */
  frame(params: Frame, update: Frame, place: Ending, state: IncidentState): readonly JournalEvent[] {
    const { sessionId } = params;
    const { toolCallId, status } = update;
    if (typeof sessionId !== "string" || typeof toolCallId !== "string") {
      return [unreadableFrame(place, "it names no session or no call")];
    }
    const session = this.#facts.sessions.get(sessionId);
    const known = session.calls.get(toolCallId);
    const isReplay = session.isLoading || isMarkedReplay(update["_meta"]);
    if (known === undefined || (known.ending !== undefined && update["sessionUpdate"] === "tool_call")) {
      if (known === undefined ? this.#isBeat(session, update) : isReplay) return NONE;
      return this.#begin(session, toolCallId, update, isReplay, place, state);
    }
    if (isReplay && known.ending !== undefined) return NONE;
    this.#merge(known, update);
    return this.#judge(known, update, status, place, state);
  }

  /** A call became a background task. */
  backgrounded(sessionId: unknown, { asyncTaskId, toolCallId }: Frame): void {
    if (typeof sessionId !== "string" || typeof toolCallId !== "string") return;
    const attempt = this.#facts.sessions.get(sessionId).calls.get(toolCallId);
    if (attempt === undefined || attempt.ending !== undefined) return;
    attempt.isBackground = true;
    if (typeof asyncTaskId === "string") this.#tasks.set(asyncTaskId, attempt);
  }

  /**
   * A background task failed: its call had ended well when it only began (recording claude-agent-acp 0.101.0
   * bash-background-fail). How it exited is told in words alone.
   */
  taskEnded({ asyncTaskId, state: ended }: Frame, place: Ending): readonly JournalEvent[] {
    const attempt = typeof asyncTaskId === "string" ? this.#tasks.get(asyncTaskId) : undefined;
    if (attempt === undefined || ended !== "failed" || attempt.isStopped || attempt.isReplayed) return NONE;
    this.#tasks.delete(String(asyncTaskId));
    return this.#verdicts.failedInBackground(attempt, place);
  }

  /** Ostler asked for the end of a background task. */
  taskStopped(asyncTaskId: unknown): void {
    const attempt = typeof asyncTaskId === "string" ? this.#tasks.get(asyncTaskId) : undefined;
    if (attempt !== undefined) attempt.isStopped = true;
  }

  #begin(
    session: RunSession,
    toolCallId: string,
    update: Frame,
    isReplay: boolean,
    place: Ending,
    state: IncidentState,
  ): readonly JournalEvent[] {
    // The turn goes on, so what failed without a word before did so on its own.
    const events = session.held.length > 0 && !isReplay ? this.#endings.releaseHeld(session) : NONE;
    const failedBefore = this.#facts.beganLate ? failuresOf(session, toolCallId, state) : 0;
    const attempt = this.#attempts.start(session, toolCallId, place.n, failedBefore);
    attempt.isReplayed = isReplay;
    this.#merge(attempt, update);
    attempt.isCompaction = isCompaction(attempt, update["_meta"]);
    const server = startedServer(toolCallId, this.#facts.servers);
    if (server !== undefined && update["status"] === "failed" && !isReplay) {
      this.#verdicts.close(attempt, "failed", place);
      return [...events, failedServer(server, this.#facts, place)];
    }
    const more = this.#judge(attempt, update, update["status"], place, state, events);
    return events.length === 0 ? more : [...events, ...more];
  }

  #merge(attempt: Attempt, update: Frame): void {
    const { trusted, servers } = this.#facts;
    attempt.merge(update, trusted || servers.has(OWN_SERVER));
    if (trusted && update["rawInput"] != null && attempt.intent === undefined) this.#readIntent(attempt);
  }

  /** The harness's own shell passes on what it does not know: there an intent counts as declared in `run`. */
  #readIntent(attempt: Attempt): void {
    const { input } = attempt;
    if (!isShell(attempt) || ownToolOf(attempt) !== undefined || !isObject(input)) return;
    const read = readIntent(input);
    const { attemptId } = input;
    const isNew = typeof attemptId !== "string" || attemptId === "" || this.#attempts.spend(attemptId);
    if (read.ok && isNew) this.#attempts.declare(attempt, read.intent);
    else attempt.intent = {};
  }

  #judge(
    attempt: Attempt,
    update: Frame,
    status: unknown,
    place: Ending,
    state: IncidentState,
    before: readonly JournalEvent[] = NONE,
  ): readonly JournalEvent[] {
    if (status == null || status === "in_progress" || status === "pending" || attempt.isCompaction) return NONE;
    if (!ENDS.has(status)) {
      return typeof status === "string" || attempt.isReplayed
        ? NONE
        : [unreadableFrame(place, "its status is no word")];
    }
    // A harness that closes what its backend left behind says no code and no signal; one that says a coarse code has run it.
    const hasExit = attempt.code !== undefined || attempt.signal !== undefined;
    if (isCoarse(attempt, status, this.#facts.air)) attempt.code = undefined;
    const { session } = attempt;
    const outcome = decideOutcome(attempt, status, this.#facts.sessions.isCancelled(session));
    if (attempt.ending !== undefined) return this.#verdicts.endedAgain(attempt, outcome, place, state);
    if (attempt.isReplayed) {
      this.#verdicts.close(attempt, outcome, place);
      return NONE;
    }
    const ownTool = this.#facts.hasOwnCalls ? ownToolOf(attempt) : undefined;
    if (ownTool !== undefined && this.ownCalls.isKnown(attempt, ownTool, status)) {
      this.#verdicts.close(attempt, outcome, place);
      return NONE;
    }
    if (outcome === "failed" && !hasExit && isBare(update) && this.#facts.sessions.isWorking(session)) {
      this.#verdicts.close(attempt, outcome, place);
      session.held.push(attempt);
      return NONE;
    }
    return this.#verdicts.ended(attempt, outcome, place, state, before);
  }

  /** A sign of life of something unknown that belongs to a call: not a call of its own. */
  #isBeat(session: RunSession, update: Frame): boolean {
    const parent = readBeatOf(update);
    return parent !== undefined && session.calls.has(parent);
  }
}

/** The context is compacted, which acp tells of: no tool is called (seed document 002, Context compaction). */
function isCompaction({ isClaude, harnessName }: Attempt, meta: unknown): boolean {
  return (isClaude && harnessName === "compact") || readAirField(meta, "contextCompaction") !== undefined;
}

/** How often a call with this id has failed, by the journal: some agents count their calls anew in every process. */
function failuresOf(session: RunSession, toolCallId: string, { incidentOfEvent }: IncidentState): number {
  if (incidentOfEvent.size === 0) return 0;
  for (let reuse = 0; ; reuse += 1) {
    const id = toolEventId("tool", { session, toolCallId, reuse });
    if (!incidentOfEvent.has(id) && !incidentOfEvent.has(`${id}${SECOND_ENDING}`)) return reuse;
  }
}

/** The server that Ostler asked for and whose start stands as a tool call (recording codex-acp 2.6.0 bad-mcp-server). */
function startedServer(toolCallId: string, servers: ReadonlySet<string>): string | undefined {
  return [...servers].find((name) => toolCallId.startsWith(`mcp_startup.${name}.`));
}

/** kiro V3 marks every frame of a replay (kiro wire notes, section 6). */
function isMarkedReplay(meta: unknown): boolean {
  return isObject(meta) && isObject(meta["kiro"]) && meta["kiro"]["replay"] === true;
}
