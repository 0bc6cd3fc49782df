/** A backend from the config or from `--agent`: any ACP agent, with the wire habits of the profile it names. */
import type { Backend } from "../acp/ports.ts";
import type { Profile } from "../errors/failure.ts";
import { claudeBackend } from "./claude.ts";
import { codexBackend } from "./codex.ts";
import { genericHabits } from "./generic.ts";
import { kiroBackend } from "./kiro.ts";

const BY_PROFILE: Readonly<Record<Profile, Omit<Backend, "id" | "label">>> = {
  claude: claudeBackend,
  codex: codexBackend,
  kiro: kiroBackend,
  generic: genericHabits,
};

export function commandBackend(id: string, profile: Profile): Backend {
  const base = BY_PROFILE[profile];
  return { ...base, id, label: profile === "generic" ? `Agent "${id}"` : id };
}
