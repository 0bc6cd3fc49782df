import { cleanLine } from "../errors/redact.ts";
import { BUILT_IN_BACKENDS } from "./config-defaults.ts";
import type { Config } from "./config-defaults.ts";
import { nearestName } from "../errors/nearest-name.ts";
import { UsageError } from "./usage-error.ts";

/** Of a name that is none. */
const MAX_NAME_CHARS = 40;

/** Every backend that can be named: the built-in ones, then the configuration's own. */
export function backendNames(config: Pick<Config, "backends">): string[] {
  return [...new Set([...BUILT_IN_BACKENDS, ...Object.keys(config.backends)])];
}

/** Whether the name needs no `command` in the configuration. */
export function isBuiltIn(name: string): boolean {
  return (BUILT_IN_BACKENDS as readonly string[]).includes(name);
}

/** Throws {@link UsageError} with the name that was probably meant when there is no such backend. */
export function checkBackendName(config: Pick<Config, "backends">, name: string): void {
  const names = backendNames(config);
  if (names.includes(name)) return;
  const near = nearestName(name, names);
  const hint = near === undefined ? `there are ${names.join(", ")}` : `did you mean "${near}"?`;
  throw new UsageError(`No backend is called ${JSON.stringify(cleanLine(name, MAX_NAME_CHARS))} (${hint})`);
}
