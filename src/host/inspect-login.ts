/** Whether somebody is signed in: what the agent itself says beats what variables and files suggest. */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Backend, CommandLine } from "../acp/ports.ts";
import type { Profile } from "../errors/failure.ts";
import { fine, shellLine, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import type { StartReport } from "./inspect-start.ts";
import { packageOf } from "./installed-adapter.ts";
import type { LoginHints } from "./login-hints.ts";
import { findInPath } from "./resolve.ts";

export interface LoginFacts {
  readonly profile: Profile;
  readonly label: string;
  readonly hints: LoginHints;
  /** What the agent said; absent when it was not started. */
  readonly start: StartReport | undefined;
  /** See `loginCommand`. */
  readonly fix: string;
}

/** Nothing where nobody can know: an agent that Ostler has not met and that did not say. */
export function inspectLogin({ profile, label, hints, start, fix }: LoginFacts): Finding[] {
  const { login, found, searched } = hints;
  if (start?.failure?.kind === "auth") {
    const also = found === undefined ? "" : `, although ${found}`;
    return [{ ...wrong("login", `${label} says: ${start.failure.title}${also}`, fix), failure: start.failure }];
  }
  const status = start?.authStatus;
  if (status !== undefined && status.kind !== "none") return [fine("login", `signed in: ${status.label}`)];
  // Claude says "none" to a token that stands in a variable too (recording usage-warning-oauth).
  if (found !== undefined) return [fine("login", found)];
  if (status !== undefined) return [wrong("login", `${label} says: ${status.label}`, fix)];
  if (profile === "kiro" && start !== undefined && start.authMethods.length > 0) {
    return [wrong("login", `${label} offers a login, so nobody is signed in`, fix)];
  }
  // A provider of codex's own configuration needs no login, and a session without one is refused (recording not-logged-in).
  if (profile === "codex" && start?.opened === true) return [fine("login", "none needed: it opens sessions")];
  if (login === "not_found") return [wrong("login", `No login was found: no ${searched.join(", no ")}`, fix)];
  if (profile === "generic") return [];
  return [
    fine("login", start === undefined ? "not known; --smoke asks the agent" : "not known: the agent does not say"),
  ];
}

/** How to sign in to an agent on this machine, as a sentence for the login card. */
export function loginAdvice(
  { backend, command }: { readonly backend: Backend; readonly command: CommandLine },
  place: LoginPlace,
): string {
  const { loginHint, profile } = backend;
  const typed = loginCommand(profile, command, place);
  return typed === undefined ? loginHint : loginHint.replace(/`[^`]+`/, () => `\`${typed}\``);
}

interface LoginPlace {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** What a person types to sign in, as a line for a shell; see {@link loginWords}. */
export function loginCommand(profile: Profile, command: CommandLine, place: LoginPlace): string | undefined {
  const words = loginWords(profile, command, place);
  return words === undefined ? undefined : shellLine(words, place.env);
}

/**
 * The command that signs in on this machine: the harness's own program where PATH has it, else the one that the adapter
 * brings; undefined where neither is there.
 */
export function loginWords(
  profile: Profile,
  { file, args }: CommandLine,
  { env, cwd }: LoginPlace,
): readonly string[] | undefined {
  const isInPath = (program: string): boolean => findInPath(program, env, cwd) !== undefined;
  // Ostler runs its own adapters with its own Node; the one of the machine may be too old, or missing.
  const isOurNode = file === process.execPath && args[0] !== undefined;
  const at = isOurNode ? resolve(cwd, args[0]!) : file;
  const start = isOurNode ? [file] : [];
  switch (profile) {
    case "claude":
      if (isInPath("claude")) return ["claude", "auth", "login"];
      if (basename(at) !== "claude-agent-acp") return undefined;
      return [...start, at, "--cli", "auth", "login"];
    case "codex": {
      if (isInPath("codex")) return ["codex", "login"];
      // Beside the adapter, or, where npm installed that globally, among its own packages.
      const folders = [dirname(at), join(packageOf(at)?.folder ?? dirname(at), "node_modules", ".bin")];
      const codex = folders.map((folder) => join(folder, "codex")).find((program) => existsSync(program));
      return codex === undefined ? undefined : [...start, codex, "login"];
    }
    case "kiro":
      if (isInPath("kiro-cli")) return ["kiro-cli", "login"];
      return basename(at) === "kiro-cli" ? [at, "login"] : undefined;
    case "generic":
      return undefined;
  }
}
