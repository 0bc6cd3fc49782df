/** The requests of the AIR extension, and forks: what a client may ask of a session beside prompts. */
import { createHash, randomUUID } from "node:crypto";
import type { AgentApp, AgentContext } from "@agentclientprotocol/sdk/unstable";
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { GOAL_METHOD, STEERING_METHOD, STOP_TASK_METHOD, property, readAirPayload } from "./client-features.ts";
import type { ClientFeatures } from "./client-features.ts";
import { pursueGoal, readGoalRequest } from "./goals.ts";
import { createSession, describeSession } from "./session.ts";
import type { DemoMessage, DemoSession } from "./session.ts";
import { stopTask } from "./tasks.ts";

/** What the requests need of the agent. */
export interface Sessions {
  /** What the client declared. */
  readonly features: () => ClientFeatures;
  /** Throws `sessionNotFound`. */
  readonly sessionOf: (sessionId: string) => DemoSession;
  /** Makes it known here, and to later processes. */
  readonly keep: (session: DemoSession) => void;
  /** A turn that no prompt asked for. */
  readonly startTurn: (session: DemoSession, text: string, client: AgentContext) => void;
}

export function serveExtensions(agent: AgentApp, { features, sessionOf, keep, startTurn }: Sessions): void {
  const named = (params: unknown): DemoSession => sessionOf(String(property(params, "sessionId")));
  const asIs = { parse: (params: unknown) => params };
  agent.onRequest(GOAL_METHOD, asIs, async ({ params, client }) => {
    if (!features().isAir) throw RequestError.methodNotFound(GOAL_METHOD);
    const session = named(params);
    const messageId = randomUUID();
    const say = (text: string): Promise<void> =>
      client.notify("session/update", {
        sessionId: session.id,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text }, messageId },
      });
    await pursueGoal({ client, session, say, keep: () => keep(session) }, readGoalRequest(params));
    return {};
  });
  agent.onRequest(STEERING_METHOD, asIs, ({ params, client }) => {
    const session = named(params);
    const text = readText(property(params, "prompt"));
    if (session.running !== undefined) {
      session.steering.push(text);
      return { outcome: "injected" };
    }
    if (property(property(property(params, "_meta"), "steering"), "idleBehavior") === "promptRequired") {
      return { outcome: "promptRequired", reason: "noRunningTurn" };
    }
    startTurn(session, text, client);
    return { outcome: "startedNewTurn" };
  });
  agent.onRequest(STOP_TASK_METHOD, asIs, ({ params }) => ({
    stopped: stopTask(named(params), property(params, "asyncTaskId")),
  }));
  agent.onRequest("session/fork", ({ params }) => {
    const { history, modeId, modelId } = sessionOf(params.sessionId);
    const kept = upTo(history, readAirPayload(params._meta, "fork"));
    const fork = { ...createSession(params.cwd), history: [...kept], modeId, modelId };
    keep(fork);
    return { sessionId: fork.id, ...describeSession(fork, features()) };
  });
}

/** The history up to the message that the fork point names; all of it without one. Throws `invalidParams`. */
function upTo(history: readonly DemoMessage[], point: unknown): readonly DemoMessage[] {
  const messageId = property(point, "messageId");
  if (property(point, "version") !== 1 || typeof messageId !== "string" || messageId.trim() === "") return history;
  const plainId = messageId.replace(/:segment:\d+$/, "");
  const fingerprint = property(point, "messageFingerprint");
  const occurrence = Number(property(point, "messageOccurrence") ?? 1);
  const equal = history.filter(({ from, text }) => from === "agent" && fingerprintOf(text) === fingerprint);
  const found = history.find(({ id }) => id === plainId) ?? (equal.length === 1 ? equal[0] : equal[occurrence - 1]);
  if (found === undefined) throw RequestError.invalidParams({ messageId }, "no message has this id");
  return history.slice(0, history.indexOf(found) + 1);
}

function fingerprintOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function readText(blocks: unknown): string {
  const texts = Array.isArray(blocks) ? blocks.map((block: unknown) => property(block, "text")) : [];
  return texts.filter((text) => typeof text === "string").join("\n");
}
