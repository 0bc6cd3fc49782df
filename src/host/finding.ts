/** What one look of `ostler doctor` found: data, with the one line that mends it. */
import type { Failure } from "../errors/failure.ts";
import { cleanLine } from "../errors/redact.ts";
import { shortPath } from "./paths.ts";

const MAX_SENTENCE_CHARS = 1000;

/** What was looked at. */
export type Check =
  | "node"
  | "state"
  | "store"
  | "leftovers"
  | "runs"
  | "confinement"
  | "config"
  | "agents"
  | "program"
  | "version"
  | "login"
  | "gate"
  | "restarts"
  | "start";

/** `ok` with a `problem` works all the same, and deserves a look. */
export interface Finding {
  readonly check: Check;
  readonly ok: boolean;
  /** What is there, where nothing is wrong. */
  readonly note?: string;
  /** One sentence, scrubbed where it repeats what an agent said. */
  readonly problem?: string;
  /** A command line that can be pasted, or one sentence where no command exists. */
  readonly fix?: string;
  /** The end of what the agent said on stderr, scrubbed. */
  readonly said?: string;
  /** The typed failure behind `problem`, where an agent was started. */
  readonly failure?: Failure;
}

/** Nothing is wrong; `note` says what is there. Notes and problems become one line, scrubbed and shortened. */
export function fine(check: Check, note: string): Finding {
  return { check, ok: true, note: cleanLine(note, MAX_SENTENCE_CHARS) };
}

/** It does not work. */
export function wrong(check: Check, problem: string, fix: string): Finding {
  return { check, ok: false, problem: cleanLine(problem, MAX_SENTENCE_CHARS), fix };
}

/** It works, and somebody should know. */
export function remark(check: Check, problem: string, fix?: string): Finding {
  return { check, ok: true, problem: cleanLine(problem, MAX_SENTENCE_CHARS), ...(fix !== undefined && { fix }) };
}

/** Words as a command line for a shell. Paths below the home folder start with `~/`. */
export function shellLine(words: readonly string[], env: NodeJS.ProcessEnv): string {
  return words.map((word) => shellWord(shortPath(word, env))).join(" ");
}

/** Inside quotes a shell leaves `~` alone. */
function shellWord(word: string): string {
  if (/^(?:~|(?:~\/)?[\w@%+=:,./-]+)$/.test(word)) return word;
  if (word.startsWith("~/")) return `~/${quoted(word.slice(2))}`;
  return quoted(word);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
