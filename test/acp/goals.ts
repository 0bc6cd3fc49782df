/** Scripted agents that have goals and take steering: what they advertise and tell, as the recordings have it. */
import type { Action, Json, Scenario } from "../fixtures/agents/scenario.ts";
import { update } from "../fixtures/agents/scenario.ts";

/** What codex-acp 2.6.0 advertises (recording goal); claude-agent-acp has `set` and `clear` alone. */
export function advertised(
  actions: readonly string[] = ["set", "pause", "resume", "clear"],
  steering = true,
): NonNullable<Scenario["initializeResult"]> {
  return {
    _meta: {
      steering: { supported: steering },
      jetbrains: {
        air: { version: 1, capabilities: [], goal: { version: 1, controlMethod: "_session/goal", actions } },
      },
    },
  };
}

export const ACTIVE = { objective: "Ship it", status: "active" };

/** A snapshot as an update. */
export const goal = (value: Json): Action =>
  update({ sessionUpdate: "session_info_update", _meta: { jetbrains: { air: { version: 1, goal: value } } } });

/** codex says whether it works: `active`, `idle`, `systemError`. */
export const status = (type: string): Action =>
  update({ sessionUpdate: "session_info_update", _meta: { codex: { threadStatus: { type } } } });
