/**
 * What a person sees as one conversation: bound to one session at a time, on a process that may be another one by the
 * next prompt. Gets back to its session by the ladder, and keeps one budget of tries for all that is tried again.
 */
import { createRetryBudget } from "../acp/retry-budget.ts";
import type { RetryBudget } from "../acp/retry-budget.ts";
import type { OpenSessionOptions } from "../acp/open-session.ts";
import { readOwnerPid } from "../acp/resume-session.ts";
import type { Runtime } from "../acp/runtime.ts";
import { OPEN_HERE_RULE } from "../acp/runtime-sessions.ts";
import type { Session } from "../acp/session-link.ts";
import type { RuntimeLease } from "../acp/supervisor.ts";
import type { PromptBlock, PromptOptions, Turn } from "../acp/types.ts";
import { AcpError } from "../errors/acp-error.ts";
import { AcpRuntimeError } from "../errors/runtime-error.ts";
import type { ConfinedTools } from "./confined-agent.ts";
import type { ConversationRun } from "./conversation-run.ts";
import { climb } from "./resume-ladder.ts";
import type { Refusal, ReopenWay } from "./resume-ladder.ts";

/** What a conversation is made of. */
export interface ConversationOptions {
  /** A process that fits: a fresh one when the last is gone. Throws what `createRuntime` throws. */
  readonly acquire: (signal: AbortSignal) => Promise<RuntimeLease>;
  /** How every session of it is opened. */
  readonly session: OpenSessionOptions;
  /** What is observed of it. */
  readonly run?: ConversationRun | undefined;
  /** What its agent is given besides, when it is confined. */
  readonly tools?: ConfinedTools | undefined;
  /** Sentences that the first turn tells the person. */
  readonly notes?: readonly string[] | undefined;
  /** The session to get back to; absent = a new one. */
  readonly sessionId?: string | undefined;
  /** Tries after the first, for all prompts together until one lands. */
  readonly retries: number;
  /** Told when the conversation is bound to a session it did not have before. */
  readonly onBound?: ((sessionId: string, contextLost: string | undefined) => void) | undefined;
  /** Told of each session that the conversation is bound to, and of the process that it lives in. */
  readonly onSession?: ((session: Session, runtime: Runtime) => void) | undefined;
  /** Milliseconds between tries to reopen a session that somebody else seems to hold. */
  readonly reopenWaitsMs?: readonly number[] | undefined;
}

/** One person's thread with an agent. */
export class Conversation implements AsyncDisposable {
  readonly #options: ConversationOptions;
  readonly #budget: RetryBudget;
  #lease: RuntimeLease | undefined;
  #session: Session | undefined;
  #sessionId: string | undefined;
  #notes: readonly string[];

  private constructor(options: ConversationOptions) {
    this.#options = options;
    this.#sessionId = options.sessionId;
    this.#notes = options.notes ?? [];
    this.#budget = createRetryBudget(options.retries);
  }

  /** Opens the session or gets back to it. Throws the typed error of what kept it; no process is kept then. */
  static async open(options: ConversationOptions): Promise<Conversation> {
    const conversation = new Conversation(options);
    try {
      await conversation.#bind();
      return conversation;
    } catch (error) {
      options.run?.failed(error);
      await conversation.close();
      throw error;
    }
  }

  /** The session that the next prompt goes to. */
  get session(): Session {
    if (this.#session === undefined) throw new Error("The conversation is not open");
    return this.#session;
  }

  /** The process behind it. */
  get runtime(): Runtime {
    if (this.#lease === undefined) throw new Error("The conversation is not open");
    return this.#lease.runtime;
  }

  /** As `Session.prompt`; a process that died before the prompt left is replaced, and the session reopened in the new one. */
  prompt(prompt: string | readonly PromptBlock[], options: Omit<PromptOptions, "retries" | "budget"> = {}): Turn {
    const { session } = this;
    const turn = session.prompt(prompt, { ...options, budget: this.#budget, reopen: (signal) => this.#bind(signal) });
    const { run, tools } = this.#options;
    run?.turn(turn, session.id);
    if (tools !== undefined) void turn.outcome.then(() => tools.endCommands());
    return turn;
  }

  /** From now on; the result says whether an attempt of the operation that began since has succeeded in what is observed. */
  watchOperation(operation: string): () => boolean {
    return this.#options.run?.watchOperation(operation) ?? (() => false);
  }

  /** A tool of Ostler's own ran for the agent, whatever its frames tell: the prompt is not sent again. */
  ranTool(): void {
    this.#budget.spend();
  }

  /** Stops what the agent does by itself, and lets go of the process. Idempotent. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.stopWork();
    if (session !== undefined && this.#lease !== undefined && this.#lease.runtime.sessionCount > 1)
      await session.close();
    await this.#release();
    await this.#options.tools?.close();
    await this.#options.run?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** `stop` is the turn's; what opened the conversation may be stopped as well. */
  async #bind(stop?: AbortSignal): Promise<Session> {
    const { session, onBound, onSession, reopenWaitsMs, tools } = this.#options;
    const signal = AbortSignal.any([session.signal, stop].filter((either) => either !== undefined));
    const notes = this.#notes;
    await this.#respawn(signal);
    const { mcpServers = [] } = session;
    const own = (await tools?.mcpServers(this.runtime.capabilities)) ?? [];
    const wishes = { ...session, mcpServers: [...mcpServers, ...own], signal, notes };
    const before = this.#sessionId;
    const { session: bound, contextLost } =
      before === undefined
        ? { session: await this.runtime.openSession(wishes), contextLost: undefined }
        : await climb<Session>({
            can: () => this.runtime.capabilities,
            reopen: (via) => this.runtime.resumeSession({ ...wishes, sessionId: before, via }),
            open: (sentence) => this.runtime.openSession({ ...wishes, notes: [...notes, sentence] }),
            respawn: () => this.#respawn(signal),
            readRefusal,
            signal,
            waitsMs: reopenWaitsMs,
          });
    this.#notes = [];
    this.#session = bound;
    this.#options.run?.listen(bound);
    onSession?.(bound, this.runtime);
    this.#sessionId = bound.id;
    if (bound.id !== before || contextLost !== undefined) onBound?.(bound.id, contextLost);
    return bound;
  }

  async #respawn(signal: AbortSignal): Promise<void> {
    await this.#release();
    this.#lease = await this.#options.acquire(signal);
  }

  async #release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    await lease?.release();
  }
}

function readRefusal(error: unknown, via: ReopenWay): Refusal | undefined {
  if (!(error instanceof AcpError || error instanceof AcpRuntimeError) || error.failure === undefined) return undefined;
  const { failure } = error;
  const held = HELD.has(failure.rule) || isOwnerAlive(`${failure.title} ${failure.details ?? ""}`);
  return { via, failure, ownerAlive: held };
}

/** The owner lives: codex looks at the lock itself before it says so (recording load-active-elsewhere), or this process has it. */
const HELD: ReadonlySet<string> = new Set(["name:thread_active_writer", OPEN_HERE_RULE]);

/** The process that an agent names as the owner of a session; kiro names one that is dead (kiro wire notes, section 6). */
function isOwnerAlive(text: string): boolean | undefined {
  const pid = readOwnerPid(text);
  if (pid === undefined) return undefined;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
