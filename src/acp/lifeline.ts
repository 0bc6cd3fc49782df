/**
 * When an agent is gone: its exit, the end of its stdout, a closed stdin, or a line too long to be read. Each of them is
 * waited out for a moment, because the others say better why. What is left of the tree is ended.
 */
import type { FailureKind, Profile } from "../errors/failure.ts";
import type { AgentChild, ExitFact } from "./child.ts";
import { RuntimeGone, goneByExit } from "./death.ts";
import { plainVerdict } from "./make-failure.ts";

/** After its exit a child of the agent may hold the pipes open: this long is waited for what is still in them. */
const DRAIN_MS = 250;
/** An agent that closed stdout or stdin and goes on running gets this long to end by itself (cases C10 c, C15 b). */
const EXIT_GRACE_MS = 500;
const BYTES_PER_MIB = 1024 * 1024;

export interface LifelineOptions {
  readonly child: AgentChild;
  /** The agent's name in sentences. */
  readonly label: string;
  readonly profile: Profile;
  readonly lineBytes: number;
  /** The handshake is done: from then on an end is a death, before it a failed start. */
  readonly isReady: () => boolean;
  /** Ostler stopped the agent and no request waits: nobody will read why it is gone. */
  readonly isOver: () => boolean;
  /** Called once. */
  readonly onGone: (gone: RuntimeGone) => void;
}

/** Watches one child. */
export class Lifeline {
  readonly #options: LifelineOptions;
  #ended = false;

  constructor(options: LifelineOptions) {
    this.#options = options;
    void options.child.exited.then((exit) => this.#exited(exit));
  }

  /** stdout ended, or broke with a line that is too long. */
  async outputEnded(reason: "end" | "oversize"): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    const { child } = this.#options;
    if (reason === "oversize") {
      this.#tellOversize();
      child.kill();
      return;
    }
    const exit = await Promise.race([child.exited, after(EXIT_GRACE_MS)]);
    this.#tellExit(exit ?? null);
    if (exit === undefined) child.kill();
  }

  /** A write failed. Alive with a closed stdin, it will never hear of a prompt or a cancel again. */
  async inputClosed(): Promise<void> {
    await after(EXIT_GRACE_MS);
    if (this.#ended) return;
    this.#ended = true;
    const { child, label, onGone } = this.#options;
    const title = `${label} closed its input and went on running`;
    onGone(new RuntimeGone({ verdict: plainVerdict(this.#kind, "input-closed"), source: "exit", title }));
    child.kill();
  }

  /** A launcher may exit well while its child serves on: only the end of stdout counts then. */
  async #exited(exit: ExitFact): Promise<void> {
    if (exit.code === 0) return;
    await after(DRAIN_MS);
    if (this.#ended) return;
    this.#ended = true;
    this.#tellExit(exit);
  }

  #tellOversize(): void {
    const { label, lineBytes, onGone } = this.#options;
    const title = `${label} sent a line longer than ${lineBytes / BYTES_PER_MIB} MiB`;
    onGone(new RuntimeGone({ verdict: plainVerdict("protocol", "line-too-long"), source: "framing", title }));
  }

  #tellExit(exit: ExitFact | null): void {
    const { child, label, profile, isOver, onGone } = this.#options;
    if (isOver()) {
      // Not from stderr: the first scrubbing of a text costs as much as a handshake.
      const title = `${label} was stopped`;
      onGone(new RuntimeGone({ verdict: plainVerdict(this.#kind, "exit"), source: "exit", title, exit }));
      return;
    }
    onGone(goneByExit(label, exit, child.stderrTail(), profile, this.#kind));
  }

  get #kind(): FailureKind {
    return this.#options.isReady() ? "agent_died" : "agent_spawn";
  }
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms);
  });
}
