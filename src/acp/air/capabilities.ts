/** What Ostler declares of the AIR extension, and what an agent says of it (seed document 002, Negotiation). Pure. */
import { isObject } from "../frames.ts";
import type { Frame } from "../frames.ts";
import { AIR_VERSION, readAir } from "./namespace.ts";

/** Declared because handled: a name stands here only with the code that reads what it turns on. */
export const CLIENT_AIR_CAPABILITIES: readonly string[] = Object.freeze([
  "sessionFailure",
  "recommendedValue",
  "diffPatch",
  "planFile",
  "planContentDelta",
  "agentFileChangeReport",
  "asyncTasks",
  "nativeSubagentSessions",
  "rawInputRendering",
]);

/** The `_meta` of `initialize.clientCapabilities`. */
export function airClientMeta(): Readonly<Record<string, unknown>> {
  return { jetbrains: { air: { version: AIR_VERSION, capabilities: CLIENT_AIR_CAPABILITIES } } };
}

/** What an agent advertises. Not said = cannot. */
export interface AgentAir {
  readonly capabilities: ReadonlySet<string>;
  /** What `_session/goal` takes of `set`, `pause`, `resume` and `clear`; empty = no goals. */
  readonly goalActions: ReadonlySet<string>;
  /** `_session/steering` reaches a running turn. */
  readonly steering: boolean;
}

/** Reads the result of `initialize`, leniently: what is missing or of a wrong type was not said. */
export function readAgentAir(result: Frame): AgentAir {
  const { _meta: meta } = result;
  const air = readAir(meta) ?? {};
  const goal = isObject(air["goal"]) ? air["goal"] : {};
  const steering = isObject(meta) && isObject(meta["steering"]) ? meta["steering"] : {};
  return {
    capabilities: words(air["capabilities"]),
    goalActions: goal["version"] === AIR_VERSION ? words(goal["actions"]) : new Set(),
    steering: steering["supported"] === true,
  };
}

function words(list: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(list) ? list.filter((word): word is string => typeof word === "string") : []);
}
