/** Which agent is meant, by name, by command line or by default, and which program that is. */
import { startError } from "../acp/death.ts";
import { plainVerdict } from "../acp/make-failure.ts";
import type { CommandLine } from "../acp/ports.ts";
import type { Profile } from "../errors/failure.ts";
import { checkBackendName, isBuiltIn } from "./backend-names.ts";
import { chooseBackend } from "./choose-backend.ts";
import { splitCommandLine } from "./command-line.ts";
import { backendSettings } from "./config-defaults.ts";
import type { BackendSettings, Config } from "./config-defaults.ts";
import type { Paths } from "./paths.ts";
import { profileOfCommand } from "./profile.ts";
import { resolveCommand } from "./resolve.ts";
import type { Resolution } from "./resolve.ts";
import { UsageError } from "./usage-error.ts";

/** The name of an agent that was given as a command line. */
const AD_HOC = "agent";

/** Which agent somebody wants. */
export interface AgentWish {
  /** A name; absent = the configuration's default, else the first one installed. */
  readonly backend?: string | undefined;
  /** Instead of a name: the command line of any ACP agent. */
  readonly agent?: string | undefined;
  /** Whose wire habits `agent` has. Default: by the name of its program, else `generic`. */
  readonly profile?: Profile | undefined;
  /** A person is watching: with no agent installed the demo answers instead of an error. Default false. */
  readonly isTty?: boolean | undefined;
}

/** Where it is looked for. */
export interface AgentPlace {
  readonly config: Config;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly paths: Paths;
}

/** What an agent is, before its program is looked up. */
export interface SelectedAgent {
  readonly backend: string;
  readonly settings: BackendSettings;
  /** It was given as a command line. */
  readonly isAdHoc: boolean;
  /** What the person should know about the choice. */
  readonly notice?: string;
}

/**
 * Throws UsageError for an unknown backend or an unreadable command line, an error of kind `agent_spawn` when nothing was
 * named and nothing is installed.
 */
export function selectAgent(wish: AgentWish, place: AgentPlace): SelectedAgent {
  const { backend, agent, profile, isTty = false } = wish;
  const { config } = place;
  if (agent !== undefined) {
    if (backend !== undefined) throw new UsageError("Either a backend or the command line of an agent, not both");
    return { backend: AD_HOC, isAdHoc: true, settings: settingsOf(AD_HOC, config, profile, splitCommandLine(agent)) };
  }
  if (backend !== undefined) {
    checkBackendName(config, backend);
    return { backend, isAdHoc: false, settings: settingsOf(backend, config, profile) };
  }
  const isInstalled = (name: string) => "found" in lookUp(name, backendSettings(config, name).command, place);
  const choice = chooseBackend({ config, isTty, isInstalled });
  if ("none" in choice) throw notInstalled(choice.none);
  return { ...choice, isAdHoc: false, settings: settingsOf(choice.backend, config, profile) };
}

/** The program of an agent, and the file that it is. Throws an error of kind `agent_spawn`. */
export function findProgram(
  { backend, settings }: SelectedAgent,
  place: AgentPlace,
): { readonly command: CommandLine; readonly at: string } {
  const resolution = lookUp(backend, settings.command, place);
  if ("found" in resolution) return { command: resolution.found, at: resolution.at };
  const { sentence, details } = resolution.missing;
  throw notInstalled(sentence, details);
}

function settingsOf(
  name: string,
  config: Config,
  profile: Profile | undefined,
  command?: readonly string[],
): BackendSettings {
  const settings = backendSettings(config, command === undefined ? name : "");
  const started = command ?? settings.command;
  const habits = profile ?? settings.profile ?? (isBuiltIn(name) ? undefined : profileOfCommand(started ?? []));
  return {
    ...settings,
    ...(started !== undefined && { command: started }),
    ...(habits !== undefined && { profile: habits }),
  };
}

function lookUp(backend: string, command: readonly string[] | undefined, place: AgentPlace): Resolution {
  const { cwd, env, paths } = place;
  return resolveCommand({
    backend,
    adHoc: backend === AD_HOC,
    ...(command !== undefined && { command }),
    cwd,
    env,
    paths,
  });
}

/** The failure of a program that is not there: the same kind, and so the same exit code, as one that will not start. */
function notInstalled(title: string, details?: string): Error {
  const verdict = plainVerdict("agent_spawn", "not-installed");
  return startError({ verdict, source: "spawn", title, ...(details !== undefined && { details }) }, undefined);
}
