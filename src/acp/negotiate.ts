/**
 * What is said before the first prompt: capabilities, and the requests that set mode, model and options. Reads the
 * answer leniently (kiro wire notes, section 4), because a field that is missing means "unknown".
 */
import type { Frame } from "./frames.ts";
import { airClientMeta, readAgentAir } from "./air/capabilities.ts";
import type { AgentAir } from "./air/capabilities.ts";
import { isObject } from "./frames.ts";
import { str } from "./normalize.ts";
import type { Backend } from "./ports.ts";
import { modelOption } from "./session-info.ts";
import type { SessionInfo } from "./session-info.ts";

/** The only ACP version Ostler speaks; codex-acp would also take draft 2. */
export const PROTOCOL_VERSION = 1;

/** Parameters of `initialize`. Nothing is declared that Ostler does not serve: no file system, no terminals, and `questions` only where a person can be asked. */
export function initializeParams(
  backend: Backend,
  version: string,
  { questions }: { readonly questions: boolean } = { questions: false },
): unknown {
  const meta = { ...(backend.air ? airClientMeta() : {}), ...backend.capabilityMeta };
  return {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "ostler", title: "Ostler", version },
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      // Only where somebody can answer: it reroutes kiro's questions (wire notes, section 3).
      ...(questions ? { elicitation: { form: {} } } : {}),
      // Without AIR an agent is to behave as with a plain client.
      ...(backend.air ? { subagents: {} } : {}),
      ...declaredSession(backend),
      ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
    },
  };
}

/** What of a session's updates is shown here (ACP session notices and session compaction). */
function declaredSession({ notices, compaction }: Backend): { readonly session?: object } {
  const session = { ...(compaction ? { compaction: {} } : {}), ...(notices ? { notices: {} } : {}) };
  return Object.keys(session).length === 0 ? {} : { session };
}

/** What an agent said in `initialize` that it can do. Not said = cannot. */
export interface AgentCapabilities {
  /** `session/load`: a session of an earlier process, its updates replayed. */
  readonly load: boolean;
  /** `session/resume`: the same without the replay. */
  readonly resume: boolean;
  /** `session/close`. */
  readonly close: boolean;
  /** `session/fork`. */
  readonly fork: boolean;
  /** `session/list`. */
  readonly list: boolean;
  /** Tells of subagents as sessions of their own. */
  readonly subagents: boolean;
  readonly air: AgentAir;
  /** Takes MCP servers over HTTP; those on stdio every agent has to take. */
  readonly mcpHttp: boolean;
  /** Takes images in a prompt. */
  readonly image: boolean;
  /** Takes the text of files in a prompt; undefined = not said, and most agents do. */
  readonly embeddedContext: boolean | undefined;
}

/** Reads the result of `initialize`, leniently: what is missing or of a wrong type was not said. */
export function readAgentCapabilities(result: unknown): AgentCapabilities {
  const agent = objectAt(result, "agentCapabilities");
  const sessions = objectAt(agent, "sessionCapabilities");
  const prompts = objectAt(agent, "promptCapabilities");
  const { embeddedContext } = prompts;
  return {
    load: agent["loadSession"] === true,
    resume: isObject(sessions["resume"]),
    close: isObject(sessions["close"]),
    fork: isObject(sessions["fork"]),
    list: isObject(sessions["list"]),
    subagents: isObject(sessions["subagents"]),
    air: readAgentAir(isObject(result) ? result : {}),
    mcpHttp: objectAt(agent, "mcpCapabilities")["http"] === true,
    image: prompts["image"] === true,
    embeddedContext: typeof embeddedContext === "boolean" ? embeddedContext : undefined,
  };
}

/** A way to sign in that an agent offers. */
export interface AuthMethod {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** What to run in a terminal to sign in so (`_meta["terminal-auth"]`); the others are asked for by `authenticate`. */
  readonly terminal?: { readonly command: string; readonly args: readonly string[]; readonly label?: string };
}

/** What an agent said of itself in `initialize`. */
export interface Handshake {
  readonly agent: { readonly name: string; readonly version: string } | null;
  readonly authMethods: readonly AuthMethod[];
  readonly capabilities: AgentCapabilities;
}

/** Reads the result of `initialize`, whatever it is; the protocol version is not looked at. */
export function readHandshake(result: unknown): Handshake {
  const info = objectAt(result, "agentInfo");
  const name = str(info["name"]);
  const methods =
    isObject(result) && Array.isArray(result["authMethods"]) ? result["authMethods"].filter(isObject) : [];
  return {
    agent: name === undefined ? null : { name: str(info["title"]) ?? name, version: str(info["version"]) ?? "" },
    authMethods: methods.map(readAuthMethod),
    capabilities: readAgentCapabilities(result),
  };
}

function readAuthMethod(method: Frame): AuthMethod {
  const description = str(method["description"]);
  const terminal = readTerminalLogin(objectAt(method, "_meta")["terminal-auth"]);
  return {
    id: str(method["id"]) ?? "",
    name: str(method["name"]) ?? "",
    ...(description !== undefined && { description }),
    ...(terminal !== undefined && { terminal }),
  };
}

/** A command that is not whole is none. */
function readTerminalLogin(login: unknown): AuthMethod["terminal"] {
  if (!isObject(login)) return undefined;
  const command = str(login["command"]);
  const args: unknown = login["args"] ?? [];
  const label = str(login["label"]);
  const isList = Array.isArray(args) && args.every((word): word is string => typeof word === "string");
  if (command === undefined || command === "" || !isList) return undefined;
  return { command, args, ...(label !== undefined && { label }) };
}

/** The request that sets a mode, model or option, or undefined when this session has no such thing. */
export interface Setting {
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * The option of category `model` (claude and kiro V3 know no other way), else the draft method: kiro v2 has no such
 * option, and codex lists `id[effort]` pairs that its option does not hold.
 */
export function modelSetting(info: SessionInfo, model: string): Setting {
  const option = modelOption(info.options);
  if (option !== undefined && (option.values.includes(model) || info.models.length === 0))
    return { method: "session/set_config_option", params: { configId: option.id, value: model } };
  return { method: "session/set_model", params: { modelId: model } };
}

export function modeSetting(mode: string): Setting {
  return { method: "session/set_mode", params: { modeId: mode } };
}

export function optionSetting(configId: string, value: string): Setting {
  return { method: "session/set_config_option", params: { configId, value } };
}

function objectAt(parent: unknown, key: string): Frame {
  const value = isObject(parent) ? parent[key] : undefined;
  return isObject(value) ? value : {};
}
