/** Whether somebody is signed in: what the agent itself says beats what variables and files suggest. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CommandLine } from "../acp/ports.ts";
import type { Profile } from "../errors/failure.ts";
import { fine, shellLine, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import type { StartReport } from "./inspect-start.ts";
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

/** What a person types to sign in: the harness's own program where it is, else the one that the adapter brings. */
export function loginCommand(
  profile: Profile,
  facts: {
    readonly command: CommandLine | undefined;
    readonly at: string | undefined;
    /** A sentence, where there is no command. */
    readonly loginHint: string;
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
  },
): string {
  const { command, at, loginHint, cwd, env } = facts;
  const isInPath = (program: string): boolean => findInPath(program, env, cwd) !== undefined;
  switch (profile) {
    case "claude":
      if (isInPath("claude")) return "claude auth login";
      return command !== undefined && at !== undefined && basename(at) === "claude-agent-acp"
        ? shellLine([...ownNode(command), at, "--cli", "auth", "login"], env)
        : loginHint;
    case "codex": {
      if (isInPath("codex")) return "codex login";
      const codex = at === undefined ? "" : join(dirname(at), "codex");
      if (command === undefined || !existsSync(codex)) return loginHint;
      return shellLine([...ownNode(command), codex, "login"], env);
    }
    case "kiro":
      if (isInPath("kiro-cli")) return "kiro-cli login";
      return at !== undefined && basename(at) === "kiro-cli" ? shellLine([at, "login"], env) : loginHint;
    case "generic":
      return loginHint;
  }
}

/** Ostler runs its own adapters with its own Node; the one of the machine may be too old, or missing. */
function ownNode({ file }: CommandLine): string[] {
  return file === process.execPath ? [file] : [];
}
