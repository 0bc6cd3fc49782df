/**
 * Answer and remarks side by side: the answer on stdout, everything else on stderr. When both are one terminal, a remark
 * never lands in the middle of an answer line and the live status line is gone before anything else is written.
 */
import type { TurnEvent } from "../../acp/events.ts";
import { stripControls } from "../../errors/redact.ts";
import type { Output } from "./io.ts";
import { BatchedOutput } from "./output.ts";
import { type StatusState, renderStatus, statusAfter, statusOutlasted, statusQueued } from "./status-line.ts";

/** How a remark looks where colours are wanted. */
export type Tone = "plain" | "dim" | "warning" | "failure";

const SGR: Readonly<Record<Tone, string>> = {
  plain: "",
  dim: "\u001b[2m",
  warning: "\u001b[33m",
  failure: "\u001b[31m",
};
const RESET = "\u001b[0m";
const CLEAR_LINE = "\r\u001b[K";

/** Often enough for a countdown in seconds. */
const STATUS_EVERY_MS = 250;
/** Of a terminal that does not say, or says 0. */
const DEFAULT_COLUMNS = 80;

/** A question on the screen, until it is disposed of. */
export interface Question extends Disposable {
  /** One more line of it, where the person was typing. */
  add(line: string): void;
}

export interface TerminalOptions {
  readonly stdout: BatchedOutput;
  readonly stdoutIsTerminal: boolean;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly noColor: boolean;
  readonly nowMs?: () => number;
}

export class Terminal {
  readonly #stdout: BatchedOutput;
  readonly #stderr: BatchedOutput;
  readonly #stderrStream: Output;
  readonly #nowMs: () => number;
  readonly #colours: boolean;
  readonly #live: boolean;
  /** Answer and remarks share a screen. */
  readonly #oneScreen: boolean;
  #midLine = false;
  #heldNewlines = 0;
  #printed = false;
  #status: StatusState | undefined;
  #drawn = "";
  #timer: NodeJS.Timeout | undefined;
  /** What is said while a person types an answer, for later. */
  #held: { readonly writes: (() => void)[]; readonly released: PromiseWithResolvers<void> } | undefined;

  constructor({ stdout, stdoutIsTerminal, stderr, env, noColor, nowMs = () => performance.now() }: TerminalOptions) {
    const isTerminal = stderr.isTTY === true && env["TERM"] !== "dumb";
    this.#stdout = stdout;
    this.#stderrStream = stderr;
    this.#stderr = new BatchedOutput(stderr);
    this.#nowMs = nowMs;
    this.#colours = isTerminal && !noColor && (env["NO_COLOR"] ?? "") === "";
    this.#live = isTerminal;
    this.#oneScreen = stderr.isTTY === true && stdoutIsTerminal;
  }

