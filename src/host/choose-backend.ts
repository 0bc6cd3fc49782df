import type { Config } from "./config-defaults.ts";
import { installCommand } from "./resolve.ts";

/** The order in which an installed harness is looked for. */
export const AUTO_BACKENDS = ["claude", "codex", "kiro"] as const;

/** The backend of a call that names none, or why there is none (exit code 9). */
export type BackendChoice = { readonly backend: string; readonly notice?: string } | { readonly none: string };

/**
 * Picks the backend when none was named: the config's, else the first one installed. With none installed a person at a
 * terminal gets the demo agent and is told so; a script must not take its canned answers for real ones.
 */
export function chooseBackend(options: {
  readonly config: Pick<Config, "defaultBackend">;
  readonly isTty: boolean;
  readonly isInstalled: (backend: string) => boolean;
}): BackendChoice {
  const { config, isTty, isInstalled } = options;
  const backend = config.defaultBackend ?? AUTO_BACKENDS.find(isInstalled);
  if (backend !== undefined) return { backend };
  const commands = AUTO_BACKENDS.map((name) => `${name} (${installCommand(name) ?? ""})`).join(", ");
  if (!isTty) return { none: `No agent is installed. Install one of these: ${commands}` };
  return {
    backend: "demo",
    notice: `No agent is installed, so the built-in demo agent answers, without any model. Real ones to install: ${commands}`,
  };
}
