/** `--help` of every command, laid out by yargs from the one option table; loaded only when asked for. */
import yargs from "yargs";
import { VERSION } from "../../acp/version.ts";
import { COMMANDS } from "./commands.ts";
import type { CommandName } from "./commands.ts";
import type { OptionSpec } from "./options.ts";

interface CommandHelp {
  readonly usage: string;
  readonly describe: string;
  readonly examples: readonly (readonly [command: string, what: string])[];
}

export const COMMAND_HELP: Readonly<Record<CommandName, CommandHelp>> = {
  ask: {
    usage: "ostler ask [options] [prompt..]",
    describe: "Ask a coding agent one thing and get its true outcome",
    examples: [
      ['ostler ask "what does this project do?"', "The first agent that is installed"],
      ['ostler ask -b demo "hello"', "No agent and no account needed"],
      ['git diff | ostler ask -f - "review this"', "Prompt, blank line, the diff"],
      ['ostler ask --attach shot.png "why is the button cut off?"', "With an image"],
      ["ostler ask --approve all --timeout 600 fix the failing test", "Let it work for ten minutes"],
      ['ostler ask --json "hello" | jq -r "select(.type == \\"result\\").outcome"', "For programs"],
      ['ostler ask --agent "my-agent --acp" "hello"', "Any agent that speaks ACP"],
      ['ostler ask -s login "and now the tests"', "Go on in a session with a name"],
      ['ostler ask --continue "why?"', "Go on in the last session of this folder"],
    ],
  },
  sessions: {
    usage: "ostler sessions [list | show NAME | fork NAME | close NAME]",
    describe: "Show the sessions that ostler ask -s can go on in, fork one, or forget one",
    examples: [
      ["ostler sessions", "All of them, the last used first"],
      ["ostler sessions list --agent -b claude", "What the agent itself keeps for this folder"],
      ["ostler sessions show login", "Where it works, with which agent, and how its last turn ended"],
      ["ostler sessions fork login --as try", "A second session with the same history; the first stays as it is"],
      ["ostler sessions close login", "Forget it; what the agent itself keeps stays"],
    ],
  },
  models: {
    usage: "ostler models [options]",
    describe: "Show which models and options an agent offers, and which it recommends",
    examples: [
      ["ostler models -b claude", "For ostler ask -m"],
      ["ostler models -b codex --json", "For programs"],
    ],
  },
  modes: {
    usage: "ostler modes [options]",
    describe: "Show which modes an agent has, and which of them ask before they act",
    examples: [["ostler modes -b codex", "For ostler ask --mode"]],
  },
  goal: {
    usage: "ostler goal set|pause|resume|clear|show -s NAME [objective..]",
    describe: "Give a session a goal that its agent works toward by itself, or look how far it is",
    examples: [
      [
        'ostler goal set -s parser "all tests of the parser pass" --wait',
        "Until it is reached, or stopped by something",
      ],
      ["ostler goal show -s parser", "Its objective and status"],
      ["ostler goal pause -s parser", "From another terminal, while it works"],
      ["ostler goal clear -s parser", "No goal any more"],
    ],
  },
  steer: {
    usage: "ostler steer -s NAME [text..]",
    describe: "Say something to the turn that runs in a session, from another terminal",
    examples: [
      ['ostler steer -s parser "leave the old API as it is"', "The agent hears it while it works"],
      ["ostler steer -s parser -f notes.md", "The text of a file"],
    ],
  },
  tasks: {
    usage: "ostler tasks [list | stop [TASK]] -s NAME",
    describe: "Show or stop what runs in the background of a session, while ostler ask -s NAME runs it",
    examples: [
      ["ostler tasks -s login", "What runs, with the ids"],
      ["ostler tasks stop -s login", "Stop it, where one task runs"],
      ["ostler tasks stop -s login bptx", "Stop the one whose id begins so"],
    ],
  },
  run: {
    usage: "ostler run [options] -- CMD [args..]",
    describe: "Run a command in the background: its failure is kept, and you are told of its end",
    examples: [
      ["ostler run -- npm test", "Prints the id of the run; ostler runs output ID shows what it says"],
      ["ostler run --wait -- npm test", "Stay, and exit with its code; Ctrl-C ends it"],
      ["ostler run --expect-exit 1 -- grep -rq TODO src", "Exit code 1 is no failure"],
      ["ostler run --operation-id deploy -- ./deploy.sh", "A success recovers the failure of an earlier try"],
      ["ostler run --notify 'mail -s Ostler me' -- make", "Told by a program, with the words on its stdin"],
    ],
  },
  watch: {
    usage: "ostler watch [options] -- CMD [args..]",
    describe: "Run a command again and again in the background until its exit code says that it is done",
    examples: [
      ["ostler watch --every 30 -- curl -fsS http://localhost:8080/health", "Until it answers"],
      ["ostler watch --expect-exit 8 --fail-exit 1 -- gh pr checks", "8: not yet; 1: failed"],
      ["ostler watch --max-polls 10 --wait -- test -e done", "Stay, at most ten polls"],
    ],
  },
  runs: {
    usage: "ostler runs [list | show RUN | output RUN | result RUN | stop RUN | prune [RUN…]]",
    describe: "Show what was run, what failed in it, and what it said",
    examples: [
      ["ostler runs", "All of them, the newest first, each with what needs action"],
      ["ostler runs show ag_mgx1k2a3b4c5_1", "How far it came and what failed; the beginning of an id will do"],
      ["ostler runs result ag_mgx1k2a3b4c5_1", "The same, and the answer of the agent"],
      ["ostler runs output cm_mgx1k2a3b4c5_1 --bytes 65536", "The same, and the end of its log"],
      ["ostler runs show ag_mgx1k2a3b4c5_1 --history", "Every incident, also recovered and superseded ones"],
      ["ostler runs stop cm_mgx1k2a3b4c5_1", "End it"],
      ["ostler runs prune --older-than 30d --dry-run", "What would be removed; without rules, the configured ones"],
    ],
  },
  incidents: {
    usage: "ostler incidents [list | show INCIDENT | dispose INCIDENT --as WORD --reason TEXT]",
    describe: "Show what failed in any run and needs somebody, or say what it is",
    examples: [
      ["ostler incidents", "What needs action, in all runs"],
      ["ostler incidents --history --run ag_mgx1k2a3b4c5_1", "Everything that failed in one run"],
      ["ostler incidents show exit:ag_mgx1k2a3b4c5_1:1", "How it came about, and the line of the log that shows it"],
      ['ostler incidents dispose exit:ag_mgx1k2a3b4c5_1:1 --as expected --reason "I killed it"', "Off the list"],
    ],
  },
  backends: {
    usage: "ostler backends [list | install codex|claude | resume NAME]",
    describe: "Show which agents are there, install an adapter, or let one that kept crashing start again",
    examples: [
      ["ostler backends", "Which agents are there, and where"],
      ["ostler backends install codex", "The tested version of the adapter, from npm"],
      ["ostler backends resume codex", "Start it again after it was parked for crashing too often"],
    ],
  },
  login: {
    usage: "ostler login BACKEND [--method ID]",
    describe: "Sign in to an agent by its own login, and see whether that took",
    examples: [["ostler login claude", "At a terminal"]],
  },
  doctor: {
    usage: "ostler doctor [options]",
    describe: "Look for what keeps an agent from working",
    examples: [
      ["ostler doctor", "Everything"],
      ["ostler doctor --backend claude --smoke", "Start one agent for real, without a prompt"],
      ["ostler doctor --json", "For programs"],
    ],
  },
  completion: {
    usage: "ostler completion bash|zsh",
    describe: "Print a completion script for your shell",
    examples: [
      ["source <(ostler completion bash)", "In ~/.bashrc"],
      ["source <(ostler completion zsh)", "In ~/.zshrc, after compinit"],
    ],
  },
};