  /** Part of the answer. Its last newlines wait for more, so that the answer can end with exactly one. */
  print(text: string): void {
    if (text === "") return;
    if (this.#oneScreen && this.#hold(() => this.print(text))) return;
    if (this.#oneScreen) this.#eraseStatus();
    this.#printed = true;
    this.#midLine = true;
    let end = text.length;
    while (text.charAt(end - 1) === "\n") end -= 1;
    if (end > 0) {
      if (this.#heldNewlines > 0) this.#stdout.write("\n".repeat(this.#heldNewlines));
      this.#stdout.write(end === text.length ? text : text.slice(0, end));
      this.#heldNewlines = 0;
    }
    this.#heldNewlines += text.length - end;
  }

  /** One or more lines beside the answer. What an agent or a file put into them reaches no terminal as a command. */
  say(line: string, tone: Tone = "plain"): void {
    if (!this.#hold(() => this.say(line, tone))) this.#write(line, tone);
  }

  /**
   * Puts a question. Until it is disposed of nothing else is written to the screen, where it would wipe what the person
   * types; {@link drained} says so to whoever writes.
   */
  ask(question: string): Question {
    this.#write(question, "warning");
    this.#held = { writes: [], released: Promise.withResolvers() };
    return {
      add: (line) => {
        if (this.#live) this.#stderr.write(CLEAR_LINE);
        this.#write(line, "plain");
      },
      [Symbol.dispose]: () => this.#release(),
    };
  }

  #write(line: string, tone: Tone): void {
    const text = stripControls(line);
    this.#eraseStatus();
    if (this.#oneScreen) this.#stdout.flush();
    const fresh = this.#oneScreen && this.#midLine ? "\n" : "";
    this.#midLine = false;
    this.#stderr.write(
      this.#colours && SGR[tone] !== "" ? `${fresh}${SGR[tone]}${text}${RESET}\n` : `${fresh}${text}\n`,
    );
    if (this.#oneScreen) this.#stderr.flush();
  }

  /** Starts the live line, where there is a terminal for it. */
  startStatus(backend: string): void {
    if (!this.#live) return;
    this.#status = { backend, startedAtMs: this.#nowMs(), activity: "starting" };
    this.#timer = setInterval(() => this.#drawStatus(), STATUS_EVERY_MS);
  }

  /** Keeps the live line true. */
  follow(event: TurnEvent): void {
    if (this.#status !== undefined) this.#status = statusAfter(this.#status, event, this.#nowMs());
  }

  /** The turn waits until somebody else is done with its session, or does so no more. */
  queued(waits: boolean): void {
    if (this.#status !== undefined) this.#status = statusQueued(this.#status, waits);
  }

  /** The turn is over, and what it left in the background is waited for. */
  outlasted(): void {
    if (this.#status !== undefined) this.#status = statusOutlasted(this.#status);
  }

  /** Says that the turn is being stopped: on the live line where that can be seen, else as a remark. */
  stopping(how: string): void {
    if (this.#status !== undefined) this.#status = { ...this.#status, activity: { stopping: how } };
    this.#drawStatus();
    if (this.#drawn === "") this.say(`Stopping; ${how}.`, "warning");
  }

  stopStatus(): void {
    this.#release();
    clearInterval(this.#timer);
    this.#eraseStatus();
    this.#status = undefined;
  }

  /** Ends the answer with its one newline; remarks may still follow. */
  endAnswer(): void {
    if (!this.#printed) return;
    this.#eraseStatus();
    // On one screen a remark may have ended the line already.
    if (!this.#oneScreen || this.#midLine) this.#stdout.write("\n");
    this.#stdout.flush();
    this.#heldNewlines = 0;
    this.#printed = false;
    this.#midLine = false;
  }

  /** Undefined while both readers keep up and no question is open. */
  get drained(): Promise<unknown> | undefined {
    return this.#held?.released.promise ?? this.#stdout.drained ?? this.#stderr.drained;
  }

  async finish(): Promise<void> {
    this.stopStatus();
    await Promise.all([this.#stdout.finish(), this.#stderr.finish()]);
  }

  /** Whether the write has to wait for the person. */
  #hold(write: () => void): boolean {
    this.#held?.writes.push(write);
    return this.#held !== undefined;
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const write of held?.writes ?? []) write();
    held?.released.resolve();
  }

  #drawStatus(): void {
    if (this.#status === undefined || this.#held !== undefined || (this.#oneScreen && this.#midLine)) return;
    const line = renderStatus(this.#status, this.#nowMs(), this.#stderrStream.columns || DEFAULT_COLUMNS);
    if (line === this.#drawn) return;
    this.#drawn = line;
    this.#stderr.write(CLEAR_LINE + (this.#colours ? `${SGR.dim}${line}${RESET}` : line));
    this.#stderr.flush();
  }

  #eraseStatus(): void {
    if (this.#drawn === "") return;
    this.#drawn = "";
    this.#stderr.write(CLEAR_LINE);
    this.#stderr.flush();
  }
}
