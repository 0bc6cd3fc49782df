/** Scripted agents that have goals and take steering: what they advertise and tell, as the recordings have it. */
import { onTestFinished } from "vitest";
import type { SessionEvent } from "../../src/acp/events.ts";
import type { Session } from "../../src/acp/session-link.ts";
import type { Action, Json, Scenario } from "../fixtures/agents/scenario.ts";
import { logOf, update } from "../fixtures/agents/scenario.ts";
import { start } from "./drive.ts";
import type { StartOptions, Started } from "./drive.ts";

type Advertised = NonNullable<Scenario["initializeResult"]>;

/** What codex-acp 2.6.0 advertises (recording goal); claude-agent-acp has `set` and `clear` alone. */
export function advertised(
  actions: readonly string[] = ["set", "pause", "resume", "clear"],
  steering = true,
): Advertised {
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

/** A running agent, a session of it, and what that tells. */
export interface Opened {
  readonly agent: Started;
  readonly session: Session;
  readonly told: SessionEvent[];
}

/** Starts an agent that has goals and takes steering; it is stopped when the test is over. */
export async function opened(
  on: NonNullable<Scenario["on"]>,
  { advertises = advertised(), ...options }: StartOptions & { readonly advertises?: Advertised } = {},
): Promise<Opened> {
  const agent = await start({ on, initializeResult: advertises }, { profile: "codex", ...options });
  onTestFinished(() => agent[Symbol.asyncDispose]());
  const session = await agent.open();
  const told: SessionEvent[] = [];
  session.subscribe((event) => told.push(event));
  return { agent, session, told };
}

/** Resolves with the first event that fits, told before or from now on. */
export async function heard(
  { session, told }: Pick<Opened, "session" | "told">,
  fits: (event: SessionEvent) => boolean,
): Promise<void> {
  if (told.some(fits)) return;
  await new Promise<void>((resolve) => {
    const end = session.subscribe((event) => {
      if (!fits(event)) return;
      end();
      resolve();
    });
  });
}

export const isTurn =
  (state: "started" | "ended", whose: "turn" | "none" = "none") =>
  ({ turnId, event }: SessionEvent): boolean =>
    event.type === "turn" && event.state === state && (turnId === null) === (whose === "none");

/** One word and the point of each event: `none started`, `turn text Hello`; `none` = of no turn. */
export function inShort(told: readonly SessionEvent[]): string[] {
  return told.map(({ turnId, late, event }) => {
    const whose = `${turnId === null ? "none" : "turn"}${late === true ? " late" : ""}`;
    switch (event.type) {
      case "turn":
        return `${whose} ${event.state}${event.state === "ended" ? ` ${event.outcome.kind}` : ""}`;
      case "text":
        return `${whose} text ${event.superseded === true ? "superseded" : event.text}`;
      case "user":
      case "notice":
        return `${whose} ${event.type} ${event.text}`;
      case "goal":
        return `${whose} goal ${event.goal?.status ?? "null"}`;
      case "failure":
      case "warning":
        return `${whose} ${event.type} ${event.failure.title}`;
      case "permission":
        return `${whose} permission ${event.answer?.denied === true ? "denied" : "allowed"}`;
      default:
        return `${whose} ${event.type}`;
    }
  });
}

/** The params of the requests of one method that reached the agent. */
export function requestsIn({ agent }: Opened, method: string): unknown[] {
  return logOf(agent.log).flatMap(({ frame }) => (frame?.method === method ? [frame.params] : []));
}
