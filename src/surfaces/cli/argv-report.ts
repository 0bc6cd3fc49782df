/** The command line for a bug report: which options were given, and not a word of the prompt. */
import { COMMANDS, isCommand } from "./commands.ts";
import type { OptionTable } from "./options.ts";

/** Every argument that is no command, option or value of one becomes its length. */
export function withoutPrompt(argv: readonly string[]): string[] {
  const [command = "", ...rest] = argv;
  if (!isCommand(command)) return argv.map(lengthOf);
  const table = COMMANDS[command];
  const shown: string[] = [command];
  let isValue = false;
  for (const [at, word] of rest.entries()) {
    if (word === "--") return [...shown, word, ...rest.slice(at + 1).map(lengthOf)];
    const isOption: boolean = !isValue && /^-./.test(word);
    shown.push(isOption || isValue ? word : lengthOf(word));
    isValue = isOption && takesValue(table, word);
  }
  return shown;
}

function takesValue(table: OptionTable, word: string): boolean {
  const name = word.replace(/^--?/, "");
  const found = Object.entries(table).find(([long, { alias }]) => name === long || name === alias);
  return found !== undefined && found[1].type !== "flag";
}

function lengthOf(word: string): string {
  return `[${word.length} chars]`;
}
