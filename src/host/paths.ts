/** Where Ostler keeps things: XDG folders, or everything in one folder when `OSTLER_HOME` is set. */
import { chmodSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";

export interface Paths {
  /** The user's config file; it need not exist. */
  readonly configFile: string;
  /** Runs, store and sockets: readable by the user alone. */
  readonly state: string;
  readonly data: string;
  /** The npm prefix under which `ostler backends install` puts adapters. */
  readonly adapters: string;
}

/** The folders for this environment. A relative XDG value is ignored, as the XDG base directory specification says. */
export function ostlerPaths(env: NodeJS.ProcessEnv): Paths {
  const home = homeFolder(env);
  const one = env["OSTLER_HOME"] ? resolve(env["OSTLER_HOME"]) : undefined;
  const xdg = (name: string, fallback: string) => {
    const value = env[name];
    return join(value && isAbsolute(value) ? value : join(home, fallback), "ostler");
  };
  const data = one ?? xdg("XDG_DATA_HOME", ".local/share");
  return {
    configFile: join(one ?? xdg("XDG_CONFIG_HOME", ".config"), "config.json"),
    state: one ? join(one, "state") : xdg("XDG_STATE_HOME", ".local/state"),
    data,
    adapters: join(data, "adapters"),
  };
}

/** The user's home folder as this environment says it. */
export function homeFolder(env: NodeJS.ProcessEnv): string {
  return env["HOME"] || accountHome();
}

/** The home folder of the account; the root for a user id without an account, as containers have them. */
export function accountHome(): string {
  try {
    return homedir();
  } catch {
    return sep;
  }
}

/** Makes the state folder and closes it to everybody else. Throws the system's error. */
export function ensureStateFolder(paths: Paths): void {
  mkdirSync(paths.state, { recursive: true, mode: 0o700 });
  chmodSync(paths.state, 0o700);
}

/** A path for a person: `~` instead of the home folder. */
export function shortPath(path: string, env: NodeJS.ProcessEnv): string {
  const home = homeFolder(env);
  if (home === sep) return path;
  return path === home ? "~" : path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}
