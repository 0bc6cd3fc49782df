/**
 * When a session works although no prompt of ours runs: from a goal request or a steering that began a turn, and from the
 * agent's own word that it works while its goal is active (recordings codex-acp 2.6.0 goal, steer-idle), until it rests.
 */
import type { Frame } from "./frames.ts";
import { readThreadStatus } from "./normalize.ts";
import { RuntimeGone, endingOf } from "./death.ts";
import type { Ending } from "./outcome.ts";
import type { AcpSession } from "./session.ts";
import { bugEnding } from "./turn-outcome.ts";
import type { PromptBlock, TurnOutcome, TurnTimeouts } from "./types.ts";
import { WorkRun } from "./work-run.ts";

/** After `systemError` a record or a sentence may follow that says why (recordings goal-failing, steer-idle-failing). */
const LAST_WORDS_MS = 500;

export class OutsideWork {
  readonly #session: AcpSession;
  #run: WorkRun | undefined;
  /** Requests that may start work and are not answered yet. */
  #requests = 0;
  /** As the agent says; undefined = it has not said anything. */
  #isActive: boolean | undefined;
  /** It said so after its answer to a prompt whose turn is not over yet. */
  #wokeUp = false;
  #lastWords: NodeJS.Timeout | undefined;
  /** What requests asked for, and what goes on by itself after them has the same limits. */
  #timeouts: Partial<TurnTimeouts> | undefined;

  constructor(session: AcpSession) {
    this.#session = session;
    session.link.connection.onClosed((reason) => this.#run?.fail(endingOfClosed(reason, this.#run.lastHeard)));
  }

  /** The work that runs. */
  get run(): WorkRun | undefined {
    return this.#run;
  }

  /** Work may come of a request that is about to be sent; with `begins` it does. Returns what is called with the answer. */
  expect(begins: boolean, timeouts?: Partial<TurnTimeouts>): () => void {
    this.#requests += 1;
    if (begins) {
      this.#timeouts = timeouts;
      this.#begin();
    }
    return () => {
      this.#requests -= 1;
      this.#endIfAtRest();
    };
  }

  /** A steering began a turn in an idle session. Resolves with its outcome. */
  steered(blocks: readonly PromptBlock[]): Promise<TurnOutcome | undefined> {
    const run = this.#begin();
    run?.began();
    this.#session.feed.steered(blocks, this.#session.isTaken);
    return run?.outcome ?? Promise.resolve(undefined);
  }

  /** Takes an update of the session to whoever judges it, and sees what it says of work. */
  around(update: Frame, deliver: () => void): void {
    const status = update["sessionUpdate"] === "session_info_update" ? readThreadStatus(update["_meta"]) : undefined;
    if (status !== undefined) {
      this.#isActive = status === "active";
      this.#wokeUp = this.#isActive && this.#session.isTaken && !this.#session.isRunning;
    }
    if (status === "active") this.#beginIfMeant();
    deliver();
    if (status === "systemError" && this.#run !== undefined)
      this.#lastWords ??= setTimeout(() => this.#saidLastWords(), LAST_WORDS_MS);
    else if (status === "idle") this.#endIfAtRest();
    else if (this.#isActive === true && update["sessionUpdate"] === "session_info_update") this.#beginIfMeant();
  }

  /** A prompt is about to be sent: the frames from now on are its turn's, and nobody can tell them apart. */
  yield(): void {
    this.#run?.finish();
  }

  /** The turn of a prompt is over: what the agent said of its state before its answer is over with it. */
  turnOver(): void {
    // After its end has been told.
    if (this.#wokeUp) queueMicrotask(() => this.#beginIfMeant());
    else if (this.#isActive === true) this.#isActive = false;
    this.#wokeUp = false;
  }

  /** Stops it as a turn is stopped: softly, and the second time at once. Resolves when it is over. */
  async stop(): Promise<void> {
    const run = this.#run;
    run?.stop.request();
    await run?.outcome;
  }

  #begin(): WorkRun | undefined {
    if (this.#run !== undefined || this.#session.isTaken) return this.#run;
    this.#run = new WorkRun(this.#session, {
      timeouts: this.#timeouts,
      endsInSilence: () => this.#requests === 0 && this.#isActive === undefined,
      onEnd: () => this.#ended(),
    });
    return this.#run;
  }

  /** An agent that works without anybody having asked for it is not given a free hand: there must be a goal, or a request. */
  #beginIfMeant(): void {
    const { goal } = this.#session;
    if (this.#requests > 0 || goal?.status === "active") this.#begin()?.began();
  }

  #endIfAtRest(): void {
    if (this.#requests > 0 || this.#isActive === true) return;
    this.#run?.finish();
  }

  #saidLastWords(): void {
    this.#lastWords = undefined;
    this.#endIfAtRest();
  }

  #ended(): void {
    clearTimeout(this.#lastWords);
    this.#lastWords = undefined;
    this.#run = undefined;
    this.#session.desk.endTurn();
  }
}

/** Where Ostler ended the agent, its work did not fail. */
function endingOfClosed(reason: Error, lastHeard: string): Ending {
  if (!(reason instanceof RuntimeGone)) return bugEnding(reason);
  return reason.verdict.rule === "ended" ? { type: "aborted" } : endingOf(reason, lastHeard);
}
