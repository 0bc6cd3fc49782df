/**
 * Whether what an agent declares about its own run is believed (failure observations, section 10): only when Ostler
 * started it confined, and says so both in the run and outside of it.
 */
import type { RunRegistry } from "./registry.ts";

/** `unknown`: what decides it cannot be read just now. */
export type Trust = "trusted" | "untrusted" | "unknown";

/** Reads metadata and provenance as they stand now. */
export function readTrust(registry: RunRegistry, id: string): Trust {
  const meta = registry.readMeta(id);
  if (typeof meta === "string") return "unknown";
  if (!meta.taskRuntime) return "untrusted";
  switch (registry.provenance.read(id)) {
    case "proved":
      return "trusted";
    case "absent":
      return "untrusted";
    case "unknown":
      return "unknown";
  }
}
