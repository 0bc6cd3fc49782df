/** Whether somebody seems to be signed in to a harness, from names and files alone: no secret is opened. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Profile } from "../errors/failure.ts";
import { homeFolder, shortPath } from "./paths.ts";

export type LoginState = "found" | "not_found" | "unknown";

const VARIABLES: Readonly<Record<Profile, readonly string[]>> = {
  claude: [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
  ],
  codex: ["OPENAI_API_KEY", "CODEX_API_KEY"],
  kiro: ["KIRO_API_KEY"],
  generic: [],
};

export interface LoginHints {
  readonly login: LoginState;
  /** What speaks for a login, as a sentence. */
  readonly found?: string;
  /** What was looked for, in vain. */
  readonly searched: readonly string[];
}

/** Looks for a key in the agent's environment, then for the harness's own login file. */
export function readLoginHints(profile: Profile, env: Readonly<Record<string, string>>): LoginHints {
  const names = VARIABLES[profile];
  const set = names.filter((name) => env[name] !== undefined && env[name] !== "");
  if (set.length > 0) return { login: "found", found: `${set.join(" and ")} is set`, searched: [] };
  const file = loginFile(profile, env);
  if (file !== undefined && existsSync(file)) {
    return { login: "found", found: `${shortPath(file, env)} exists`, searched: [] };
  }
  // Where the system's key chain holds the login (macOS, kiro), no file says so.
  const isTold = file !== undefined && process.platform !== "darwin";
  const searched = [...(file === undefined ? [] : [shortPath(file, env)]), ...names.slice(0, 1)];
  return { login: isTold ? "not_found" : "unknown", searched };
}

function loginFile(profile: Profile, env: Readonly<Record<string, string>>): string | undefined {
  if (profile === "claude")
    return join(env["CLAUDE_CONFIG_DIR"] || join(homeFolder(env), ".claude"), ".credentials.json");
  if (profile === "codex") return join(env["CODEX_HOME"] || join(homeFolder(env), ".codex"), "auth.json");
  return undefined;
}
