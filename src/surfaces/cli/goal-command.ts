/**
 * `ostler goal`: a goal of a kept session. Where another Ostler runs the session, it is asked; else the session is opened
 * here, as `ask` does, and what the agent does is shown as what it is: work that no prompt started.
 */
import { GOAL_ACTIONS } from "../../acp/air/goal.ts";
import type { OwnerGoalRequest } from "../../host/owner-work.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { openStore } from "../../host/store.ts";
import { UsageError } from "../../host/usage-error.ts";
import { checkRequest } from "./ask-request.ts";
import { ask } from "./ask.ts";
import { findSession, readFolder } from "./find-session.ts";
import { goalHere } from "./goal-here.ts";
import { goalOfOtherOstler } from "./goal-there.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { ASK_OPTIONS, GOAL_OPTIONS } from "./options.ts";
import { parseArguments } from "./parse.ts";
import { readPrompt } from "./prompt.ts";
import { ownerSocketOf } from "./session-owner.ts";
import { unknownAction } from "./unknown-action.ts";

const ACTIONS: readonly string[] = [...GOAL_ACTIONS, "show"];
const SET_USAGE = 'ostler goal set -s NAME "what is to be reached"';
const NOTHING = { to: "work toward", what: "objective", usage: SET_USAGE };
const USAGE = `write: ${SET_USAGE}, or ostler goal pause|resume|clear|show -s NAME`;

/** Throws UsageError; everything else is an outcome as that of a turn, told in the format that was asked for. */
export async function goal(argv: readonly string[], io: Io): Promise<number> {
  const { options, words } = parseArguments(argv, GOAL_OPTIONS);
  const [action = "", ...objective] = words;
  if (!ACTIONS.includes(action) || (action !== "set" && objective.length > 0))
    throw unknownAction("goal", words, { actions: ACTIONS, usage: USAGE });
  const { session: name, wait, file, ...rest } = options;
  if (name === undefined) throw new UsageError(`Say which session is meant; ${USAGE}`);
  const request = await readRequest(action, { words: objective, file }, io);
  const place = findPlace(name, { isNew: action === "set", cwd: rest.cwd }, io);
  const asked = checkRequest({
    // What a goal does not take is as if it had not been said.
    options: { ...parseArguments([], ASK_OPTIONS).options, ...rest, session: name, cwd: place.cwd ?? rest.cwd },
    words: [],
  });
  const { owner } = place;
  return ask(asked, io, (run) =>
    owner === undefined
      ? goalHere(run, request, { wait, name })
      : goalOfOtherOstler(run, request, { wait, name, owner }),
  );
}

async function readRequest(
  action: string,
  from: { readonly words: readonly string[]; readonly file: string | undefined },
  io: Io,
): Promise<OwnerGoalRequest> {
  switch (action) {
    case "pause":
    case "resume":
    case "clear":
    case "show":
      return { action };
    default: {
      if (from.file === undefined && from.words.join(" ").trim() === "")
        throw new UsageError(`A goal needs an objective: ${SET_USAGE}`);
      using interrupt = new Interrupt(io);
      return { action: "set", objective: await readPrompt(from, io, interrupt.signal, NOTHING) };
    }
  }
}

/** Where the session is and who runs it. A goal may be set in one that does not exist yet; everything else needs one. */
function findPlace(
  name: string,
  { isNew, cwd }: { readonly isNew: boolean; readonly cwd: string | undefined },
  io: Io,
): {
  readonly cwd?: string;
  readonly owner?: { readonly path: string; readonly id: string; readonly backend: string };
} {
  const folder = readFolder(cwd, io);
  using store = openStore(ostlerPaths(io.env));
  const record = isNew ? store.find({ name, cwd: folder }) : findSession(store, name, folder, io.env);
  if (record === undefined) return {};
  const path = ownerSocketOf(store, record);
  const { id, backend } = record;
  return { cwd: record.cwd, ...(path !== undefined && { owner: { path, id, backend } }) };
}
