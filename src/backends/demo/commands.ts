/** The one table of what the demo agent can show. `/help` and the advertised commands come from it. */
import type { Scene } from "./turn.ts";
import * as good from "./scenes/answer.ts";
import * as bad from "./scenes/endings.ts";
import * as changes from "./scenes/changes.ts";
import { question } from "./scenes/question.ts";
import * as tools from "./scenes/tools.ts";
import * as work from "./scenes/work.ts";

/** A command is the first word of a prompt, with a slash before its name. */
export interface DemoCommand {
  readonly name: string;
  /** What may follow the name. */
  readonly argument?: string;
  readonly description: string;
  readonly scene: Scene;
}

/** Every command, in the order in which `/help` lists them. */
export const COMMANDS: readonly DemoCommand[] = [
  { name: "help", description: "List what can be shown", scene: help },
  { name: "think", description: "Thoughts, then an answer", scene: good.think },
  { name: "plan-steps", description: "A plan and its progress", scene: good.planSteps },
  { name: "tool", description: "A tool call with output and exit code", scene: tools.tool },
  { name: "diff", description: "A tool call with changes to files", scene: tools.diff },
  { name: "skill", description: "A skill that is loaded", scene: tools.skill },
  { name: "patch", description: "Changes as Git patches", scene: changes.patch },
  { name: "plan", description: "A plan in a file, to approve", scene: changes.plan },
  { name: "report", argument: "[unavailable]", description: "A list of changed files", scene: changes.report },
  { name: "task", argument: "SECONDS", description: "A command that goes on in the background", scene: work.task },
  { name: "subagent", description: "A subagent that reports", scene: work.subagent },
  { name: "goal", argument: "[OBJECTIVE]", description: "A goal that is reached in two rounds", scene: work.goal },
  { name: "compact", argument: "[fail]", description: "Make the context small", scene: work.compact },
  { name: "question", description: "A question with choices and a free answer", scene: question },
  { name: "fork", description: "Where this session can be forked", scene: good.fork },
  { name: "ask-permission", description: "A tool that needs a yes", scene: tools.askPermission },
  { name: "write", argument: "FILE [TEXT]", description: "Write a file, after a yes", scene: tools.write },
  { name: "long", argument: "N", description: "An answer in N chunks", scene: good.long },
  { name: "slow", argument: "SECONDS", description: "An answer that takes its time", scene: good.slow },
  { name: "warn", description: "A warning beside a good answer", scene: good.warn },
  { name: "retry", description: "An answer that starts again", scene: good.retry },
  { name: "refuse", description: "The model says no", scene: bad.refuse },
  { name: "policy", description: "A filter says no", scene: bad.policy },
  { name: "truncate", description: "The answer is cut off", scene: bad.truncate },
  { name: "empty", description: "A good end without an answer", scene: bad.empty },
  { name: "limit", description: "The allowance is spent", scene: bad.limit },
  { name: "rate-limit", description: "Too many requests", scene: bad.rateLimit },
  { name: "overloaded", description: "The service is overloaded", scene: bad.overloaded },
  { name: "auth", description: "A login is needed", scene: bad.auth },
  { name: "partial-then-fail", description: "Half an answer, then an error", scene: bad.partialThenFail },
  { name: "crash", description: "Half an answer, then the process dies", scene: bad.crash },
  { name: "hang", description: "No answer until it is cancelled", scene: bad.hang },
  { name: "hang-hard", description: "No answer, and a cancel is ignored", scene: bad.hangHard },
];

/** What to play for a prompt, and what stands behind the command word. */
export function sceneFor(prompt: string): { readonly scene: Scene; readonly argument: string } {
  const [, name = "", argument = ""] = /^\/(\S+)\s*(.*)$/s.exec(prompt) ?? [];
  const command = COMMANDS.find((command) => command.name === name);
  return { scene: command?.scene ?? good.answer, argument: argument.trim() };
}

async function help(turn: Parameters<Scene>[0]): Promise<void> {
  const calls = COMMANDS.map(({ name, argument, description }) => ({
    call: argument === undefined ? `/${name}` : `/${name} ${argument}`,
    description,
  }));
  const width = Math.max(...calls.map(({ call }) => call.length));
  const lines = calls.map(({ call, description }) => `${call.padEnd(width)}  ${description}\n`);
  await turn.say("I can show how every kind of turn looks:\n\n");
  for (const line of lines) await turn.say(line);
}
