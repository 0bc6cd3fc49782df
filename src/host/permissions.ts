/**
 * Answers permission questions without a person: everything, reading and searching inside the workspace, nothing, or
 * what the rules of a policy file say.
 * The evidence is the tool-call frame; the title never is, for the model writes it. It never picks an `always` option,
 * never answers a question that is not about permission, and what it does not know it denies.
 */
import { rejectAnswer } from "../acp/permissions.ts";
import type { Approval, PermissionPolicy } from "../acp/ports.ts";
import type { PermissionAnswer, PermissionRequest } from "../acp/types.ts";
import { decidePolicy } from "./decide-policy.ts";
import type { PolicyRules } from "./policy-rules.ts";
import { readToolEvidence } from "./tool-evidence.ts";
import { readReachedPaths } from "./reached-paths.ts";
import { MAX_PATHS, isInside } from "./workspace-paths.ts";

/**
 * Puts a question to a person, with the reason why it is not decided without one (a sentence without a full stop).
 * Resolves to an offered option id, null for "no", or undefined when nobody answered.
 */
export type AskPerson = (
  request: PermissionRequest,
  signal: AbortSignal,
  reason: string,
) => Promise<string | null | undefined>;

/** Why a request is not approved by itself, and whether a person may approve it all the same. */
interface Objection {
  readonly reason: string;
  readonly mayAsk: boolean;
}

/**
 * Builds the policy of a run; `rules` replace `approve`. With `ask`, what is not approved is put to a person, except
 * under `none` and where a rule denies.
 */
export function createPermissionPolicy(options: {
  readonly approve: Approval;
  readonly rules?: PolicyRules;
  readonly workspace: string;
  readonly additionalDirectories?: readonly string[];
  readonly ask?: AskPerson;
}): PermissionPolicy {
  const { approve, rules, workspace, additionalDirectories = [], ask } = options;
  const folders = [workspace, ...additionalDirectories];
  return async (request, signal) => {
    const once = request.options.find(({ kind }) => kind === "allow_once");
    const objections = await Promise.all(
      readingsOf(request).map((reading) =>
        rules === undefined ? findObjection(reading, approve, folders) : findObjectionByRules(reading, rules, folders),
      ),
    );
    const found = objections.find((objection) => objection?.mayAsk === false) ?? objections.find(Boolean);
    if (once !== undefined && found === undefined) return { action: "select", optionId: once.optionId, denied: false };
    const { reason, mayAsk } = found ?? { reason: "The agent offers no way to allow it just once", mayAsk: true };
    if (ask !== undefined && mayAsk) {
      return personsAnswer(
        request,
        await ask(request, signal, reason.replace(/, and nobody is here to \w+(?: it)?$/, "")),
      );
    }
    return rejectAnswer(request, reason);
  };
}

/** The call as the frames say it and, where that differs, as the request does: neither may be what is not approved. */
function readingsOf(request: PermissionRequest): PermissionRequest[] {
  return request.claimed === undefined ? [request] : [request, { ...request, ...request.claimed }];
}

const QUESTION = "It is a question for a person, and nobody is here to answer it";

async function findObjection(
  request: PermissionRequest,
  approve: Approval,
  folders: readonly string[],
): Promise<Objection | undefined> {
  const mayAsk = approve !== "none";
  if (request.isQuestion) return { reason: QUESTION, mayAsk };
  if (approve === "none") return { reason: "Nothing is approved without a person", mayAsk };
  const reason = approve === "all" ? undefined : await objectionToReading(request, folders);
  return reason === undefined ? undefined : { reason, mayAsk };
}

async function findObjectionByRules(
  request: PermissionRequest,
  rules: PolicyRules,
  folders: readonly string[],
): Promise<Objection | undefined> {
  if (request.isQuestion) return { reason: QUESTION, mayAsk: true };
  const { word, reason } = decidePolicy(rules, await readToolEvidence(request, folders));
  if (word === "allow") return undefined;
  return word === "deny" ? { reason, mayAsk: false } : { reason: `${reason}, and nobody is here to ask`, mayAsk: true };
}

async function objectionToReading(request: PermissionRequest, folders: readonly string[]): Promise<string | undefined> {
  const { kind, rawInput, mcpServer } = request;
  const reached = readReachedPaths(rawInput);
  if ((kind !== "read" && kind !== "search") || reached.runsCommand || mcpServer !== undefined) {
    return "Only reading and searching inside the workspace is approved";
  }
  const paths = [...request.paths, ...reached.paths];
  // A search without a path is one of the workspace; reading without a path could be reading anything.
  if (kind === "read" && paths.length === 0) return "What it reads is not known";
  if (paths.length > MAX_PATHS) return "It names more paths than can be looked at";
  const inside = await Promise.all(paths.map((path) => isInside(path, folders)));
  return reached.isOpenEnded || inside.includes(false) ? "It reaches outside the workspace" : undefined;
}

function personsAnswer(request: PermissionRequest, optionId: string | null | undefined): PermissionAnswer {
  if (optionId === undefined) return rejectAnswer(request, "Nobody answered");
  const option = request.options.find((offered) => offered.optionId === optionId);
  if (option === undefined) return rejectAnswer(request, "A person said no");
  const denied = option.kind.startsWith("reject");
  return { action: "select", optionId: option.optionId, denied, ...(denied && { reason: "A person said no" }) };
}
