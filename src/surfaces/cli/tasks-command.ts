/** `ostler tasks`: the background work of a kept session that another Ostler runs right now. */
import { EXIT } from "../../errors/kinds.ts";
import { cleanLine } from "../../errors/redact.ts";
import { stopTaskOfOwner, tasksOfOwner } from "../../host/owner-tasks.ts";
import type { ListedTask } from "../../host/owner-tasks.ts";
import { OwnerCallError } from "../../host/owner-client.ts";
import { socketPathOf } from "../../host/owner-socket.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { openStore } from "../../host/store.ts";
import { UsageError } from "../../host/usage-error.ts";
import { findSession, readFolder } from "./find-session.ts";
import { harmlessJson } from "./harmless-json.ts";
import type { Io } from "./io.ts";
import { TASKS_OPTIONS } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";
import { unknownAction } from "./unknown-action.ts";

const MAX_CELL_CHARS = 200;
const MAX_SENTENCE_CHARS = 1000;
const ACTIONS: readonly string[] = ["list", "stop"];
const USAGE = "write: ostler tasks -s NAME, or ostler tasks stop -s NAME [TASK]";

/** What is told: lines or one JSON value, and what was not done. */
interface Told {
  readonly lines: readonly string[];
  readonly json: object;
  readonly problem?: string;
}

/** A session that somebody runs. */
interface Owned {
  readonly name: string;
  readonly path: string;
  readonly conversation: string;
}

/** Returns 1 when nothing was stopped that should be. Throws an error of kind `session_not_found` (exit 4). */
export async function tasks(argv: readonly string[], io: Io): Promise<number> {
  const { words, options } = parseArguments(argv, TASKS_OPTIONS);
  const [action = "list", task, ...more] = words;
  if (!ACTIONS.includes(action) || more.length > 0 || (action === "list" && task !== undefined))
    throw unknownAction("tasks", words, { actions: ACTIONS, usage: USAGE });
  if (options.session === undefined) throw new UsageError(`Which session? ${USAGE}`);
  const owned = findOwned(options.session, readFolder(options.cwd, io), io);
  const nobody = `No Ostler runs "${options.session}" now: background work ends with the command that started it`;
  const told = await (action === "list" ? list(owned, nobody) : stop(owned, task, nobody)).catch((error: unknown) =>
    saidByOwner(error),
  );
  const stdout = new BatchedOutput(io.stdout);
  const stderr = new BatchedOutput(io.stderr);
  for (const line of options.json ? [harmlessJson(told.json)] : told.lines) stdout.write(`${line}\n`);
  if (told.problem !== undefined) stderr.write(`ostler: ${cleanLine(told.problem, MAX_SENTENCE_CHARS)}\n`);
  await Promise.all([stdout.finish(), stderr.finish()]);
  return told.problem === undefined ? EXIT.completed : EXIT.failed;
}

function findOwned(name: string, cwd: string, io: Io): Owned | undefined {
  using store = openStore(ostlerPaths(io.env));
  const { id, owner } = findSession(store, name, cwd, io.env);
  return owner && { name, path: socketPathOf(store.paths, owner), conversation: id };
}

/** What went wrong between two Ostlers; anything else is thrown on. */
function saidByOwner(error: unknown): Told {
  if (!(error instanceof OwnerCallError)) throw error;
  return { lines: [], json: { problem: error.message }, problem: error.message };
}

async function list(owned: Owned | undefined, nobody: string): Promise<Told> {
  if (owned === undefined) return { lines: [nobody], json: [] };
  const { name, path, conversation } = owned;
  const running = await tasksOfOwner(path, conversation);
  if (running.length === 0) return { lines: [`Nothing runs in the background of "${name}"`], json: [] };
  return { lines: running.map(lineOf), json: running.map(scrubbed) };
}

async function stop(owned: Owned | undefined, word: string | undefined, nobody: string): Promise<Told> {
  if (owned === undefined) return { lines: [], json: { stopped: false, problem: nobody }, problem: nobody };
  const { name, path, conversation } = owned;
  const running = await tasksOfOwner(path, conversation);
  const task = pick(running, word, name);
  if (task === undefined) {
    const problem = `${word === undefined ? "Nothing" : `No "${word}"`} runs in the background of "${name}"`;
    return { lines: [], json: { stopped: false, problem }, problem };
  }
  const { taskId, name: title } = task;
  const answer = await stopTaskOfOwner(path, conversation, taskId);
  if (answer.stopped) return { lines: [`Stopped: ${cell(title)}`], json: { ...answer, taskId } };
  const why = answer.problem ?? "it has ended, or is being stopped already";
  return { lines: [], json: { ...answer, taskId }, problem: `"${title}" was not stopped: ${why}` };
}

/** By its id, the beginning of it, or its whole name; without a word the only one. Throws UsageError when several fit. */
function pick(running: readonly ListedTask[], word: string | undefined, session: string): ListedTask | undefined {
  const exact = running.find(({ taskId }) => taskId === word);
  if (exact !== undefined) return exact;
  const fits = running.filter(({ taskId, name }) => word === undefined || taskId.startsWith(word) || name === word);
  const [only, ...others] = fits;
  if (others.length === 0) return only;
  const ids = fits.map(({ taskId, name }) => `${cell(taskId)} (${cell(name)})`).join(", ");
  throw new UsageError(`${fits.length} tasks fit; say which: ostler tasks stop -s ${session} TASK, one of ${ids}`);
}

function lineOf({ taskId, name, taskType, state, outputFile }: ListedTask): string {
  return [taskId, state, taskType, name, outputFile ?? ""].map(cell).join("  ").trimEnd();
}

/** For a program: the words scrubbed, the id and the path as they came. */
function scrubbed(task: ListedTask): ListedTask {
  const { name, taskType, summary } = task;
  return {
    ...task,
    name: cell(name),
    taskType: cell(taskType),
    ...(summary !== undefined && { summary: cleanLine(summary, MAX_SENTENCE_CHARS) }),
  };
}

function cell(text: string): string {
  return cleanLine(text, MAX_CELL_CHARS);
}
