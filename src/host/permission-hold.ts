/**
 * Keeps the goal of one conversation paused while a permission holds it (failure observations, section 11, Hold). Messages,
 * settings, other words for the goal and a later recovery change nothing; a person's `resume` gives the agent one turn, and
 * is kept in memory alone, so that no restart repeats it.
 *
 * No agent offers one turn alone: codex goes on by itself as long as a goal is active. So the goal is paused when the first
 * work after the resume ends, which codex tells with its answer (recording codex-acp 2.6.0 goal), and what it may have
 * begun by then is stopped. An agent that cannot pause (claude) is stopped whenever it begins.
 */
import type { GoalRequest } from "../acp/air/goal.ts";
import type { Goal, SessionEvent } from "../acp/events.ts";
import type { GoalAnswer, GoalOptions } from "../acp/session-goal.ts";
import type { Session } from "../acp/session-link.ts";
import { AcpError } from "../errors/acp-error.ts";
import { systemCode } from "../errors/system-code.ts";
import type { GoalHold, GoalHolds } from "./permission-hold-file.ts";
import { RELEASED, heldSentence, retrySentence, setRefusal } from "./permission-hold-words.ts";

/** An agent that tells of its goal does so right after it opened the session (recording codex-acp 2.6.0 resume-after-failure). */
const FIRST_SNAPSHOT_MS = 2000;
/** An agent that does not answer a pause is stopped. */
const PAUSE_MS = 10_000;

export interface PermissionHoldOptions {
  readonly holds: GoalHolds;
  readonly conversationId: string;
  /** Of the session, as `-s` takes it. */
  readonly name: string;
  /** Watches the operation of an incident from now on; the result says whether an attempt of it has succeeded. */
  readonly watchOperation: (hold: GoalHold) => () => boolean;
  /** A sentence for the person where the session runs. */
  readonly onNotice: ((sentence: string) => void) | undefined;
}

export class PermissionHold {
  readonly #options: PermissionHoldOptions;
  #session: Session | undefined;
  #takes: ReadonlySet<string> = new Set();
  #unsubscribe = (): void => {};
  #hold: GoalHold | undefined;
  /** A turn was granted and is not over: whether the operation has succeeded in it. */
  #retry: (() => boolean) | undefined;
  #pausing: Promise<void> | undefined;

  constructor(options: PermissionHoldOptions) {
    this.#options = options;
    this.#hold = options.holds.read(options.conversationId);
  }

  /** Why the goal is held; undefined when it is not, or when it is not known to be active. */
  get current(): GoalHold | undefined {
    return this.#hold?.status === "held" ? this.#hold : undefined;
  }

