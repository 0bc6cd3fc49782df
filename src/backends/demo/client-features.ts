/** What the client at the other end declared, and what the demo agent declares: the AIR extension from the agent's side. */

const AIR_VERSION = 1;
/** Methods of the extension that the demo agent serves. */
export const GOAL_METHOD = "_session/goal";
export const STEERING_METHOD = "_session/steering";
export const STOP_TASK_METHOD = "_session/async_task/stop";
export const GOAL_ACTIONS = ["set", "pause", "resume", "clear"] as const;

const AGENT_AIR = {
  capabilities: [
    "sessionFailure",
    "diffPatch",
    "planFile",
    "asyncTasks",
    "agentFileChangeReport",
    "nativeSubagentSessions",
    "recommendedValue",
  ],
  goal: { version: AIR_VERSION, controlMethod: GOAL_METHOD, actions: GOAL_ACTIONS },
};

/** What a client can read and answer. */
export interface ClientFeatures {
  /** The client declared the AIR extension, whatever names it gave. */
  readonly isAir: boolean;
  /** Names of the AIR extension. */
  readonly air: ReadonlySet<string>;
  /** Child sessions, by either way to declare them. */
  readonly subagents: boolean;
  /** Questions as forms. */
  readonly forms: boolean;
  /** Compactions as updates of their own. */
  readonly compaction: boolean;
}

/** Reads `clientCapabilities`: a malformed declaration enables nothing. */
export function readClientFeatures(capabilities: unknown): ClientFeatures {
  const declared = property(property(property(capabilities, "_meta"), "jetbrains"), "air");
  const version = property(declared, "version");
  const names = property(declared, "capabilities");
  const isAir = Number.isInteger(version) && Number(version) >= AIR_VERSION && Array.isArray(names);
  const air = new Set(isAir ? names.filter((name): name is string => typeof name === "string") : []);
  return {
    isAir,
    air,
    subagents: isObject(property(capabilities, "subagents")) || air.has("nativeSubagentSessions"),
    forms: isObject(property(property(capabilities, "elicitation"), "form")),
    compaction: isObject(property(property(capabilities, "session"), "compaction")),
  };
}

/** `_meta` of the initialize result: what the demo agent can send and takes. */
export function agentMeta({ isAir }: ClientFeatures): Readonly<Record<string, unknown>> {
  return { ...(isAir ? airMeta(AGENT_AIR) : {}), steering: { supported: true } };
}

/** One payload of the AIR namespace as `_meta`. */
export function airMeta(payload: Readonly<Record<string, unknown>>) {
  return { jetbrains: { air: { version: AIR_VERSION, ...payload } } };
}

/** A payload that the client sent; undefined when there is none. */
export function readAirPayload(meta: unknown, key: string): unknown {
  return property(property(property(meta, "jetbrains"), "air"), key);
}

export function property(value: unknown, key: string): unknown {
  return isObject(value) ? Reflect.get(value, key) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
