/** How somebody signs in to an agent on this machine, and whether it took. */
import { spawn } from "node:child_process";
import type { AuthMethod } from "../acp/negotiate.ts";
import type { Backend, CommandLine } from "../acp/ports.ts";
import type { Failure } from "../errors/failure.ts";
import { backendFor } from "../backends/registry.ts";
import { nearestName } from "../errors/nearest-name.ts";
import { findProgram } from "./agent-selection.ts";
import type { SelectedAgent } from "./agent-selection.ts";
import type { LoadedConfig } from "./config.ts";
import { childEnvironment } from "./environment.ts";
import type { Host } from "./host-options.ts";
import { inspectLogin } from "./inspect-login.ts";
import { startOnce } from "./inspect-start.ts";
import { readLoginHints } from "./login-hints.ts";
import { UsageError } from "./usage-error.ts";

/** An agent before it is started. */
export interface KnownAgent {
  readonly selected: SelectedAgent;
  readonly backend: Backend;
  readonly command: CommandLine;
}

/** Throws UsageError for an unknown name, kind `agent_spawn` for a program that is not there. */
export function knownAgent(
  host: Pick<Host, "config" | "paths" | "select">,
  name: string,
  place: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): KnownAgent {
  const { config, paths } = host;
  const selected = host.select({ backend: name });
  const { command } = findProgram(selected, { config, paths, ...place });
  return { selected, backend: backendFor(selected.backend, selected.settings), command };
}

/** One way to sign in. */
export type LoginWay =
  /** A command for a terminal: of the agent's own offer, then with its `id`, or the harness's own program. */
  | { readonly via: "command"; readonly words: readonly string[]; readonly id?: string }
  /** The agent does it when it is asked to; it may open a browser. */
  | { readonly via: "agent"; readonly id: string };

/**
 * Which way is taken: the one that is named, else the first command that the agent offers, else the harness's own program,
 * else what the agent does by itself. Undefined = there is none. Throws UsageError for a name that is not offered.
 */
export function decideLogin(
  offered: readonly AuthMethod[],
  ownWords: readonly string[] | undefined,
  wanted?: string,
): LoginWay | undefined {
  const ways = offered.map(({ id, terminal }): LoginWay =>
    terminal === undefined ? { via: "agent", id } : { via: "command", id, words: [terminal.command, ...terminal.args] },
  );
  if (wanted !== undefined) {
    const way = ways.find(({ id }) => id === wanted);
    if (way !== undefined) return way;
    const ids = offered.map(({ id }) => id);
    const near = nearestName(wanted, ids);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    const list = ids.length === 0 ? "it offers none" : `it offers ${ids.join(", ")}`;
    throw new UsageError(`There is no login "${wanted}": ${list}${hint}`);
  }
  const own: LoginWay | undefined = ownWords === undefined ? undefined : { via: "command", words: ownWords };
  return ways.find(({ via }) => via === "command") ?? own ?? ways[0];
}

/** Runs the command at the terminal of this process. Resolves with its exit code, null when it never began or was ended. */
export function runLogin(
  words: readonly string[],
  { env, cwd, signal }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string; readonly signal: AbortSignal },
): Promise<number | null> {
  const [file = "", ...args] = words;
  return new Promise((resolve) => {
    const child = spawn(file, args, { env, cwd, stdio: "inherit" });
    const end = (): unknown => child.kill();
    signal.addEventListener("abort", end, { once: true });
    const settle = (code: number | null): void => {
      signal.removeEventListener("abort", end);
      resolve(code);
    };
    child.once("error", () => settle(null));
    child.once("exit", settle);
  });
}

/** Whether somebody is signed in now. */
export interface LoginCheck {
  readonly isSignedIn: boolean;
  /** For the person. */
  readonly sentence: string;
  /** Why the agent cannot be used although that is not for the login. */
  readonly failure?: Failure;
}

/** Starts the agent once and opens a session, without a prompt. */
export async function checkLogin(
  { backend: name, settings }: SelectedAgent,
  place: {
    readonly loaded: LoadedConfig;
    readonly env: NodeJS.ProcessEnv;
    readonly cwd: string;
    readonly signal: AbortSignal;
  },
): Promise<LoginCheck> {
  const { env } = place;
  const { label, profile } = backendFor(name, settings);
  const start = await startOnce(name, { ...place, label });
  const hints = readLoginHints(profile, childEnvironment({ env, surface: "ask", profile, settings }));
  const [finding] = inspectLogin({ profile, label, hints, start, fix: "" });
  if (finding !== undefined && !finding.ok) return { isSignedIn: false, sentence: finding.problem ?? label };
  if (!start.opened) {
    const { failure, problem = `${label} opened no session` } = start;
    return { isSignedIn: false, sentence: problem, ...(failure !== undefined && { failure }) };
  }
  return { isSignedIn: true, sentence: `${label}: ${finding?.note ?? "it opens sessions"}` };
}
