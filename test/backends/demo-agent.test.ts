import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/backends/demo/commands.ts";
import type { RawSession } from "../fixtures/agents/raw-client.ts";
import { RawClient } from "../fixtures/agents/raw-client.ts";
import type { Json } from "../fixtures/agents/scenario.ts";

const AGENT = join(import.meta.dirname, "../../src/backends/demo/agent.ts");
const FAILURE_RECORDS: Json = { version: 1, capabilities: ["sessionFailure"] };
const CANCELLED: Json = { outcome: { outcome: "cancelled" } };
const select = (optionId: string): Json => ({ outcome: { outcome: "selected", optionId } });

let folder: string;
let cwd: string;
/** One agent whose client reads failure records, one whose client does not: a process per test would be slow. */
let agent: RawClient;
let plainAgent: RawClient;

async function start(air: Json): Promise<RawClient> {
  const client = new RawClient({ file: process.execPath, args: [AGENT] }, tmpdir());
  const clientCapabilities = { _meta: { jetbrains: { air } } };
  await client.request("initialize", { protocolVersion: 1, clientCapabilities });
  return client;
}

function open(answer?: Json, client = agent): Promise<RawSession> {
  return client.openSession(cwd, answer);
}

beforeAll(async () => {
  [agent, plainAgent] = await Promise.all([start(FAILURE_RECORDS), start({})]);
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await plainAgent[Symbol.asyncDispose]();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "demo-agent-"));
  cwd = join(folder, "workspace");
  mkdirSync(cwd);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the handshake", () => {
  test("names the agent and what it can", () => {
    expect(agent.frames[0]?.result).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "ostler-demo" },
      agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {}, close: {} } },
    });
  });

  test("a session starts in the mode that asks, and advertises every command", async () => {
    const session = await open();
    expect(session.created).toMatchObject({
      modes: { currentModeId: "ask", availableModes: [{ id: "ask" }, { id: "auto" }] },
      configOptions: [{ id: "model", currentValue: "demo-small" }],
    });
    await session.prompt("hello");
    const [advertised] = session.updates("available_commands_update");
    expect(advertised?.["availableCommands"]).toHaveLength(COMMANDS.length);
    expect(advertised?.["availableCommands"]).toContainEqual({
      name: "write",
      description: "Write a file, after a yes",
      input: { hint: "FILE [TEXT]" },
    });
  });

  test("the process ends with its stdin", async () => {
    await using client = await start({});
    client.end();
    expect(await client.exit()).toEqual({ code: 0, stderr: "" });
  });
});

