/** Whether somebody seems to be signed in to a harness, from names and files alone: no secret is opened. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Profile } from "../errors/failure.ts";
import { homeFolder } from "./paths.ts";

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

/** Looks for a key in the agent's environment, then for the harness's own login file. */
export function inspectLogin(
  profile: Profile,
  env: Readonly<Record<string, string>>,
  loginHint: string,
): { readonly login: LoginState; readonly loginHints: readonly string[] } {
  const set = VARIABLES[profile].filter((name) => env[name] !== undefined && env[name] !== "");
  const file = loginFile(profile, env);
  if (set.length > 0) return { login: "found", loginHints: set.map((name) => `${name} is set`) };
  if (file !== undefined && existsSync(file)) return { login: "found", loginHints: [`${file} exists`] };
  // Where the system's key chain holds the login (macOS, kiro), no file says so.
  const isTold = file !== undefined && process.platform !== "darwin";
  const loginHints = profile === "generic" ? [] : [loginHint];
  return { login: isTold ? "not_found" : "unknown", loginHints };
}

function loginFile(profile: Profile, env: Readonly<Record<string, string>>): string | undefined {
  if (profile === "claude")
    return join(env["CLAUDE_CONFIG_DIR"] || join(homeFolder(env), ".claude"), ".credentials.json");
  if (profile === "codex") return join(env["CODEX_HOME"] || join(homeFolder(env), ".codex"), "auth.json");
  return undefined;
}
