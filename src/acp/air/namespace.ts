/** The `_meta.jetbrains.air` namespace of any ACP message (seed document 002, AIR metadata keys). Pure. */
import { isObject } from "../frames.ts";
import type { Frame } from "../frames.ts";

/** The version that Ostler declares, and the highest one that it reads. */
export const AIR_VERSION = 1;

/**
 * The object of the namespace, or undefined when there is none or its version is another one. A version that is missing
 * counts as ours: an update leaves out the keys that did not change, this one among them (recording claude-agent-acp
 * 0.101.0 compact-fail).
 */
export function readAir(meta: unknown): Frame | undefined {
  const jetbrains = isObject(meta) ? meta["jetbrains"] : undefined;
  const air = isObject(jetbrains) ? jetbrains["air"] : undefined;
  if (!isObject(air)) return undefined;
  const { version } = air;
  return version === undefined || version === AIR_VERSION ? air : undefined;
}

/** One payload of the namespace, as it came; undefined when it is not there. */
export function readAirField(meta: unknown, key: string): unknown {
  const air = readAir(meta);
  return air !== undefined && Object.hasOwn(air, key) ? air[key] : undefined;
}
