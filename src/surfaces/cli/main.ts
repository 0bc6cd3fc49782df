/** The CLI as a function: arguments and streams in, exit code out. Every error ends here as one sentence. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "../../errors/kinds.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import { cleanBlock } from "../../errors/redact.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { UsageError } from "../../host/usage-error.ts";
import { ask } from "./ask.ts";
import { readAskRequest } from "./ask-request.ts";
import { describeCauses, exitCodeFor, sentenceOf } from "./boundary.ts";
import { COMMAND_NAMES, isCommand } from "./commands.ts";
import type { Io, Output } from "./io.ts";
import { BatchedOutput } from "./output.ts";

/** No notification is longer. */
const MAX_NOTICE_CHARS = 16 * 1024;

/** Runs one command line. Never throws; everything is written and every process gone when it resolves. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await runCommand(argv, io);
  } catch (error) {
    const causes = argv.includes("--verbose") ? describeCauses(error) : [];
    await write(io.stderr, [`ostler: ${sentenceOf(error)}`, ...causes, ""].join("\n"));
    return exitCodeFor(error);
  }
}

async function runCommand([command = "--help", ...rest]: readonly string[], io: Io): Promise<number> {
  if (!BEHIND_THE_SCENES.has(command)) {
    await settleRuns(io);
    if (io.stderr.isTTY === true) await showNotices(io);
  }
  const asksForHelp = hasFlag(rest, "--help", "-h");
  const asksForVersion = hasFlag(rest, "--version", "-V");
  if (command === "ask" && !asksForHelp && !asksForVersion) return ask(readAskRequest(rest), io);
  const { helpFor, versionText } = await import("./help.ts");
  if (command === "--version" || command === "-V" || (isCommand(command) && asksForVersion)) {
    return write(io.stdout, versionText());
  }
  if (["--help", "-h", "help"].includes(command)) return write(io.stdout, await helpFor(rest.find(isCommand)));
  if (isCommand(command) && asksForHelp) return write(io.stdout, await helpFor(command));
  switch (command) {
    case "sessions":
      return (await import("./sessions-command.ts")).sessions(rest, io);
    case "models":
      return (await import("./offers-command.ts")).models(rest, io);
    case "modes":
      return (await import("./offers-command.ts")).modes(rest, io);
    case "login":
      return (await import("./login-command.ts")).login(rest, io);
    case "goal":
      return (await import("./goal-command.ts")).goal(rest, io);
    case "steer":
      return (await import("./steer-command.ts")).steer(rest, io);
    case "tasks":
      return (await import("./tasks-command.ts")).tasks(rest, io);
    case "run":
      return (await import("./run-command.ts")).run(rest, io);
    case "watch":
      return (await import("./watch-command.ts")).watch(rest, io);
    case "run-supervisor":
      return (await import("./run-supervisor.ts")).runSupervisor(io);
    case "mcp":
      return (await import("./mcp-command.ts")).mcp(rest, io);
    case "runs":
      return (await import("./runs-command.ts")).runs(rest, io);
    case "incidents":
      return (await import("./incidents-command.ts")).incidents(rest, io);
    case "backends":
      return (await import("./backends-command.ts")).backends(rest, io);
    case "doctor":
      return (await import("./doctor-command.ts")).doctor(rest, io);
    case "completion":
      return (await import("./completion.ts")).completion(rest, io);
    default:
      throw new UsageError(unknownCommandSentence(command));
  }
}

/** What other programs start, and what is typed into a shell's start-up file. */
const BEHIND_THE_SCENES: ReadonlySet<string> = new Set(["completion", "mcp", "run-supervisor"]);

/** Runs whose Ostler was killed are told of by the next one; where none is open that costs one look into a folder. */
async function settleRuns({ env }: Io): Promise<void> {
  const { state } = ostlerPaths(env);
  if (!holdsAny(join(state, "open-runs"))) return;
  const [{ needsSettling }, { RunRegistry }] = await Promise.all([
    import("../../failures/runs/lifecycle.ts"),
    import("../../failures/runs/registry.ts"),
  ]);
  if (!needsSettling(new RunRegistry(state))) return;
  const [{ settleOpenRuns }, { NoticeBox }] = await Promise.all([
    import("../../host/settle-runs.ts"),
    import("../../host/notice-box.ts"),
  ]);
  await settleOpenRuns({ state, sink: new NoticeBox(state) });
}

/** What became of background commands is told at the next command at a terminal; none costs one look into a folder. */
async function showNotices({ env, stderr }: Io): Promise<void> {
  const { state } = ostlerPaths(env);
  if (!holdsAny(join(state, "notices"))) return;
  const { NoticeBox } = await import("../../host/notice-box.ts");
  const output = new BatchedOutput(stderr);
  await new NoticeBox(state).empty(async (text) => {
    output.write(`${cleanBlock(text, MAX_NOTICE_CHARS)}\n\n`);
    await output.finish();
  });
}

function holdsAny(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}

/** Before `--`; behind it a word is a word. */
function hasFlag(argv: readonly string[], ...names: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? argv.length : end).some((word) => names.includes(word));
}

function unknownCommandSentence(word: string): string {
  if (word.startsWith("-"))
    return `Unknown option ${word} before a command; options stand after it: ostler ask ${word}`;
  const nearest = nearestName(word, COMMAND_NAMES);
  if (nearest !== undefined) return `Unknown command "${word}"; did you mean ostler ${nearest}?`;
  return `Unknown command "${word}"; to ask an agent, write: ostler ask "${word}"`;
}

/** Writes all of it, whether or not somebody still reads. */
async function write(stream: Output, text: string): Promise<number> {
  const output = new BatchedOutput(stream);
  output.write(text);
  await output.finish();
  return EXIT.completed;
}
