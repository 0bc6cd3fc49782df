/**
 * Answers permission questions without a person: everything, reading and searching inside the workspace, or nothing.
 * The evidence is the tool-call frame; the title never is, for the model writes it. It never picks an `always` option,
 * never answers a question that is not about permission, and what it does not know it denies.
 */
import { rejectAnswer } from "../acp/permissions.ts";
import type { Approval, PermissionPolicy } from "../acp/ports.ts";
import type { PermissionAnswer, PermissionRequest } from "../acp/types.ts";
import { isInside, readReachedPaths } from "./workspace-paths.ts";

/** Puts a question to a person. Resolves to an offered option id, or null for "no". */
export type AskPerson = (request: PermissionRequest, signal: AbortSignal) => Promise<string | null>;

/** Builds the policy of a run. With `ask`, what would be denied is put to a person, except under `none`. */
export function createPermissionPolicy(options: {
  readonly approve: Approval;
  readonly workspace: string;
  readonly additionalDirectories?: readonly string[];
  readonly ask?: AskPerson;
}): PermissionPolicy {
  const { approve, workspace, additionalDirectories = [], ask } = options;
  const folders = [workspace, ...additionalDirectories];
  return async (request, signal) => {
    const once = request.options.find(({ kind }) => kind === "allow_once");
    const objection = await findObjection(request, approve, folders);
    if (once !== undefined && objection === undefined)
      return { action: "select", optionId: once.optionId, denied: false };
    if (ask !== undefined && approve !== "none") return personsAnswer(request, await ask(request, signal));
    return rejectAnswer(request, objection ?? "The agent offers no way to allow it just once");
  };
}

/** Why the request is not approved by itself, as a sentence; undefined when it may be. */
async function findObjection(
  request: PermissionRequest,
  approve: Approval,
  folders: readonly string[],
): Promise<string | undefined> {
  if (request.isQuestion) return "It is a question for a person, and nobody is here to answer it";
  if (approve === "none") return "Nothing is approved without a person";
  return approve === "all" ? undefined : objectionToReading(request, folders);
}

async function objectionToReading(request: PermissionRequest, folders: readonly string[]): Promise<string | undefined> {
  const { kind, rawInput } = request;
  const reached = readReachedPaths(rawInput);
  if ((kind !== "read" && kind !== "search") || reached.runsCommand) {
    return "Only reading and searching inside the workspace is approved";
  }
  const paths = [...request.paths, ...reached.paths];
  // A search without a path is one of the workspace; reading without a path could be reading anything.
  if (kind === "read" && paths.length === 0) return "What it reads is not known";
  const inside = await Promise.all(paths.map((path) => isInside(path, folders)));
  return reached.isOpenEnded || inside.includes(false) ? "It reaches outside the workspace" : undefined;
}

function personsAnswer(request: PermissionRequest, optionId: string | null): PermissionAnswer {
  const option = request.options.find((offered) => offered.optionId === optionId);
  if (option === undefined) return rejectAnswer(request, "A person said no");
  const denied = option.kind.startsWith("reject");
  return { action: "select", optionId: option.optionId, denied, ...(denied && { reason: "A person said no" }) };
}
