/**
 * What is said before the first prompt: capabilities, and the mode, model and options of a session. Reads the answers
 * leniently (kiro wire notes, section 4: spellings and absences), because a field that is missing means "unknown".
 */
import type { Frame } from "./frames.ts";
import { airClientMeta, readAgentAir } from "./air/capabilities.ts";
import type { AgentAir } from "./air/capabilities.ts";
import { isObject } from "./frames.ts";
import { str } from "./normalize.ts";
import type { AdvertisedModes, Backend } from "./ports.ts";

/** The only ACP version Ostler speaks; codex-acp would also take draft 2. */
export const PROTOCOL_VERSION = 1;

/** Parameters of `initialize`. Nothing is declared that Ostler does not serve: no file system, no terminals. */
export function initializeParams(backend: Backend, version: string): unknown {
  const meta = { ...(backend.air ? airClientMeta() : {}), ...backend.capabilityMeta };
  return {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "ostler", title: "Ostler", version },
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      ...(backend.notices ? { session: { notices: {} } } : {}),
      ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
    },
  };
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
    image: prompts["image"] === true,
    embeddedContext: typeof embeddedContext === "boolean" ? embeddedContext : undefined,
  };
}

/** What an agent said of itself in `initialize`. */
export interface Handshake {
  readonly agent: { readonly name: string; readonly version: string } | null;
  readonly authMethods: readonly { readonly id: string; readonly name: string }[];
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
    authMethods: methods.map((method) => ({ id: str(method["id"]) ?? "", name: str(method["name"]) ?? "" })),
    capabilities: readAgentCapabilities(result),
  };
}

/** One select option of a session (`configOptions`), flattened from its groups. */
export interface ConfigOption {
  readonly id: string;
  readonly category: string;
  readonly current: string | undefined;
  readonly values: readonly string[];
}

/** What `session/new` and `session/load` say about a session. */
export interface SessionInfo {
  readonly modes: AdvertisedModes | undefined;
  readonly models: readonly string[];
  readonly currentModel: string | undefined;
  readonly options: readonly ConfigOption[];
}

export function readSessionInfo(result: Frame): SessionInfo {
  const options = Array.isArray(result["configOptions"])
    ? result["configOptions"].filter(isObject).flatMap(readOption)
    : [];
  const option = modelOption(options);
  const listed = isObject(result["models"]) ? result["models"] : undefined;
  const models = ids(listed?.["availableModels"], ["modelId", "id"]);
  return {
    modes: readModes(result["modes"], options),
    models: models.length > 0 ? models : (option?.values ?? []),
    currentModel: str(listed?.["currentModelId"]) ?? option?.current,
    options,
  };
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

/** Every model id a person may type: the listed ones and the values of the model option (codex lists `id[effort]` pairs). */
export function knownModels(info: SessionInfo): readonly string[] {
  const option = modelOption(info.options);
  return [...new Set([...(option?.values ?? []), ...info.models])];
}

function objectAt(parent: unknown, key: string): Frame {
  const value = isObject(parent) ? parent[key] : undefined;
  return isObject(value) ? value : {};
}

function modelOption(options: readonly ConfigOption[]): ConfigOption | undefined {
  return options.find(({ id, category }) => category === "model" || id === "model");
}

function readModes(modes: unknown, options: readonly ConfigOption[]): AdvertisedModes | undefined {
  if (isObject(modes)) {
    return {
      current: str(modes["currentModeId"]) ?? null,
      available: ids(modes["availableModes"], ["id", "modeId", "value"]),
    };
  }
  const option = options.find(({ id, category }) => category === "mode" || id === "mode");
  return option === undefined ? undefined : { current: option.current ?? null, available: option.values };
}

function readOption(option: Frame): ConfigOption[] {
  const id = str(option["id"]);
  if (id === undefined) return [];
  const entries = Array.isArray(option["options"]) ? option["options"].filter(isObject) : [];
  const flat = entries.flatMap((entry) =>
    Array.isArray(entry["options"]) ? entry["options"].filter(isObject) : [entry],
  );
  return [
    {
      id,
      category: str(option["category"]) ?? "",
      current: str(option["currentValue"]),
      values: ids(flat, ["value", "id"]),
    },
  ];
}

function ids(list: unknown, keys: readonly string[]): string[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).flatMap((entry) => {
    const id = keys.map((key) => str(entry[key])).find((value) => value !== undefined);
    return id === undefined ? [] : [id];
  });
}
