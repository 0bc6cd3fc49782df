/**
 * The demo agent: a real ACP agent on stdio that answers without any model, so that a newcomer can see the product work
 * and every outcome can be shown on request (`commands.ts`). This file is a program: it runs when it is loaded.
 */
import { Readable, Writable } from "node:stream";
import type { AgentContext, ContentBlock, PromptRequest, PromptResponse } from "@agentclientprotocol/sdk/unstable";
import { agent, ndJsonStream, RequestError } from "@agentclientprotocol/sdk/unstable";
import { COMMANDS, sceneFor } from "./commands.ts";
import { agentMeta, readAirPayload, readClientFeatures } from "./client-features.ts";
import { serveExtensions } from "./extensions.ts";
import { publishGoal } from "./goals.ts";
import type { DemoSession } from "./session.ts";
import { configOptions, createSession, describeSession, MODELS, MODES } from "./session.ts";
import { listSessions, loadSession, readSessionFolder, saveSession } from "./session-files.ts";
import { DemoTurn } from "./turn.ts";

const sessions = new Map<string, DemoSession>();
const folder = readSessionFolder(process.argv);
let features = readClientFeatures(undefined);

const demo = agent({ name: "ostler-demo" })
  .onRequest("initialize", ({ params }) => {
    features = readClientFeatures(params.clientCapabilities);
    return {
      protocolVersion: 1,
      agentInfo: { name: "ostler-demo", title: "Ostler demo agent", version: "1.0.0" },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, fork: {} },
      },
      authMethods: [],
      _meta: agentMeta(features),
    };
  })
  .onRequest("session/new", ({ params, client }) => {
    const session = createSession(params.cwd);
    sessions.set(session.id, session);
    advertiseCommands(client, session);
    return { sessionId: session.id, ...describeSession(session, features) };
  })
  .onRequest("session/load", async ({ params, client }) => {
    const session = sessionOf(params);
    for (const { from, text, id } of session.history) {
      const sessionUpdate = from === "user" ? "user_message_chunk" : "agent_message_chunk";
      await client.notify("session/update", {
        sessionId: session.id,
        update: { sessionUpdate, content: { type: "text", text }, ...(id !== undefined && { messageId: id }) },
      });
    }
    advertiseCommands(client, session);
    recallGoal(client, session);
    return describeSession(session, features);
  })
  .onRequest("session/resume", ({ params, client }) => {
    const session = sessionOf(params);
    advertiseCommands(client, session);
    recallGoal(client, session);
    return describeSession(session, features);
  })
  .onRequest("session/list", ({ params }) => ({
    sessions: [...sessions.values(), ...keptElsewhere()]
      .filter(({ cwd }) => params.cwd == null || params.cwd === cwd)
      .map(({ id, cwd, history, updatedAt }) => ({
        sessionId: id,
        cwd,
        title: history[0]?.text ?? null,
        updatedAt: updatedAt.toISOString(),
      })),
  }))
  .onRequest("session/close", ({ params }) => {
    const session = sessionOf(params);
    session.running?.abort();
    for (const stop of session.tasks.values()) stop();
    sessions.delete(params.sessionId);
    return {};
  })
  .onRequest("session/set_mode", ({ params }) => {
    if (!MODES.some(({ id }) => id === params.modeId))
      throw RequestError.invalidParams({ modeId: params.modeId }, "no such mode");
    sessionOf(params).modeId = params.modeId;
    return {};
  })
  .onRequest("session/set_config_option", ({ params }) => {
    const session = sessionOf(params);
    const model = MODELS.find(({ value }) => value === params.value);
    if (params.configId !== "model" || model === undefined)
      throw RequestError.invalidParams({ configId: params.configId, value: params.value }, "no such option or value");
    session.modelId = model.value;
    return { configOptions: configOptions(session, features) };
  })
  .onRequest("session/prompt", ({ params, client }) =>
    prompt(sessionOf(params), params.prompt, client, readAirPayload(params._meta, "agentFileChangeReportRequest")),
  )
  .onNotification("session/cancel", ({ params }) => sessions.get(params.sessionId)?.running?.abort());

serveExtensions(demo, {
  features: () => features,
  sessionOf: (sessionId) => sessionOf({ sessionId }),
  keep: (session) => {
    sessions.set(session.id, session);
    if (folder !== undefined) saveSession(folder, session);
  },
  startTurn: (session, text, client) => void prompt(session, [{ type: "text", text }], client).catch(() => {}),
});
const connection = demo.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

await connection.closed;
process.exit(0);

async function prompt(
  session: DemoSession,
  blocks: PromptRequest["prompt"],
  client: AgentContext,
  reportRequest?: unknown,
) {
  if (session.running !== undefined) throw RequestError.invalidRequest(undefined, "Prompt already in progress");
  const running = new AbortController();
  session.running = running;
  const text = blocks.map(textOf).join("\n").trim();
  const { scene, argument } = sceneFor(text);
  const turn = new DemoTurn({
    client,
    session,
    prompt: text,
    argument,
    attachments: blocks.filter(({ type }) => type !== "text").length,
    features,
    signal: running.signal,
  });
  try {
    const end = (await scene(turn)) ?? "end_turn";
    const response = typeof end === "string" ? { stopReason: end } : end;
    return { stopReason: "end_turn", usage: turn.usage, ...response } satisfies PromptResponse;
  } catch (error) {
    if (!running.signal.aborted) throw error;
    return { stopReason: "cancelled", usage: turn.usage } satisfies PromptResponse;
  } finally {
    if (features.air.has("agentFileChangeReport")) await turn.report(reportRequest);
    session.running = undefined;
    session.updatedAt = new Date();
    session.history.push({ from: "user", text }, { from: "agent", text: turn.text, id: turn.messageId });
    if (folder !== undefined) saveSession(folder, session);
  }
}

function sessionOf({ sessionId }: { readonly sessionId: string }): DemoSession {
  const session = sessions.get(sessionId) ?? (folder === undefined ? undefined : loadSession(folder, sessionId));
  if (session === undefined) throw RequestError.sessionNotFound(sessionId);
  sessions.set(sessionId, session);
  return session;
}

function keptElsewhere(): readonly DemoSession[] {
  return folder === undefined ? [] : listSessions(folder).filter(({ id }) => !sessions.has(id));
}

/** After the answer to the request at hand: a client cannot place an update of a session whose id it does not know yet. */
function advertiseCommands(client: AgentContext, { id }: DemoSession): void {
  setImmediate(() => {
    void client.notify("session/update", {
      sessionId: id,
      update: {
        sessionUpdate: "available_commands_update",
        availableCommands: COMMANDS.map(({ name, description, argument }) => ({
          name,
          description,
          input: argument === undefined ? null : { hint: argument },
        })),
      },
    });
  });
}

/** What became of the goal of an earlier process; after the answer to the request at hand, too. */
function recallGoal(client: AgentContext, session: DemoSession): void {
  if (features.isAir && session.goal !== null) setImmediate(() => void publishGoal(client, session));
}

function textOf(block: ContentBlock): string {
  return block.type === "text" ? block.text : "";
}
