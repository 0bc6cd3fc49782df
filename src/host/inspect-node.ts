/**
 * Which Node an adapter gets. It is a script whose first line has `env` look `node` up in the PATH of the agent, where a
 * version manager or an old system package may answer; under `serve` with fewer variables than in a terminal.
 */
import { basename, dirname } from "node:path";
import { cleanLine } from "../errors/redact.ts";
import { fine, shellLine, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import type { Interpreter } from "./inspect-executable.ts";
import { shortPath } from "./paths.ts";
import { findInPath } from "./resolve.ts";
import { runBriefly } from "./run-briefly.ts";
import { satisfies } from "./version-order.ts";

/** Ostler runs on this Node and newer ones (`node:sqlite` without a warning). */
const OLDEST_NODE = 24;
const VERSION_TIMEOUT_MS = 5000;
const MAX_SAID_CHARS = 100;

export interface AgentNodeFacts {
  /** Of the script's first line; undefined for a binary. */
  readonly interpreter: Interpreter | undefined;
  /** The script, for the sentence. */
  readonly program: string;
  /** `engines.node` of the adapter's package. */
  readonly range: string | undefined;
  /** What the agent gets from a terminal, and from a service. */
  readonly environments: Readonly<Record<"ask" | "serve", Readonly<Record<string, string>>>>;
  readonly cwd: string;
  readonly signal?: AbortSignal;
}

/** Whether the file is Node by its name, or the very one that runs us. */
export function isNodeProgram(file: string): boolean {
  return file === process.execPath || /^node(?:js)?$/.test(basename(file));
}

/** Ostler's own Node. */
export function inspectOwnNode(version = process.versions.node): Finding {
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return fine("node", `Node ${version}`);
  return wrong(
    "node",
    `Ostler needs Node ${OLDEST_NODE} or newer, and runs on ${version}`,
    nodeFix(`>=${OLDEST_NODE}`),
  );
}

/** Nothing for a program that is not run by Node. */
export async function inspectAgentNode(facts: AgentNodeFacts): Promise<Finding[]> {
  const { interpreter } = facts;
  if (interpreter === undefined) return [];
  const isNode = isNodeProgram("name" in interpreter ? interpreter.name : interpreter.file);
  if (!isNode) return "name" in interpreter ? inspectOtherInterpreter(interpreter.name, facts) : [];
  const inTerminal = await inspectNodeIn("ask", facts);
  if (!inTerminal.ok) return [inTerminal];
  const inService = await inspectNodeIn("serve", facts);
  return inService.ok ? [inTerminal] : [{ ...inService, ok: true }];
}

async function inspectNodeIn(surface: "ask" | "serve", facts: AgentNodeFacts): Promise<Finding> {
  const { interpreter, program, range, environments, cwd, signal } = facts;
  const env = environments[surface];
  const where = surface === "serve" ? "With the few variables of a service, " : "";
  const needs = range === undefined ? "Node" : `Node ${range}`;
  const file = interpreter !== undefined && "file" in interpreter ? interpreter.file : findInPath("node", env, cwd);
  if (file === undefined) {
    return wrong("node", `${where}${basename(program)} needs ${needs}, and no node is in its PATH`, nodeFix(range));
  }
  const { stdout, stderr } = await runBriefly(file, ["--version"], {
    env,
    timeoutMs: VERSION_TIMEOUT_MS,
    ...(signal !== undefined && { signal }),
  });
  const at = shortPath(file, env);
  const version = /^v(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1];
  if (version === undefined) {
    const said = cleanLine(stderr, MAX_SAID_CHARS);
    const tail = said === "" ? "" : `: ${said}`;
    return wrong(
      "node",
      `${where}${basename(program)} gets ${at}, which does not tell its version${tail}`,
      nodeFix(range),
    );
  }
  if (range !== undefined && !satisfies(version, range)) {
    return wrong("node", `${where}${basename(program)} needs ${needs}, and gets ${version} from ${at}`, nodeFix(range));
  }
  return fine("node", `Node ${version} from ${at}`);
}

function inspectOtherInterpreter(name: string, { program, environments, cwd }: AgentNodeFacts): Finding[] {
  if (findInPath(name, environments.serve, cwd) !== undefined) return [];
  const problem = `${basename(program)} is run by ${name}, which is not in its PATH`;
  return [wrong("program", problem, `Install ${name}, or put its folder into PATH`)];
}

/** The Node that runs us is there for certain. */
function nodeFix(range: string | undefined): string {
  const ours = process.execPath;
  const isUsable = basename(ours) === "node" && (range === undefined || satisfies(process.versions.node, range));
  if (isUsable) return `export PATH=${shellLine([dirname(ours)], {})}:"$PATH"`;
  return `Install Node ${range ?? ""} and put its folder first in PATH`.replace("  ", " ");
}
