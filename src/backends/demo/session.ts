/** Sessions of the demo agent. They live in the memory of its process; `session-files.ts` keeps what was said. */
import { randomUUID } from "node:crypto";
import type { NewSessionResponse, SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk/unstable";
import { airMeta } from "./client-features.ts";
import type { ClientFeatures } from "./client-features.ts";

/** `ask` asks before a tool acts; `auto` does not. */
export const MODES = [
  { id: "ask", name: "Ask", description: "Asks before it acts", kind: "standard" },
  { id: "auto", name: "Auto", description: "Acts without asking", kind: "full_access" },
] as const;

/** What the model option offers. */
export const MODELS = [
  { value: "demo-small", name: "Demo small", description: "Says what it was asked" },
  { value: "demo-large", name: "Demo large", description: "Says the same, under a longer name" },
] as const;

/** One message; those of the agent have an id, at which a session can be forked. */
export interface DemoMessage {
  readonly from: "user" | "agent";
  readonly text: string;
  readonly id?: string | undefined;
}

/** A goal as the AIR extension publishes it. */
export interface DemoGoal {
  readonly objective: string;
  readonly status: "active" | "paused" | "complete";
  readonly iterations?: number;
  readonly createdAt: number;
  readonly controlMethod: string;
}

/** One conversation: what it may do, what was said, and the turn that runs in it. */
export interface DemoSession {
  readonly id: string;
  readonly cwd: string;
  readonly history: DemoMessage[];
  /** Titles that were answered with an `always` option. */
  readonly alwaysAllowed: Set<string>;
  readonly alwaysRejected: Set<string>;
  /** Background tasks that run, each with what stops it. */
  readonly tasks: Map<string, () => void>;
  /** Requests for a list of changed files that were answered. */
  readonly reportIds: Set<string>;
  goal: DemoGoal | null;
  /** What a person said into the running turn. */
  readonly steering: string[];
  modeId: string;
  modelId: string;
  updatedAt: Date;
  /** Cancels the turn that is running. */
  running?: AbortController | undefined;
}

/** A fresh session in the mode that asks. */
export function createSession(cwd: string): DemoSession {
  return {
    id: randomUUID(),
    cwd,
    history: [],
    alwaysAllowed: new Set(),
    alwaysRejected: new Set(),
    tasks: new Map(),
    reportIds: new Set(),
    goal: null,
    steering: [],
    modeId: MODES[0].id,
    modelId: MODELS[0].value,
    updatedAt: new Date(),
  };
}

/** What `session/new`, `load` and `resume` answer about a session. */
export function describeSession(
  session: DemoSession,
  features: ClientFeatures,
): Pick<NewSessionResponse, "modes" | "configOptions"> {
  const availableModes = MODES.map(({ kind, ...mode }) => ({
    ...mode,
    ...(features.isAir && { _meta: airMeta({ kind }) }),
  }));
  const modes: SessionModeState = { currentModeId: session.modeId, availableModes };
  return { modes, configOptions: configOptions(session, features) };
}

/** The options of a session with their current values. */
export function configOptions(session: DemoSession, { air }: ClientFeatures): SessionConfigOption[] {
  return [
    {
      id: "model",
      name: "Model",
      category: "model",
      type: "select",
      currentValue: session.modelId,
      options: [...MODELS],
      ...(air.has("recommendedValue") && { _meta: airMeta({ recommendedValue: MODELS[0].value }) }),
    },
  ];
}
