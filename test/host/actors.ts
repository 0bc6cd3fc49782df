/** Starts processes that use the store (`store-actor.ts`) and talks to them. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { ConversationRecord, OwnerInfo } from "../../src/host/conversation-records.ts";
import type { ActorOptions, Order } from "./store-actor.ts";

const ACTOR = fileURLToPath(new URL("store-actor.ts", import.meta.url));

/** Where Node keeps it by itself; an actor starts three times faster with it. */
const COMPILE_CACHE = join(tmpdir(), "node-compile-cache");

/** What an actor says; fields of other answers are absent. */
export interface Answer {
  readonly call: number;
  readonly result?: {
    readonly pid?: number;
    readonly fence?: number;
    readonly record?: ConversationRecord;
    readonly busy?: OwnerInfo;
    readonly notice?: string | null;
  } | null;
  readonly waiting?: { readonly position: number; readonly owner: OwnerInfo };
  readonly error?: { readonly name: string; readonly message: string; readonly kind?: string };
}

export class Actor {
  readonly child: ChildProcess;
  readonly ready: Promise<Answer>;
  readonly #heard: Answer[] = [];
  #listeners: (() => void)[] = [];
  #calls = 0;

  constructor(options: ActorOptions) {
    const child = spawn(process.execPath, [ACTOR, JSON.stringify(options)], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
    });
    this.child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#heard.push(JSON.parse(line));
      for (const listener of this.#listeners.splice(0)) listener();
    });
    child.stdin.on("error", () => {});
    onTestFinished(() => void child.kill("SIGKILL"));
    this.ready = this.hear((answer) => answer.call === 0);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Gives an order; the answer is its result or error. */
  tell(what: Order["do"], order: Omit<Order, "call" | "do"> = {}): Promise<Answer> {
    const call = this.begin(what, order);
    return this.hear((answer) => answer.call === call && answer.waiting === undefined);
  }

  /** Gives an order without waiting for its answer; its number. */
  begin(what: Order["do"], order: Omit<Order, "call" | "do"> = {}): number {
    this.#calls += 1;
    this.child.stdin?.write(`${JSON.stringify({ call: this.#calls, do: what, ...order })}\n`);
    return this.#calls;
  }

  /** The first answer that fits, now or later. */
  async hear(fits: (answer: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const found = this.#heard.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => void this.#listeners.push(resolve));
    }
  }

  /** What a call was told while it waited. */
  waitings(call: number): Answer["waiting"][] {
    return this.#heard.filter((answer) => answer.call === call && answer.waiting).map(({ waiting }) => waiting);
  }

  async kill(): Promise<void> {
    const exited = once(this.child, "exit");
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill("SIGKILL");
    await exited;
  }
}

/** An actor that has opened the store. */
export async function startActor(options: ActorOptions): Promise<Actor> {
  const actor = new Actor(options);
  await actor.ready;
  return actor;
}
