/** Backends by id. */
import type { Backend } from "../acp/ports.ts";
import type { Profile } from "../errors/failure.ts";
import { claudeBackend } from "./claude.ts";
import { codexBackend } from "./codex.ts";
import { commandBackend } from "./command.ts";
import { demoBackend } from "./demo.ts";
import { kiroBackend } from "./kiro.ts";

/** The backends that Ostler knows without a config. Which of them is taken unasked: `host/choose-backend.ts`. */
export const KNOWN_BACKENDS: Readonly<Record<string, Backend>> = {
  claude: claudeBackend,
  codex: codexBackend,
  kiro: kiroBackend,
  demo: demoBackend,
};

/** The wire part of a backend's settings in the config. */
export interface BackendHabits {
  readonly profile?: Profile;
  readonly air?: boolean;
  readonly notices?: boolean;
  readonly terminalOutput?: boolean;
}

/** The backend of that id: a known one, or the config's own name as any ACP agent with its profile. */
export function backendFor(
  id: string,
  { profile, air = true, notices = false, terminalOutput = true }: BackendHabits = {},
): Backend {
  const known = Object.hasOwn(KNOWN_BACKENDS, id) && profile === undefined ? KNOWN_BACKENDS[id] : undefined;
  const backend = known ?? commandBackend(id, profile ?? "generic");
  return { ...backend, air, notices, ...(terminalOutput ? {} : { capabilityMeta: {} }) };
}
