/**
 * The environment of an agent, as a pure function of one snapshot. A person at a terminal gets their own (taking a
 * variable away breaks SSH agents, JDKs and virtual environments); a server passes a list. The tokens with which Ostler
 * speaks to chat platforms reach no agent, whatever the configuration says: whoever holds one can speak as the bot.
 */
import type { Profile } from "../errors/failure.ts";
import type { BackendSettings } from "./config-defaults.ts";

/** Tokens of chat platforms and of Ostler itself; one `*` stands for any letters. */
export const OSTLER_SECRETS: readonly string[] = [
  "OSTLER_*TOKEN",
  "OSTLER_*SECRET",
  "OSTLER_*PASSWORD",
  "OSTLER_*KEY",
  "TELEGRAM_*TOKEN",
  "DISCORD_*TOKEN",
  "SLACK_*TOKEN",
  "SLACK_*SECRET",
];

/** What every agent needs under `serve`: where programs and files are, the language, the way to the network. */
const SERVE_NAMES: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "LC_*",
  "TZ",
  "TMPDIR",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_CACHE_HOME",
  "XDG_STATE_HOME",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];

/** What each kind of harness is configured by. */
const PROFILE_NAMES: Readonly<Record<Profile, readonly string[]>> = {
  claude: ["ANTHROPIC_*", "CLAUDE_*"],
  codex: ["OPENAI_*", "CODEX_*"],
  kiro: ["KIRO_*", "AWS_*"],
  generic: [],
};

const matchesSecret = nameMatcher(OSTLER_SECRETS);

/** Whether a variable holds a secret of Ostler's own, by its name. */
export function isOstlerSecret(name: string): boolean {
  return matchesSecret(name);
}

/** The whole environment of the agent, the settings' own variables included. */
export function childEnvironment(options: {
  readonly env: NodeJS.ProcessEnv;
  readonly surface: "ask" | "serve";
  readonly profile: Profile;
  readonly settings: Pick<BackendSettings, "env" | "inheritEnv">;
}): Record<string, string> {
  const { env, surface, profile, settings } = options;
  const mayPass =
    surface === "ask" ? () => true : nameMatcher([...SERVE_NAMES, ...PROFILE_NAMES[profile], ...settings.inheritEnv]);
  const inherited = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && mayPass(entry[0]),
  );
  return Object.fromEntries([...inherited, ...Object.entries(settings.env)].filter(([name]) => !isOstlerSecret(name)));
}

/** Case does not count: proxies are spelt both ways, and a lower-case token is a token. */
function nameMatcher(patterns: readonly string[]): (name: string) => boolean {
  const affixes = patterns.map((pattern) => pattern.toUpperCase().split("*"));
  return (name) => {
    const upper = name.toUpperCase();
    return affixes.some(([start = "", end]) =>
      end === undefined ? upper === start : upper.startsWith(start) && upper.slice(start.length).endsWith(end),
    );
  };
}