describe("a turn", () => {
  test("answers with what was asked, in several chunks of one message, and counts tokens", async () => {
    const session = await open();
    const { result } = await session.prompt("what is an ostler?");
    expect(session.text).toContain('You asked: "what is an ostler?"');
    const chunks = session.updates("agent_message_chunk");
    expect(chunks.length).toBeGreaterThan(3);
    expect(new Set(chunks.map(({ messageId }) => messageId)).size).toBe(1);
    expect(session.updates("agent_thought_chunk")).toHaveLength(1);
    expect(result).toMatchObject({ stopReason: "end_turn", usage: { inputTokens: 5 } });
  });

  test.each([
    { prompt: "/help", says: "/ask-permission" },
    { prompt: "/think", says: "I have thought about it" },
    { prompt: "/no-such-command", says: "I do not know the command /no-such-command." },
    { prompt: "/write", says: "Say which file: /write FILE [TEXT]" },
    { prompt: "/warn", says: "the answer is complete all the same" },
  ])("$prompt says $says", async ({ prompt, says }) => {
    const session = await open();
    expect((await session.prompt(prompt)).result?.["stopReason"]).toBe("end_turn");
    expect(session.text).toContain(says);
  });

  test("/long 3 is three chunks", async () => {
    const session = await open();
    await session.prompt("/long 3");
    expect(session.text).toBe("1\n2\n3\n");
    expect(session.updates("agent_message_chunk")).toHaveLength(3);
  });

  test("/tool runs from pending to completed, with output and exit code", async () => {
    const session = await open();
    await session.prompt("/tool");
    expect(session.updates("tool_call")).toMatchObject([{ kind: "execute", status: "pending" }]);
    expect(session.updates("tool_call_update")).toMatchObject([
      { status: "in_progress" },
      { status: "completed", rawOutput: { exit_code: 0, output: "hello from the demo agent\n" } },
    ]);
  });

  test("/retry starts again under a new message id, with the warning between", async () => {
    const session = await open();
    await session.prompt("/retry");
    const seen = session.updates().map(({ sessionUpdate, messageId }) => messageId ?? sessionUpdate);
    const [first, warning, second, ...more] = [...new Set(seen)].filter((id) => id !== "available_commands_update");
    expect(warning).toBe("session_info_update");
    expect(second).not.toBe(first);
    expect(more).toEqual([]);
  });

  test("/plan-steps ends with every step completed", async () => {
    const session = await open();
    await session.prompt("/plan-steps");
    const done = session.updates("plan").map((plan) => JSON.stringify(plan).split('"completed"').length - 1);
    expect(done).toEqual([0, 1, 2, 3]);
  });

  test("/diff shows two changes and makes none", async () => {
    const session = await open();
    await session.prompt("/diff");
    expect(session.updates("tool_call_update")).toMatchObject([{ content: [{ type: "diff" }, { type: "diff" }] }]);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("a second prompt in a busy session is turned down, and the first one goes on", async () => {
    const session = await open();
    const first = session.prompt("/hang");
    expect((await session.prompt("hello")).error).toMatchObject({ code: -32600 });
    session.cancel();
    expect((await first).result?.["stopReason"]).toBe("cancelled");
  });

  test.each(["hello", "/tool", "/hang", "/slow 60", "/long 1000000"])("a cancel ends %s", async (prompt) => {
    const session = await open();
    const turn = session.prompt(prompt);
    session.cancel();
    expect((await turn).result?.["stopReason"]).toBe("cancelled");
    expect((await session.prompt("hello")).result?.["stopReason"]).toBe("end_turn");
  });

  test("/hang-hard ignores the cancel", async () => {
    const session = await open();
    const turn = session.prompt("/hang-hard").then(() => "answered");
    session.cancel();
    const other = session.client.request("session/list", {}).then(() => "still there");
    expect(await Promise.race([turn, other])).toBe("still there");
  });

  test("/crash leaves text, a last word and exit code 3", async () => {
    await using client = await start({});
    const session = await open(undefined, client);
    void session.prompt("/crash");
    expect(await client.exit()).toEqual({ code: 3, stderr: "demo agent: crashed on request\n" });
    expect(session.text).toBe("The answer begins well, and then the process dies");
  });
});

describe("failures", () => {
  test.each([
    { prompt: "/limit", category: "limit", actions: [], revision: 1, errorKind: "billing_error" },
    { prompt: "/rate-limit", category: "limit", actions: ["retry"], revision: 1, errorKind: "rate_limit" },
    { prompt: "/overloaded", category: "service", actions: ["retry"], revision: 3, errorKind: "server_error" },
    { prompt: "/policy", category: "request", actions: [], revision: 1, errorKind: "invalid_request" },
    { prompt: "/partial-then-fail", category: "service", actions: ["retry"], revision: 1, errorKind: "server_error" },
  ])(
    "$prompt is a record for who reads them, and an error for who does not",
    async ({ prompt, errorKind, ...record }) => {
      const { result } = await (await open()).prompt(prompt);
      const sessionFailure = { severity: "error", ...record };
      expect(result).toMatchObject({
        stopReason: "end_turn",
        _meta: { jetbrains: { air: { version: 1, sessionFailure } } },
      });

      const plain = await open(undefined, plainAgent);
      expect((await plain.prompt(prompt)).error).toMatchObject({ code: -32603, data: { errorKind } });
      expect(plain.updates("session_info_update")).toEqual([]);
    },
  );

  test.each([
    { from: "another capability", air: { version: 1, capabilities: ["sessionFailures"] } },
    { from: "version 0", air: { version: 0, capabilities: ["sessionFailure"] } },
  ])("$from does not negotiate records", async ({ air }) => {
    await using client = await start(air);
    const session = await open(undefined, client);
    expect((await session.prompt("/limit")).error?.code).toBe(-32603);
  });

  test.each([
    { prompt: "/refuse", stopReason: "refusal", text: "I will not help with that." },
    {
      prompt: "/truncate",
      stopReason: "max_tokens",
      text: "This answer is longer than the model may write, so it stops in the",
    },
    { prompt: "/empty", stopReason: "end_turn", text: "" },
  ])("$prompt ends with $stopReason", async ({ prompt, stopReason, text }) => {
    const session = await open();
    expect((await session.prompt(prompt)).result).toMatchObject({ stopReason });
    expect(session.text).toBe(text);
  });

  test("/auth is the error of the protocol", async () => {
    const session = await open();
    expect((await session.prompt("/auth")).error).toEqual({ code: -32000, message: "Authentication required" });
  });
});

describe("permissions", () => {
  test.each([
    { answer: "allow", asked: 2, tool: "completed", says: "You allowed it" },
    { answer: "allow-always", asked: 1, tool: "completed", says: "You allowed it" },
    { answer: "reject", asked: 2, tool: "failed", says: "You said no" },
    { answer: "reject-always", asked: 1, tool: "failed", says: "You said no" },
    { answer: "never-offered", asked: 2, tool: "failed", says: "You said no" },
  ])("$answer leaves the tool $tool, and two turns ask $asked times", async ({ answer, asked, tool, says }) => {
    const session = await open(select(answer));
    for (const _turn of [1, 2]) {
      expect((await session.prompt("/ask-permission")).result).toMatchObject({ stopReason: "end_turn" });
      expect(session.updates("tool_call_update").at(-1)?.status).toBe(tool);
    }
    expect(session.text).toContain(says);
    expect(session.questions).toHaveLength(asked);
    expect(session.questions[0]?.params?.options).toEqual([
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "allow-always", name: "Always allow", kind: "allow_always" },
      { optionId: "reject", name: "Reject", kind: "reject_once" },
      { optionId: "reject-always", name: "Always reject", kind: "reject_always" },
    ]);
  });

  test("a withdrawn question ends the turn as cancelled, without a word", async () => {
    const session = await open(CANCELLED);
    expect((await session.prompt("/ask-permission")).result).toMatchObject({ stopReason: "cancelled" });
    expect(session.updates("tool_call_update").at(-1)?.status).toBe("failed");
    expect(session.text).toBe("");
  });

  test("/write writes what it was allowed to, and shows the change", async () => {
    const session = await open(select("allow"));
    await session.prompt("/write note.txt two words");
    const path = join(cwd, "note.txt");
    expect(readFileSync(path, "utf8")).toBe("two words\n");
    expect(session.updates("tool_call_update").at(-1)).toMatchObject({
      status: "completed",
      content: [{ type: "diff", path, oldText: null, newText: "two words\n" }],
    });
  });

  test.each([
    { from: "a no", answer: select("reject") },
    { from: "a withdrawn question", answer: CANCELLED },
    { from: "a client that cannot answer", answer: undefined },
  ])("/write writes nothing after $from", async ({ answer }) => {
    const session = await open(answer);
    await session.prompt("/write note.txt");
    expect(session.questions).toHaveLength(1);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test.each([
    { name: "../outside.txt", why: "it is outside of the folder of this session", asked: 0 },
    { name: "way-out/outside.txt", why: "it is outside of the folder of this session", asked: 0 },
    { name: "no-such-folder/x.txt", why: "its folder does not exist", asked: 0 },
    { name: "link.txt", why: "could not be written (ELOOP)", asked: 1 },
  ])("/write $name is not done, even when all is allowed", async ({ name, why, asked }) => {
    symlinkSync(folder, join(cwd, "way-out"));
    symlinkSync(join(folder, "outside.txt"), join(cwd, "link.txt"));
    const session = await open(select("allow"));
    await session.prompt(`/write ${name}`);
    expect(session.text).toContain(why);
    expect(session.updates("tool_call_update").at(-1)?.status).toBe("failed");
    expect(session.questions).toHaveLength(asked);
    expect(readdirSync(folder)).toEqual(["workspace"]);
  });

  test("mode auto acts without asking", async () => {
    const session = await open();
    expect((await session.request("session/set_mode", { modeId: "auto" })).result).toEqual({});
    await session.prompt("/write note.txt");
    expect(session.questions).toEqual([]);
    expect(readdirSync(cwd)).toEqual(["note.txt"]);
  });
});

describe("sessions", () => {
  test("load replays the conversation, resume does not", async () => {
    const session = await open();
    const text = "I have thought about it: the short answer is yes.";
    await session.prompt("/think");
    const resumed = await session.request("session/resume", { cwd, mcpServers: [] });
    expect(resumed.result).toMatchObject({ modes: { currentModeId: "ask" } });
    expect(session.text).toBe(text);
    await session.request("session/load", { cwd, mcpServers: [] });
    expect(session.updates("user_message_chunk")).toMatchObject([{ content: { text: "/think" } }]);
    expect(session.text).toBe(text + text);
  });

  test("list knows the open ones of a folder, close forgets one", async () => {
    const session = await open();
    await session.prompt("hello");
    const listed = await agent.request("session/list", { cwd });
    expect(listed.result?.["sessions"]).toMatchObject([{ sessionId: session.id, cwd, title: "hello" }]);
    expect((await session.request("session/close")).result).toEqual({});
    expect((await agent.request("session/list", { cwd })).result).toEqual({ sessions: [] });
    expect((await session.prompt("hello")).error?.code).toBe(-32002);
  });

  test.each([
    { method: "session/load", params: { sessionId: "none", cwd: "/", mcpServers: [] }, code: -32002 },
    { method: "session/resume", params: { sessionId: "none", cwd: "/" }, code: -32002 },
    { method: "session/prompt", params: { sessionId: "none", prompt: [] }, code: -32002 },
    { method: "_no/such_method", params: {}, code: -32601 },
  ])("$method without such a thing is $code", async ({ method, params, code }) => {
    expect((await agent.request(method, params)).error?.code).toBe(code);
  });

  test("model and mode can be set to what there is, and to nothing else", async () => {
    const session = await open();
    const set = (configId: string, value: string) => session.request("session/set_config_option", { configId, value });
    expect((await set("model", "demo-large")).result).toMatchObject({
      configOptions: [{ id: "model", currentValue: "demo-large" }],
    });
    expect((await set("model", "gpt")).error?.code).toBe(-32602);
    expect((await set("effort", "high")).error?.code).toBe(-32602);
    expect((await session.request("session/set_mode", { modeId: "yolo" })).error?.code).toBe(-32602);
  });
});
