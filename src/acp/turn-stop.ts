/**
 * How a turn is stopped: soft, bounded, then hard. Nobody is told "stopped" while the old turn can still run: its end is
 * waited for, or the outcome says that it was not confirmed.
 */
import type { Attempt } from "./attempt.ts";
import { endLeftovers } from "./leftovers.ts";
import type { Ending } from "./outcome.ts";
import type { Abandoned } from "./session-link.ts";
import type { AcpSession } from "./session.ts";

export interface TurnStopOptions {
  /** The session that the turn runs in now. */
  readonly session: () => AcpSession;
  /** How long the harness may take to acknowledge. */
  readonly graceMs: number;
  /** The attempt that runs, or ran last. */
  readonly attempt: () => Attempt | undefined;
  /** What the person must know for certain. */
  readonly onWarning: (rule: string, title: string) => void;
  /** What may be of interest. */
  readonly onNotice: (text: string) => void;
}

/** What the person must know when a stop was not confirmed. */
const UNCONFIRMED: Readonly<Record<Exclude<Abandoned, "ended">, string>> = {
  retired: "The agent did not confirm that it stopped; the session was given up, and the turn may still be at work",
  left: "The agent was ended, but something that it had started could not be; it may still be at work",
};

export class TurnStop {
  readonly #options: TurnStopOptions;
  readonly #soft = new AbortController();
  /** Fires when the caller has no more patience: nothing is waited for that can be ended. */
  readonly #hard = new AbortController();
  #requests = 0;
  #grace: NodeJS.Timeout | undefined;
  #abandoned: Promise<Abandoned> | undefined;

  constructor(options: TurnStopOptions) {
    this.#options = options;
  }

  /** Fires at the first stop, whoever wants it: no further attempt begins. */
  get signal(): AbortSignal {
    return this.#soft.signal;
  }

  /** The caller's stop: soft, and on the second time at once. */
  request(): void {
    this.#requests += 1;
    if (this.#requests === 1) this.begin({ type: "aborted" });
    else this.#escalate();
  }

  /** Open questions are closed, the harness is told, and has a grace to answer; then its tree is ended. */
  begin(ending: Ending): void {
    const { graceMs } = this.#options;
    const session = this.#options.session();
    const attempt = this.#options.attempt();
    this.#soft.abort();
    if (attempt === undefined || attempt.ended || attempt.override !== undefined) return;
    attempt.override = ending;
    session.desk.close();
    session.link.connection.notify("session/cancel", { sessionId: session.id });
    this.#grace = setTimeout(() => this.#escalate(), graceMs);
  }

  /** The agent is gone: did it die of the stop, then what it had started may live on for a moment. */
  agentGone(attempt: Attempt): void {
    if (attempt.override !== undefined) this.#abandon();
  }

  /** Resolves when nothing of a stopped turn can run any more, or when it was told what may. */
  async standstill(): Promise<void> {
    if (!this.#soft.signal.aborted) return;
    const { attempt, onWarning, onNotice } = this.#options;
    const abandoned = await this.#abandoned;
    if (abandoned === "ended") return;
    if (abandoned !== undefined) onWarning(`cancel-${abandoned}`, UNCONFIRMED[abandoned]);
    const commands = attempt()?.commands.open ?? [];
    if (commands.length === 0) return;
    const { processes, isAlone } = this.#options.session().link;
    const options = { commands, processes, isAlone: abandoned === undefined && isAlone(), hurry: this.#hard.signal };
    for (const text of await endLeftovers(options)) onNotice(text);
  }

  /** The turn is over. */
  dispose(): void {
    clearTimeout(this.#grace);
  }

  #escalate(): void {
    this.#hard.abort();
    const attempt = this.#options.attempt();
    if (attempt?.override === undefined || attempt.ended) return;
    clearTimeout(this.#grace);
    attempt.end(attempt.override);
    this.#abandon();
  }

  #abandon(): void {
    const session = this.#options.session();
    this.#abandoned ??= session.link.abandon(session);
  }
}
