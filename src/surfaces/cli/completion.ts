/** `ostler completion bash|zsh`: a script made of the option table, so that a Tab starts no process. */
import { EXIT } from "../../errors/kinds.ts";
import { UsageError } from "../../host/usage-error.ts";
import type { Io } from "./io.ts";
import { COMMANDS, COMMAND_NAMES } from "./commands.ts";
import { COMPLETION_OPTIONS } from "./options.ts";
import type { OptionSpec } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";

const SHELLS = ["bash", "zsh"];
const BACKENDS = "claude codex kiro demo";
const WORDS: Readonly<Record<string, string>> = {
  sessions: "list show fork close",
  goal: "set pause resume clear show",
  tasks: "list stop",
  runs: "list show output result stop prune",
  incidents: "list show dispose",
  backends: "list install resume codex claude",
  login: BACKENDS,
  completion: SHELLS.join(" "),
};

export async function completion(argv: readonly string[], io: Io): Promise<number> {
  const [shell, ...more] = parseArguments(argv, COMPLETION_OPTIONS).words;
  if (shell === undefined || !SHELLS.includes(shell) || more.length > 0) {
    throw new UsageError("Say for which shell: ostler completion bash, or ostler completion zsh");
  }
  const output = new BatchedOutput(io.stdout);
  output.write(shell === "zsh" ? `autoload -U +X bashcompinit && bashcompinit\n${BASH_SCRIPT}` : BASH_SCRIPT);
  await output.finish();
  return EXIT.completed;
}

/** What may stand after an option: nothing known, a list of words, files or folders. */
function valueCases(command: string, table: Readonly<Record<string, OptionSpec>>): string[] {
  return Object.entries(table).flatMap(([name, { type, alias, value, choices }]) => {
    if (type === "flag") return [];
    const pattern = [`--${name}`, ...(alias === undefined ? [] : [`-${alias}`])]
      .map((flag) => `${command}:${flag}`)
      .join(" | ");
    return [`    ${pattern}) ${valueReply(name, value, choices)}; return ;;`];
  });
}

function valueReply(name: string, value: string | undefined, choices: readonly string[] | undefined): string {
  if (name === "backend") return reply(`-W "${BACKENDS}"`);
  if (choices !== undefined) return reply(`-W "${choices.join(" ")}"`);
  if (value === "FILE") return reply("-f");
  if (value === "DIR") return reply("-d");
  return "COMPREPLY=()";
}

function reply(what: string): string {
  return `COMPREPLY=($(compgen ${what} -- "$word"))`;
}

function wordCases(): string[] {
  return COMMAND_NAMES.map((command) => {
    const flags = Object.keys(COMMANDS[command]).map((name) => `--${name}`);
    return `    ${command}) ${reply(`-W "${[WORDS[command] ?? "", ...flags].join(" ").trim()}"`)} ;;`;
  });
}

const BASH_SCRIPT = `_ostler() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then ${reply(`-W "${COMMAND_NAMES.join(" ")}"`)}; return; fi
  case "$command:$before" in
${COMMAND_NAMES.flatMap((command) => valueCases(command, COMMANDS[command])).join("\n")}
  esac
  case "$command" in
${wordCases().join("\n")}
  esac
}
complete -o filenames -F _ostler ostler
`;