const MAX_COLUMNS = 110;

const EXIT_CODES =
  "Exit codes: 0 completed, 1 failed, 2 usage, 3 timeout, 4 no such session, 5 permission denied, 6 login needed, " +
  "7 refused, 8 limit, 9 agent died or did not start, 10 busy, 11 truncated or empty, 130 and 143 stopped.";

/** The help of one command, or of all. */
export async function helpFor(command: CommandName | undefined): Promise<string> {
  const page = yargs([]).scriptName("ostler").locale("en").help(false).version(false).wrap(MAX_COLUMNS);
  if (command === undefined) {
    page.usage("Usage: ostler <command> [options]");
    for (const { usage, describe } of Object.values(COMMAND_HELP)) page.command(usage.replace("ostler ", ""), describe);
    page.example(COMMAND_HELP.ask.examples.slice(0, 3).map(([line, what]) => [line, what]));
    page.epilogue("ostler <command> --help says more.");
  } else {
    const { usage, describe, examples } = COMMAND_HELP[command];
    page.usage(`${describe}\n\nUsage: ${usage}`);
    for (const [name, spec] of Object.entries<OptionSpec>(COMMANDS[command])) page.option(name, describeOption(spec));
    page.example(examples.map(([line, what]) => [line, what]));
    if (command === "ask") page.epilogue(EXIT_CODES);
  }
  return `${(await page.getHelp()).trimEnd()}\n`;
}

export function versionText(): string {
  return `ostler ${VERSION}\n`;
}

function describeOption({ type, alias, value, choices, describe, group }: OptionSpec) {
  return {
    group: `${group}:`,
    describe: value === undefined ? describe : `${describe} [${value}]`,
    ...(alias === undefined ? {} : { alias }),
    ...(choices === undefined ? {} : { choices }),
    ...(type === "flag" ? { type: "boolean" as const } : {}),
  };
}
