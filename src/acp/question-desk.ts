/**
 * The open questions of one session, of either kind: answered exactly once, closed when the agent withdraws them, the
 * time is up or the turn is cancelled. A harness waits for an answer without limit (kiro wire notes, section 8), so
 * whatever happens an answer goes back.
 */
import { answerToWire, cancel, refuse, refuseBoth } from "./agent-question.ts";
import type { AgentQuestion, AnsweredQuestion } from "./agent-question.ts";
import type { Connection } from "./connection.ts";

export interface DeskOptions {
  readonly connection: Pick<Connection, "respond">;
  /** How long one question waits, in milliseconds. */
  readonly permissionMs: number;
  /** Called once per question with what went back. */
  readonly onAnswer: (answered: AnsweredQuestion) => void;
}

/** Decides on one question. The reason of the signal is a sentence when the question was closed before an answer. */
export type Decide = (signal: AbortSignal) => Promise<AnsweredQuestion>;

/** Nobody reads so many questions; each holds a timer and an answer that is owed. */
const MAX_OPEN = 200;

interface Open {
  readonly asked: AgentQuestion;
  readonly controller: AbortController;
  readonly expiry: NodeJS.Timeout;
}

export class QuestionDesk {
  readonly #options: DeskOptions;
  readonly #open = new Map<string | number, Open>();

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Whether a question of this id waits for its answer. */
  isOpen(id: string | number): boolean {
    return this.#open.has(id);
  }

  /** Has a question decided and answers it; none of this id may be open. What throws has not said yes. */
  async ask(id: string | number, asked: AgentQuestion, decide: Decide): Promise<void> {
    const { permissionMs } = this.#options;
    const controller = new AbortController();
    const late = `Nobody answered within ${permissionMs / 1000} s`;
    const expiry = setTimeout(() => this.#settle(id, refuse(asked, late), late), permissionMs);
    const question = { asked, controller, expiry };
    this.#open.set(id, question);
    if (this.#open.size > MAX_OPEN) {
      this.#settle(id, refuse(asked, `More than ${MAX_OPEN} questions of the agent are open`));
      return;
    }
    let answered: AnsweredQuestion;
    try {
      answered = await decide(controller.signal);
    } catch {
      answered = refuse(asked, asked.type === "permission" ? "The permission policy failed" : "Asking failed");
    }
    if (this.#open.get(id) === question) this.#settle(id, answered);
  }

  /**
   * The agent asked `other` under the id of a question that is open: one answer goes back, which is a no to whichever of
   * the two it is taken for. False = no question of this id is open; else what `other` got.
   */
  refuseTwin(id: string | number, other: AgentQuestion | undefined): false | { readonly other?: AnsweredQuestion } {
    const open = this.#open.get(id);
    if (open === undefined) return false;
    const twins = refuseBoth(open.asked, other);
    this.#settle(id, twins.first, "The agent asked twice under one id", twins.wire);
    return twins.other === undefined ? {} : { other: twins.other };
  }

  /** The agent took its question back (`$/cancel_request`). */
  withdraw(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") this.#cancel(id, "The agent took the question back");
  }

  /** Cancels everything that is open, at once: a cancel must find no open question. */
  closeAll(): void {
    for (const id of this.#open.keys()) this.#cancel(id, "The turn was stopped");
  }

  /** Answers everything that is open with a no: nobody will look at it any more. */
  refuseAll(reason: string): void {
    for (const [id, { asked }] of this.#open) this.#settle(id, refuse(asked, reason), reason);
  }

  #cancel(id: string | number, reason: string): void {
    const open = this.#open.get(id);
    if (open !== undefined) this.#settle(id, cancel(open.asked, reason), reason);
  }

  /** The first answer counts. */
  #settle(id: string | number, answered: AnsweredQuestion, closed?: string, wire = answerToWire(answered)): void {
    const question = this.#open.get(id);
    if (question === undefined) return;
    this.#open.delete(id);
    clearTimeout(question.expiry);
    this.#options.connection.respond(id, wire);
    this.#options.onAnswer(answered);
    question.controller.abort(closed);
  }
}
