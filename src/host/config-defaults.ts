/**
 * The shape of the configuration and its defaults, as plain data: most runs have no config file, and loading zod only
 * to learn the defaults costs as much as the rest of the start.
 */
import type { Approval } from "../acp/ports.ts";
import type { Profile } from "../errors/failure.ts";

/** How one backend is started and what is declared to it. */
export interface BackendSettings {
  /** Program and arguments; absent = the built-in one, looked up by `resolve.ts`. */
  readonly command?: readonly string[];
  /** Added to the environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  /** Names that are passed on under `serve` besides the allow-list. */
  readonly inheritEnv: readonly string[];
  /** Whose wire habits to expect; absent = by the name of the backend or of its program, else `generic`. */
  readonly profile?: Profile;
  /** Declare the AIR extension (typed failures). */
  readonly air: boolean;
  /** Declare that we show the harness's own notices. */
  readonly notices: boolean;
  /** Declare that we show terminal output. */
  readonly terminalOutput: boolean;
  readonly model?: string;
  readonly mode?: string;
}

/** The whole configuration; every value is valid and in range. Seconds, bytes, days and MiB as the names say. */
export interface Config {
  readonly defaultBackend?: string;
  readonly approve: Approval;
  /** Refuse agents that would run tools without asking. */
  readonly gate?: "required";
  /** Start agents under bubblewrap. */
  readonly confined: boolean;
  readonly failures: { readonly strictRetry: boolean };
  readonly notify: {
    /** Gets the notifications of background commands on its stdin. */
    readonly command?: readonly string[];
  };
  readonly backends: Readonly<Record<string, BackendSettings>>;
  readonly timeouts: {
    readonly handshakeS: number;
    readonly sessionS: number;
    readonly firstByteS: number;
    readonly idleS: number;
    readonly toolS: number;
    readonly turnS: number;
    readonly cancelGraceS: number;
    readonly permissionS: number;
  };
  readonly restart: { readonly burst: number; readonly periodS: number };
  readonly retry: { readonly retries: number };
  readonly limits: { readonly lineBytes: number; readonly queue: number };
  readonly retention: { readonly days: number; readonly mib: number };
}

/** What a backend gets that the config does not mention. */
export const DEFAULT_BACKEND_SETTINGS: BackendSettings = {
  env: {},
  inheritEnv: [],
  air: true,
  notices: false,
  terminalOutput: true,
};

/** The configuration of somebody who has no config file. */
export const DEFAULT_CONFIG: Config = {
  approve: "reads",
  confined: false,
  failures: { strictRetry: false },
  notify: {},
  backends: {},
  timeouts: {
    handshakeS: 60,
    sessionS: 90,
    firstByteS: 120,
    idleS: 300,
    toolS: 3600,
    turnS: 7200,
    cancelGraceS: 5,
    permissionS: 300,
  },
  restart: { burst: 5, periodS: 60 },
  retry: { retries: 3 },
  limits: { lineBytes: 67_108_864, queue: 20 },
  retention: { days: 30, mib: 2048 },
};

/** Names that need no `command` in the config. */
export const BUILT_IN_BACKENDS = ["claude", "codex", "kiro", "demo"] as const;

/** The settings of a backend, or the defaults for a name that the config does not mention. */
export function backendSettings(config: Config, name: string): BackendSettings {
  return Object.hasOwn(config.backends, name) ? config.backends[name]! : DEFAULT_BACKEND_SETTINGS;
}
