/**
 * The private world of one scenario: a workspace, a home folder with the harness's own settings, and an environment that
 * points the harness at the scripted service, switches off everything it would send elsewhere, and holds dummy keys.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

export type HarnessName = "codex" | "claude";

export interface ScenarioHome {
  /** Everything of the scenario is below it. */
  readonly root: string;
  /** The folder `ostler ask` runs in; it holds `notes.txt`. */
  readonly workspace: string;
  /** HOME, with `.codex` and `.claude`. */
  readonly userHome: string;
  /** Where Ostler keeps its own runs and logs. */
  readonly state: string;
  remove(): void;
}

/** Secrets that no run may print. Shaped like the real thing, so that redaction has something to find. */
export const DUMMY_KEYS = {
  openAi: "sk-proj-DuMmYkEyOfThEhArNeSsTeStS0123456789abcdefGHIJ",
  anthropic: "sk-ant-api03-DuMmYkEyOfThEhArNeSsTeStS0123456789abcdefGHIJ",
  anthropicToken: "sk-ant-oat01-DuMmYtOkEnOfThEhArNeSsTeStS0123456789abcdefGHIJ",
} as const;

/** codex's own retries: of a request, and of a stream; a service that fails for ever sees (1 + 1) x (1 + 1) requests. */
const CODEX_RETRIES = 1;

/** Retries of Claude Code after the first request. */
const CLAUDE_RETRIES = 1;

/** Makes the folders of one scenario. */
export function createScenarioHome(): ScenarioHome {
  const root = mkdtempSync(join(tmpdir(), "ostler-scenario-"));
  for (const name of ["workspace", "home/.codex", "home/.claude", "state", "config", "tmp"]) {
    mkdirSync(join(root, name), { recursive: true });
  }
  const workspace = join(root, "workspace");
  writeFileSync(join(workspace, "notes.txt"), "alpha\nbeta\n");
  return {
    root,
    workspace,
    userHome: join(root, "home"),
    state: join(root, "state"),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

export interface Surroundings {
  /** Base URL of the scripted service. */
  readonly serviceUrl: string;
  /** A proxy for everything that is not 127.0.0.1. */
  readonly proxyUrl: string;
  /** Where the adapters are installed: XDG_DATA_HOME of the run. */
  readonly adaptersHome: string;
}

/** The whole environment of the run. */
export function scenarioEnv(
  home: ScenarioHome,
  { serviceUrl, proxyUrl, adaptersHome }: Surroundings,
): Record<string, string> {
  return {
    PATH: [dirname(process.execPath), process.env["PATH"] ?? "/usr/bin:/bin"].join(delimiter),
    HOME: home.userHome,
    TMPDIR: join(home.root, "tmp"),
    LANG: "C.UTF-8",
    XDG_DATA_HOME: adaptersHome,
    XDG_STATE_HOME: home.state,
    XDG_CONFIG_HOME: join(home.root, "config"),
    HTTPS_PROXY: proxyUrl,
    HTTP_PROXY: proxyUrl,
    NO_PROXY: "127.0.0.1,localhost",
    CODEX_HOME: join(home.userHome, ".codex"),
    OPENAI_API_KEY: DUMMY_KEYS.openAi,
    CLAUDE_CONFIG_DIR: join(home.userHome, ".claude"),
    ANTHROPIC_BASE_URL: serviceUrl,
    ANTHROPIC_API_KEY: DUMMY_KEYS.anthropic,
    CLAUDE_CODE_MAX_RETRIES: String(CLAUDE_RETRIES),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    NO_BROWSER: "1",
  };
}

/**
 * A `config.toml` that selects the scripted service and keeps codex from fetching plugins, updates and the like.
 * `credential` is the provider's line about its key.
 */
export function codexConfig(serviceUrl: string, credential = 'env_key = "OPENAI_API_KEY"'): string {
  return `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[features]
plugins = false
apps = false

[analytics]
enabled = false

[model_providers.scripted]
name = "Scripted"
base_url = "${serviceUrl}/v1"
wire_api = "responses"
${credential}
request_max_retries = ${CODEX_RETRIES}
stream_max_retries = ${CODEX_RETRIES}
stream_idle_timeout_ms = 60000
`;
}