  /** Watches the session that the conversation is bound to now; `goalActions`: what its agent takes. */
  listen(session: Session, goalActions: ReadonlySet<string>): void {
    this.#unsubscribe();
    this.#session = session;
    this.#takes = goalActions;
    this.#unsubscribe = session.subscribe((event) => this.#heard(event));
    if (goalActions.size === 0 && this.#hold?.status === "due") this.#drop();
    this.#goalTold(session.goal);
  }

  /** Another Ostler may have written a hold down: takes it up. A turn that was granted goes on. */
  look(): void {
    this.#hold = this.#options.holds.read(this.#options.conversationId);
    this.#goalTold(this.#session?.goal);
  }

  /** Resolves when the agent has answered what it was last told because of the hold. */
  async settled(): Promise<void> {
    await this.#pausing;
  }

  /** As `Session.setGoal`, within the hold. Throws kind `request_rejected` for a goal in the place of a held one. */
  async setGoal(request: GoalRequest, options: GoalOptions = {}): Promise<GoalAnswer> {
    const session = this.#session;
    if (session === undefined) throw new Error("The conversation is not open");
    if (this.#hold?.status === "due") await this.#decideDue(session, options.signal);
    const hold = this.current;
    if (hold === undefined) return session.setGoal(request, options);
    await this.settled();
    switch (request.action) {
      case "set":
        throw new AcpError(setRefusal(hold, this.#options.name), { kind: "request_rejected" });
      case "pause":
        return session.setGoal(request, options);
      case "clear": {
        const answer = await session.setGoal(request, options);
        this.#drop();
        return answer;
      }
      case "resume":
        return this.#resume(session, hold, options);
    }
  }

  async #resume(session: Session, hold: GoalHold, options: GoalOptions): Promise<GoalAnswer> {
    const { goal } = session;
    // One that cannot resume begins anew with the same goal.
    const isSetAnew = !this.#takes.has("resume") && this.#takes.has("set") && goal !== undefined && goal !== null;
    const request: GoalRequest = isSetAnew ? { action: "set", objective: goal.objective } : { action: "resume" };
    this.#retry = this.#options.watchOperation(hold);
    this.#options.onNotice?.(retrySentence(hold));
    try {
      const answer = await session.setGoal(request, options);
      await this.settled();
      return { ...answer, goal: session.goal };
    } catch (error) {
      this.#endRetry();
      throw error;
    }
  }

  #heard({ turnId, event }: SessionEvent): void {
    if (this.#hold === undefined) return;
    if (event.type === "goal") this.#goalTold(event.goal);
    else if (event.type === "permission") {
      if (event.answer?.denied === true && this.#retry !== undefined) this.#holdAgain();
    } else if (event.type === "turn" && turnId === null) {
      if (event.state === "ended") this.#endRetry();
      else if (this.#retry === undefined && this.#isActive) void this.#session?.stopWork();
    }
  }

  #goalTold(goal: Goal | null | undefined): void {
    if (this.#hold === undefined || goal === undefined) return;
    // What is reached or gone drives no work, and a new goal is not the one that was held.
    const isOver = goal === null || goal.status === "complete";
    if (isOver || (this.#hold.status === "due" && goal.status !== "active")) this.#drop();
    else if (goal.status === "active" && this.#retry === undefined) this.#holdAgain();
  }

  /** The granted turn is over. */
  #endRetry(): void {
    const hasSucceeded = this.#retry?.();
    if (hasSucceeded === undefined) return;
    if (!hasSucceeded) {
      this.#holdAgain();
      return;
    }
    this.#drop();
    this.#options.onNotice?.(RELEASED);
  }

  #holdAgain(): void {
    const hold = this.#hold;
    if (hold === undefined) return;
    this.#retry = undefined;
    if (hold.status === "due") this.#write({ ...hold, status: "held" });
    if (this.#isActive) this.#pause();
  }

  get #isActive(): boolean {
    return this.#session?.goal?.status === "active";
  }

  #pause(): void {
    if (this.#pausing !== undefined || this.#hold === undefined) return;
    this.#options.onNotice?.(heldSentence(this.#hold, this.#options.name));
    this.#pausing = this.#pauseOrStop().finally(() => {
      this.#pausing = undefined;
    });
  }

  /** Never rejects: an agent that is gone works no more, and the next session begins with the hold. */
  async #pauseOrStop(): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    try {
      if (this.#takes.has("pause")) {
        await session.setGoal({ action: "pause" }, { signal: AbortSignal.timeout(PAUSE_MS) });
        return;
      }
    } catch {
      // What cannot be paused is stopped.
    }
    await session.stopWork();
  }

  /** Whether the goal was active when the report was read shows only now. */
  async #decideDue(session: Session, signal: AbortSignal | undefined): Promise<void> {
    if (session.goal === undefined) {
      const told = Promise.withResolvers<void>();
      const unsubscribe = session.subscribe(({ event }) => event.type === "goal" && told.resolve());
      const late = AbortSignal.any([AbortSignal.timeout(FIRST_SNAPSHOT_MS), ...(signal === undefined ? [] : [signal])]);
      late.addEventListener("abort", () => told.resolve(), { once: true });
      await told.promise;
      unsubscribe();
    }
    if (this.#hold?.status === "due") this.#drop();
  }

  #write(hold: GoalHold): void {
    this.#hold = hold;
    this.#store(() => this.#options.holds.write(this.#options.conversationId, hold));
  }

  #drop(): void {
    this.#hold = undefined;
    this.#retry = undefined;
    this.#store(() => this.#options.holds.remove(this.#options.conversationId));
  }

  /** A disk that takes nothing changes nothing here. */
  #store(act: () => void): void {
    try {
      act();
    } catch (error) {
      const code = systemCode(error);
      if (code === "") throw error;
      this.#options.onNotice?.(`What holds the goal of this session could not be written down (${code})`);
    }
  }
}
