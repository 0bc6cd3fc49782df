/** The commands of an attempt that have not ended, for harnesses that leave them running when the turn is cancelled. */
import { isObject } from "./frames.ts";
import { str } from "./normalize.ts";
import { uptimeMs } from "./processes.ts";
import type { TurnEventBody } from "./events.ts";

/** A command that was in flight when its turn ended. */
export interface OpenCommand {
  /** As the tool-call frame says it. */
  readonly command: string | undefined;
  /** The earliest moment at which it can have begun, on the clock of `uptimeMs`. */
  readonly startedAt: number;
}

/** A harness may announce a command a moment after it has started it. */
const ANNOUNCED_LATE_MS = 500;

export class OpenCommands {
  /** No command is older than its prompt. */
  readonly #since = uptimeMs();
  readonly #commands = new Map<string, OpenCommand>();

  get open(): readonly OpenCommand[] {
    return [...this.#commands.values()];
  }

  /** A tool call changed. */
  follow({ toolCallId, kind, rawInput }: TurnEventBody & { readonly type: "tool" }, isRunning: boolean): void {
    const command = readCommand(rawInput);
    const known = this.#commands.get(toolCallId);
    if (!isRunning) this.#commands.delete(toolCallId);
    else if (kind === "execute" || command !== undefined) {
      const startedAt = known?.startedAt ?? Math.max(this.#since, uptimeMs() - ANNOUNCED_LATE_MS);
      this.#commands.set(toolCallId, { command, startedAt });
    }
  }
}

/** The command of a tool call, where its frame has one: a text, or a list of arguments. */
export function readCommand(rawInput: unknown): string | undefined {
  const command = isObject(rawInput) ? rawInput["command"] : undefined;
  const words = Array.isArray(command) ? command.filter((word) => typeof word === "string").join(" ") : str(command);
  return words === "" ? undefined : words;
}
