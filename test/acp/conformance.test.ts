import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { isObject } from "../../src/acp/frames.ts";
import type { CommandLine } from "../../src/acp/ports.ts";
import { createRuntime } from "../../src/acp/runtime.ts";
import { backendFor } from "../../src/backends/registry.ts";
import { agentCommand, chunk, end, permission, thought, tool, toolUpdate, turns } from "../fixtures/agents/scenario.ts";

/** What a client made of one turn. */
interface Seen {
  readonly text: string;
  readonly tools: readonly string[];
  readonly stopReason: string | null;
}

/** The client of the ACP SDK: the reference for what our own framing and peer must come to. */
async function throughSdk({ file, args }: CommandLine): Promise<Seen> {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  const seen = { text: "", tools: [] as string[] };
  const stopReason: string = await client({ name: "reference" })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        seen.text += update.content.text;
      if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") {
        seen.tools.push(`${update.toolCallId} ${update.status}`);
      }
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => ({
      outcome: { outcome: "selected" as const, optionId: params.options[0]!.optionId },
    }))
    .connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
      await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
      const prompt = [{ type: "text" as const, text: "hello" }];
      const answer = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
      return isObject(answer) ? String(answer["stopReason"]) : "";
    });
  child.stdin.end();
  await exited;
  return { ...seen, stopReason };
}

async function throughOstler(command: CommandLine): Promise<Seen> {
  await using runtime = await createRuntime({
    backend: backendFor("reference"),
    command,
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
    permissions: async ({ options }) => ({ action: "select", optionId: options[0]!.optionId, denied: false }),
  });
  const session = await runtime.openSession({ cwd: "/" });
  const turn = session.prompt("hello");
  const tools: string[] = [];
  for await (const event of turn.events) if (event.type === "tool") tools.push(`${event.toolCallId} ${event.status}`);
  const { text, stopReason } = await turn.outcome;
  return { text, tools, stopReason };
}

test.each([
  { from: "text in pieces", steps: [chunk("Hel"), chunk("lo"), end()], text: "Hello", tools: [] as string[] },
  { from: "a thought is no text", steps: [thought("hm"), chunk("yes"), end()], text: "yes", tools: [] },
  {
    from: "a tool with a permission question",
    steps: [tool("t1"), permission("t1"), toolUpdate("t1", { status: "completed" }), chunk("done"), end()],
    text: "done",
    tools: ["t1 pending", "t1 completed"],
  },
  { from: "cut by its length", steps: [chunk("long"), end("max_tokens")], text: "long", tools: [] },
])("$from: the SDK's client and ours see the same", async ({ steps, text, tools }) => {
  const command = agentCommand(turns(steps));
  const [reference, ours] = [await throughSdk(command), await throughOstler(command)];
  expect(reference).toMatchObject({ text, tools });
  expect(ours).toEqual(reference);
});
