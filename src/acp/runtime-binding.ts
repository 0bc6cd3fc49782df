/**
 * What a process was started with, and whether it can serve another need. Too narrow a comparison costs memory, too wide
 * a one runs a conversation under the settings of another (bridge semantics, section 11).
 */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { AcpWorkspaceBindingError } from "../errors/runtime-error.ts";
import { makeFailure, plainVerdict } from "./make-failure.ts";
import type { Approval, Backend, CommandLine } from "./ports.ts";

/** Everything a process is started with and cannot change later. */
export interface RuntimeBinding {
  readonly command: CommandLine;
  /** Working folder of the process. */
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly approval: Approval;
  readonly gate?: "required" | undefined;
  /** Questions to a person are declared. Default false. */
  readonly takesQuestions?: boolean | undefined;
  /** Only where the process itself is bound to one; most backends set it per session. */
  readonly model?: string | undefined;
}

/** A need for a running agent. */
export interface RuntimeSpec {
  readonly backend: Backend;
  readonly binding: RuntimeBinding;
  /**
   * What is started, in the history of crashes: something that changes when the program is repaired or updated, so that
   * it begins anew. It is written down: no arguments, for they may hold secrets.
   */
  readonly program: string;
  /** An agent of the moment (`--agent`): its crashes are remembered by this process alone. Default false. */
  readonly adHoc?: boolean | undefined;
}

/** Names of variables in one sentence; an environment may differ in a hundred. */
const NAMES_TOLD = 5;

/** Throws {@link AcpWorkspaceBindingError} that names what differs; of the environment the names alone. */
export function checkBinding(have: RuntimeSpec, need: RuntimeSpec): void {
  const differences = differencesBetween(have, need);
  if (differences.length === 0) return;
  throw misfit(`${have.backend.label} is running already, but with another ${differences.join(", another ")}`);
}

/**
 * Throws {@link AcpWorkspaceBindingError} for a session in another folder than its process: what is allowed is judged by
 * the folder that the process was started for. A link to the same folder is the same.
 */
export function checkFolder(label: string, bound: string, wanted: string): void {
  if (resolve(bound) === resolve(wanted) || realPathOf(bound) === realPathOf(wanted)) return;
  throw misfit(`${label} was started for ${bound} and serves no other folder: start another one for ${wanted}`);
}

function realPathOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // The agent says what is wrong with it.
    return resolve(folder);
  }
}

function misfit(title: string): AcpWorkspaceBindingError {
  const failure = makeFailure({
    verdict: plainVerdict("configuration", "runtime-binding"),
    source: "spawn",
    id: "start:error",
    revision: 1,
    replaySafety: "not_sent",
    title,
  });
  return new AcpWorkspaceBindingError(failure.title, { failure });
}

function differencesBetween(have: RuntimeSpec, need: RuntimeSpec): string[] {
  const { command, cwd, approval, gate, model, takesQuestions = false } = have.binding;
  const differs: readonly (readonly [what: string, differ: boolean])[] = [
    ["backend", declared(have.backend) !== declared(need.backend)],
    ["command", wordsOf(command) !== wordsOf(need.binding.command)],
    ["folder", cwd !== need.binding.cwd],
    ["approval", approval !== need.binding.approval],
    ["gate", gate !== need.binding.gate],
    ["answer to whether questions are taken", takesQuestions !== (need.binding.takesQuestions ?? false)],
    ["model", model !== need.binding.model],
  ];
  const names = differingNames(have.binding.env, need.binding.env);
  const told = names.slice(0, NAMES_TOLD).join(", ");
  const more = names.length > NAMES_TOLD ? ` and ${names.length - NAMES_TOLD} more` : "";
  return [
    ...differs.filter(([, differ]) => differ).map(([what]) => what),
    ...(names.length === 0 ? [] : [`environment (${told}${more})`]),
  ];
}

/** What was declared to the agent in the handshake, besides who it is. */
function declared({ id, profile, air, notices, capabilityMeta }: Backend): string {
  return JSON.stringify([id, profile, air, notices, capabilityMeta]);
}

function wordsOf({ file, args }: CommandLine): string {
  return JSON.stringify([file, ...args]);
}

function differingNames(have: RuntimeBinding["env"], need: RuntimeBinding["env"]): string[] {
  const names = new Set([...Object.keys(have), ...Object.keys(need)]);
  return [...names].filter((name) => have[name] !== need[name]).sort();
}
