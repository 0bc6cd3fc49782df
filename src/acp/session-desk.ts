/**
 * Who decides on what the agent asks in one session: the permission policy, or a person through `questions`. The clocks
 * of the turn stand while they do. Remembers what was denied in the turn that runs.
 */
import { cancel, refuse } from "./agent-question.ts";
import type { AgentQuestion, AnsweredQuestion } from "./agent-question.ts";
import type { Attempt } from "./attempt.ts";
import { logPermission } from "./permissions.ts";
import { checkAnswer, logQuestion } from "./question-answer.ts";
import { QuestionDesk } from "./question-desk.ts";
import type { AcpSession } from "./session.ts";

export class SessionDesk {
  readonly #session: Pick<AcpSession, "attempt" | "feed" | "link">;
  readonly #desk: QuestionDesk;
  /** Titles of what was denied in the turn that runs, over all its attempts. */
  #denied: string[] = [];
  /** What was asked and refused while the session was opened: the first turn tells it. */
  #early: readonly AnsweredQuestion[] = [];

  constructor(session: Pick<AcpSession, "attempt" | "feed" | "link">) {
    this.#session = session;
    const { connection, permissionMs } = session.link;
    this.#desk = new QuestionDesk({ connection, permissionMs, onAnswer: (answered) => this.answered(answered) });
  }

  get denied(): readonly string[] {
    return [...this.#denied];
  }

  isAsking(id: string | number): boolean {
    return this.#desk.isOpen(id);
  }

  /** A question of this session, or of a child of it. */
  ask(id: string | number, asked: AgentQuestion): void {
    void this.#desk.ask(id, asked, (signal) => this.#decide(asked, signal));
  }

  /** See {@link QuestionDesk.refuseTwin}. */
  refuseTwin(id: string | number, other: AgentQuestion | undefined): ReturnType<QuestionDesk["refuseTwin"]> {
    return this.#desk.refuseTwin(id, other);
  }

  withdraw(id: unknown): void {
    this.#desk.withdraw(id);
  }

  /** Cancels what is open. */
  close(): void {
    this.#desk.closeAll();
  }

  beginTurn(): void {
    this.#denied = [];
  }

  endTurn(): void {
    this.#desk.refuseAll("The turn ended before anybody answered");
  }

  /** Keeps for the first turn what was answered before there was a session. */
  keepEarly(answered: readonly AnsweredQuestion[]): void {
    this.#early = answered;
  }

  /** Hands out what was kept, once; what was denied counts for the turn that runs. */
  takeEarly(): readonly AnsweredQuestion[] {
    const early = this.#early;
    this.#early = [];
    for (const answered of early) this.#note(answered);
    return early;
  }

  /** What went back to a question of this session, for the log and the turn. */
  answered(answered: AnsweredQuestion): void {
    const { attempt, feed, link } = this.#session;
    if (answered.type === "permission") logPermission(link.log, answered.request, answered.answer);
    else logQuestion(link.log, answered.request, answered.answer);
    // The turn is over: whatever was asked later is none of its denials, but is no secret.
    if (attempt === undefined || attempt.ended) {
      feed.toldLate(answered);
      return;
    }
    this.#note(answered);
    attempt.answered(answered);
  }

  #note(answered: AnsweredQuestion): void {
    if (answered.type === "permission" && answered.answer.denied) this.#denied.push(answered.request.title);
  }

  async #decide(asked: AgentQuestion, signal: AbortSignal): Promise<AnsweredQuestion> {
    const { attempt } = this.#session;
    if (attempt === undefined || attempt.ended) return refuse(asked, "No turn is running");
    // Asked after our own cancel: nobody will look at it any more.
    if (attempt.override !== undefined) return cancel(asked, "The turn was stopped");
    const release = attempt.hold(asked.type);
    // Withdrawn, expired or closed: a policy that does not notice must not stop the clocks for the rest of the turn.
    signal.addEventListener("abort", release, { once: true });
    try {
      const answered = await this.#answerTo(asked, attempt, signal);
      // The prompt was answered meanwhile, and may have been sent again: what it asked for is not to run beside that.
      return attempt.ended ? refuse(asked, "The attempt that asked has ended") : answered;
    } finally {
      release();
    }
  }

  async #answerTo(asked: AgentQuestion, attempt: Attempt, signal: AbortSignal): Promise<AnsweredQuestion> {
    const { permissions, questions } = this.#session.link;
    if (asked.type === "question") {
      if (questions === undefined) return refuse(asked, "Nobody can answer questions here");
      return { ...asked, answer: checkAnswer(asked.request, await questions(asked.request, signal)) };
    }
    if (permissions !== undefined) return { ...asked, answer: await permissions(asked.request, signal) };
    attempt.needsPermission(asked.request);
    return refuse(asked, "Nobody can answer permission requests here");
  }
}
