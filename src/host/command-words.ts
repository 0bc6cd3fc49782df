/**
 * Commands and the first words of rules. To allow, a command must be read for certain, so anything a shell would give a
 * meaning to keeps it from matching. To deny, one plausible reading is enough, so everything is read generously.
 */
import { basename } from "node:path";

/** A command as a tool call carries it: a text for a shell, or words for none. */
export type Command = string | readonly string[];

/** What lets a shell run or write something besides, or hides a word from us. */
const SHELL_MEANING = /[;&|$()`<>\n\r\\]/;
const SHELLS = new Set(["bash", "sh", "zsh", "dash", "ksh", "fish"]);
/** Programs and words of a shell that run what stands behind them. */
const RUNNERS = new Set([
  ...SHELLS,
  ..."env sudo doas command exec builtin nohup time nice timeout stdbuf setsid xargs eval then do else if while until { !".split(
    " ",
  ),
]);
const BETWEEN_COMMANDS = /[;&|()`<>\n\r]|\$\(/;
/** A program whose name only the shell knows, at the start of a command. */
const HIDDEN_PROGRAM = /(?:^|[;&|\n\r({])\s*["']?[$`]/;

/** Whether the command begins with the words of the rule, and does nothing else that a shell could add. */
export function certainlyBegins(command: Command, prefix: string): boolean {
  if (SHELL_MEANING.test(typeof command === "string" ? command : command.join(" "))) return false;
  const words = typeof command === "string" ? splitWords(command) : command;
  if (words === undefined) return false;
  const [shell = "", flag = "", script, ...more] = words;
  const isWrapped = SHELLS.has(basename(shell)) && /^-l?c$/.test(flag) && more.length === 0;
  const inner = isWrapped && script !== undefined ? splitWords(script) : undefined;
  const wanted = splitWords(prefix) ?? [prefix];
  return [words, inner ?? []].some((read) => wanted.every((word, index) => read[index] === word));
}

/**
 * Whether the command may run what the rule names: its program with the further words behind it in this order, in any
 * part of the command, or a program that cannot be read.
 */
export function possiblyRuns(command: Command, prefix: string): boolean {
  const text = typeof command === "string" ? command : command.join(" ");
  if (HIDDEN_PROGRAM.test(text)) return true;
  const [program = "", ...further] = splitWords(prefix) ?? [prefix];
  return text.split(BETWEEN_COMMANDS).some((part) => {
    const words = part
      .replace(/["'\\]/g, "")
      .trim()
      .split(/\s+/);
    const start = words.findIndex((word) => !isRunner(word));
    // A shell or runner with nothing behind it takes its commands from elsewhere.
    if (start < 0) return words.some((word) => RUNNERS.has(basename(word)) && SHELLS.has(basename(word)));
    const [first = "", ...rest] = words.slice(start);
    if (first.includes("$")) return true;
    return basename(first) === basename(program) && isInOrder(further, rest);
  });
}

/** Flags, numbers and assignments stand between a runner and what it runs; before any other program they do no harm. */
function isRunner(word: string): boolean {
  return word === "" || RUNNERS.has(basename(word)) || /^-|^\d+[smhd]?$|^\w+=/.test(word);
}

function isInOrder(wanted: readonly string[], words: readonly string[]): boolean {
  let next = 0;
  for (const word of words) if (word === wanted[next]) next += 1;
  return next >= wanted.length;
}

/** Words by blanks and plain quotes; undefined when a quote is not closed. */
function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (const char of text) {
    if (quote !== "") {
      if (char === quote) quote = "";
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= "";
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + char;
  }
  if (word !== undefined) words.push(word);
  return quote === "" ? words : undefined;
}
