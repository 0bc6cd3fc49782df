/** What the demo agent speaks of the AIR extension, through the library: events of its scenes, and the requests beside prompts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { SessionEvent, TurnEvent } from "../../src/acp/events.ts";
import type { PermissionPolicy } from "../../src/acp/ports.ts";
import type { QuestionAnswer, QuestionRequest } from "../../src/acp/questions.ts";
import { createRuntime } from "../../src/acp/runtime.ts";
import type { Runtime } from "../../src/acp/runtime.ts";
import type { Session } from "../../src/acp/session-link.ts";
import type { PermissionRequest, PromptOptions } from "../../src/acp/types.ts";
import { demoBackend } from "../../src/backends/demo.ts";
import { RawClient } from "../fixtures/agents/raw-client.ts";
import type { Json } from "../fixtures/agents/scenario.ts";
import { heard } from "../acp/goals.ts";

const AGENT = join(import.meta.dirname, "../../src/backends/demo/agent.ts");
const COMMAND = { file: process.execPath, args: [AGENT] };
const cwd = mkdtempSync(join(tmpdir(), "demo-extensions-"));

/** What the person says next, and what it was asked. */
let answer: QuestionAnswer = { action: "cancel" };
let choice: "allow_once" | "reject_once" = "reject_once";
const questions: QuestionRequest[] = [];
const requests: PermissionRequest[] = [];
const permissions: PermissionPolicy = (request) => {
  requests.push(request);
  const optionId = request.options.find(({ kind }) => kind === choice)?.optionId ?? "";
  return Promise.resolve({ action: "select", optionId, denied: choice === "reject_once" });
};

function start(options: { air: boolean; compaction?: boolean }): Promise<Runtime> {
  return createRuntime({
    backend: { ...demoBackend, ...options },
    command: COMMAND,
    cwd,
    env: { PATH: process.env["PATH"] ?? "" },
    permissions,
    questions: (request) => {
      questions.push(request);
      return Promise.resolve(answer);
    },
  });
}

/** One agent whose client speaks AIR, one whose client does not. */
let runtime: Runtime;
let plain: Runtime;
beforeAll(async () => {
  [runtime, plain] = await Promise.all([start({ air: true }), start({ air: false, compaction: false })]);
});
afterAll(async () => {
  await Promise.all([runtime.stop(), plain.stop()]);
  rmSync(cwd, { recursive: true, force: true });
});

async function play(prompt: string, options: PromptOptions = {}, agent = runtime) {
  const session = await agent.openSession({ cwd });
  const turn = session.prompt(prompt, { retries: 0, ...options });
  const events: TurnEvent[] = [];
  for await (const event of turn.events) events.push(event);
  return { session, events, outcome: await turn.outcome };
}

async function listening(): Promise<{ readonly session: Session; readonly told: SessionEvent[] }> {
  const session = await runtime.openSession({ cwd });
  const told: SessionEvent[] = [];
  onTestFinished(session.subscribe((event) => told.push(event)));
  return { session, told };
}

const ofType = <Type extends TurnEvent["type"]>(events: readonly TurnEvent[], type: Type) =>
  events.filter((event): event is Extract<TurnEvent, { type: Type }> => event.type === type);

/** Of each snapshot; null = cleared. */
const goalStates = (told: readonly SessionEvent[]) =>
  told.flatMap(({ event }) => (event.type === "goal" ? [event.goal?.status ?? null] : []));
/** The messages by their ids. */
const messagesOf = (told: readonly SessionEvent[]) =>
  told.flatMap(({ event }) => (event.type === "text" && event.messageId !== undefined ? [event.messageId] : []));

const reportMeta = (value: Json): Json => ({ jetbrains: { air: { agentFileChangeReportRequest: value } } });

describe("the handshake", () => {
  test("tells an AIR client everything that is served", () => {
    const { air, fork, list } = runtime.capabilities;
    expect([...air.capabilities].toSorted()).toEqual([
      "agentFileChangeReport",
      "asyncTasks",
      "diffPatch",
      "nativeSubagentSessions",
      "planFile",
      "recommendedValue",
      "sessionFailure",
    ]);
    expect([...air.goalActions]).toEqual(["set", "pause", "resume", "clear"]);
    expect({ steering: air.steering, fork, list }).toEqual({ steering: true, fork: true, list: true });
  });

  test("tells another client nothing of AIR, in no answer and no update", async () => {
    await using client = new RawClient(COMMAND, cwd);
    await client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const session = await client.openSession(cwd, { outcome: { outcome: "selected", optionId: "allow" } });
    for (const prompt of ["/patch", "/plan", "/task 0", "/subagent", "/goal Ship it", "/compact fail", "/skill"])
      expect((await session.prompt(prompt)).result).toMatchObject({ stopReason: "end_turn" });
    expect((await session.request("_session/goal", { action: "clear" })).error?.code).toBe(-32601);
    expect(JSON.stringify(client.frames)).not.toContain("jetbrains");
    expect(session.updates("compaction_update")).toEqual([]);
    expect(session.updates("async_task_spawned")).toEqual([]);
  });

  test("recommends a model, and says how freely each mode acts", async () => {
    const { offers } = await runtime.openSession({ cwd });
    expect(offers.models).toMatchObject({ current: "demo-small", recommended: "demo-small" });
    expect(offers.modes?.choices.map(({ value, kind }) => [value, kind])).toEqual([
      ["ask", "standard"],
      ["auto", "full_access"],
    ]);
    const other = (await plain.openSession({ cwd })).offers;
    expect(other.models).not.toHaveProperty("recommended");
    expect(other.modes?.choices[0]).not.toHaveProperty("kind");
  });
});

describe("scenes", () => {
  test("/patch: a changed, a new, a renamed and a deleted file, with quoted names", async () => {
    const { events } = await play("/patch");
    const changes = ofType(events, "diff").map(({ path, change }) => [path, change]);
    const patch = { form: "patch", patch: expect.stringMatching(/^diff --git /), addedLines: 1, removedLines: 1 };
    expect(changes).toEqual([
      [join(cwd, "greeting.txt"), { ...patch, kind: "modified" }],
      [join(cwd, "notes/new.txt"), { ...patch, kind: "added", removedLines: 0 }],
      [join(cwd, "café.txt"), { ...patch, kind: "renamed", fromPath: join(cwd, "old café.txt") }],
      [join(cwd, "gone.txt"), { ...patch, kind: "deleted", addedLines: 0 }],
    ]);
  });

  test("/patch without AIR: both texts", async () => {
    const { events } = await play("/patch", {}, plain);
    expect(ofType(events, "diff").map(({ change }) => change)).toEqual([
      { form: "texts", oldText: "Good morning\nand goodbye\n", newText: "Good evening\nand goodbye\n" },
      { form: "texts", oldText: null, newText: "A new file\n" },
      { form: "texts", oldText: "a\n", newText: "b\n" },
      { form: "texts", oldText: "No longer needed\n", newText: "" },
    ]);
  });

  test.each([
    { choice: "allow_once", says: "You approved the plan.", status: "completed", denied: [] },
    {
      choice: "reject_once",
      says: "You said no, so the plan is only a plan.",
      status: "failed",
      denied: ["Ready to code?"],
    },
  ] as const)("/plan after $choice: $says", async ({ choice: picked, says, status, denied }) => {
    choice = picked;
    onTestFinished(() => void (choice = "reject_once"));
    requests.length = 0;
    const { events, outcome } = await play("/plan");
    expect(outcome).toMatchObject({ kind: "completed", text: says, denied });
    const [plan] = ofType(events, "plan");
    expect(plan).toMatchObject({
      document: { path: expect.stringMatching(/^\/.+\/plan\.md$/), text: expect.stringMatching(/^# Plan\n/) },
    });
    expect(requests.map(({ title, kind }) => ({ title, kind }))).toEqual([
      { title: "Ready to code?", kind: "switch_mode" },
    ]);
    expect(ofType(events, "tool").at(-1)).toMatchObject({ title: "Exited Plan Mode", status });
  });

  test("/plan without AIR: the text stands in the call", async () => {
    const { events } = await play("/plan", {}, plain);
    const [plan] = ofType(events, "plan");
    expect(plan).toMatchObject({ document: { text: expect.stringMatching(/^# Plan\n/) } });
    expect(plan).not.toHaveProperty("document.path");
  });

  test.each([
    {
      prompt: "/report",
      changes: {
        status: "reported",
        paths: [join(cwd, "greeting.txt"), join(cwd, "notes/new.txt")],
        declaredComplete: true,
        truncated: false,
      },
    },
    { prompt: "/report unavailable", changes: { status: "unavailable", reason: "providerError" } },
    { prompt: "/think", changes: { status: "reported", paths: [], declaredComplete: true, truncated: false } },
  ])("$prompt, asked for the changed files", async ({ prompt, changes }) => {
    const { events, outcome } = await play(prompt, { reportChanges: true });
    expect(outcome).toMatchObject({ kind: "completed", changes });
    expect(ofType(events, "changes")).toEqual([{ type: "changes", report: changes }]);
  });

  test("/report that nobody asked for tells nothing", async () => {
    const { events, outcome } = await play("/report");
    expect(outcome).not.toHaveProperty("changes");
    expect(ofType(events, "changes")).toEqual([]);
  });

  test("a cancelled turn has no list of changed files", async () => {
    const session = await runtime.openSession({ cwd });
    const turn = session.prompt("/hang", { reportChanges: true });
    turn.cancel();
    expect(await turn.outcome).toMatchObject({
      kind: "cancelled",
      changes: { status: "unavailable", reason: "cancelled" },
    });
  });

  test("/subagent: a session of its own with its words and its end", async () => {
    const { events, outcome } = await play("/subagent");
    const told = ofType(events, "subagent");
    const ids = new Set(told.map(({ subagentId }) => subagentId));
    expect(ids.size).toBe(1);
    expect(told.map((event) => ("state" in event ? event.state : event.event))).toEqual([
      "running",
      { type: "text", text: "The greeting", messageId: `${[...ids][0]}:1` },
      { type: "text", text: " is friendly.", messageId: `${[...ids][0]}:1` },
      "completed",
    ]);
    expect(told[0]).toMatchObject({ name: "Reader", prompt: "Look at the greeting and report" });
    expect(outcome.text).not.toContain("friendly");
    expect(ofType(events, "tool")).toEqual([]);
  });

  test("/subagent without AIR: a call that reports", async () => {
    const { events } = await play("/subagent", {}, plain);
    expect(ofType(events, "subagent")).toEqual([]);
    expect(ofType(events, "tool").at(-1)).toMatchObject({
      title: "Reader",
      kind: "think",
      content: [{ type: "text", text: "The greeting is friendly." }],
    });
  });

  test("/compact tells sizes, and no tool call", async () => {
    const { events, outcome } = await play("/compact");
    expect(outcome).toMatchObject({ kind: "completed", text: "" });
    expect(ofType(events, "compaction")).toMatchObject([
      { state: "running" },
      { state: "completed", trigger: "manual", preTokens: 180_000, postTokens: 4200, durationMs: 300 },
    ]);
    expect(ofType(events, "tool")).toEqual([]);
  });

  test("/compact fail fails its turn, whatever it ends with", async () => {
    const { events, outcome } = await play("/compact fail");
    const title = "Compaction failed: The summary could not be written";
    expect(outcome).toMatchObject({ kind: "failed", stopReason: "end_turn", failure: { kind: "compaction", title } });
    expect(ofType(events, "compaction").at(-1)).toMatchObject({
      state: "failed",
      error: "The summary could not be written",
    });
  });

  test("/compact of a client that takes no compactions is a marked call, and the same event", async () => {
    await using agent = await start({ air: true, compaction: false });
    const { events, outcome } = await play("/compact fail", {}, agent);
    expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "compaction" } });
    expect(ofType(events, "compaction").map(({ state, error }) => [state, error])).toEqual([
      ["running", undefined],
      ["failed", "The summary could not be written"],
    ]);
    expect(ofType(events, "tool")).toEqual([]);
  });

  test("/skill names the skill and its file", async () => {
    const { events } = await play("/skill");
    expect(ofType(events, "tool").at(-1)).toMatchObject({
      title: "Load skill: greeting",
      skill: { name: "greeting", path: join(cwd, "skills/greeting/SKILL.md") },
    });
  });

  test.each<{ answer: QuestionAnswer; kind: string; text: string }>([
    {
      answer: { action: "accept", content: { question_0: "Blue" } },
      kind: "completed",
      text: "You like Blue.",
    },
    {
      answer: { action: "accept", content: { question_0_custom: "Green" } },
      kind: "completed",
      text: "You like Green.",
    },
    { answer: { action: "decline" }, kind: "completed", text: "You did not want to say which colour." },
    {
      answer: { action: "cancel" },
      kind: "completed",
      text: "The question was closed, so I do not know which colour you like.",
    },
  ])("/question after $answer", async ({ answer: said, kind, text }) => {
    answer = said;
    questions.length = 0;
    const { outcome } = await play("/question");
    expect(outcome).toMatchObject({ kind, text });
    expect(questions).toMatchObject([
      {
        message: "Which colour?",
        fields: [{ id: "question_0", label: "Colour", kind: "choice", customId: "question_0_custom" }],
      },
    ]);
  });

  test("/question without AIR has two fields, which nothing ties together", async () => {
    answer = { action: "accept", content: { question_0: "Red" } };
    questions.length = 0;
    await play("/question", {}, plain);
    expect(questions[0]?.fields.map(({ id, customId }) => [id, customId])).toEqual([
      ["question_0", undefined],
      ["question_0_custom", undefined],
    ]);
  });
});

describe("a list of changed files", () => {
  let client: RawClient;
  beforeAll(async () => {
    client = new RawClient(COMMAND, cwd);
    const air = { version: 1, capabilities: ["agentFileChangeReport"] };
    await client.request("initialize", { protocolVersion: 1, clientCapabilities: { _meta: { jetbrains: { air } } } });
  });
  afterAll(() => client[Symbol.asyncDispose]());

  test.each([
    { from: "no version", value: { requestId: "r1" } },
    { from: "version 2", value: { version: 2, requestId: "r1" } },
    { from: "one key more", value: { version: 1, requestId: "r1", more: true } },
    { from: "an empty id", value: { version: 1, requestId: "" } },
    { from: "an id of 129 characters", value: { version: 1, requestId: "r".repeat(129) } },
    { from: "an id with a space", value: { version: 1, requestId: "r 1" } },
    { from: "a word", value: "r1" },
  ])("a request with $from is not answered", async ({ value }) => {
    const session = await client.openSession(cwd);
    const prompt = [{ type: "text", text: "/report" }];
    expect((await session.request("session/prompt", { prompt, _meta: reportMeta(value) })).result).toMatchObject({
      stopReason: "end_turn",
    });
    expect(session.updates("session_info_update")).toEqual([]);
  });

  test("an id that was used is not answered again", async () => {
    const session = await client.openSession(cwd);
    const prompt = [{ type: "text", text: "/report" }];
    for (const requestId of ["r".repeat(128), "r".repeat(128), "A.z_0:-"])
      await session.request("session/prompt", { prompt, _meta: reportMeta({ version: 1, requestId }) });
    expect(session.updates("session_info_update")).toMatchObject(
      ["r".repeat(128), "A.z_0:-"].map((requestId) => ({
        _meta: { jetbrains: { air: { version: 1, agentFileChangeReport: { version: 1, requestId } } } },
      })),
    );
  });
});

describe("background tasks", () => {
  test("one is stopped, once; its command is marked as going on", async () => {
    const { session, told } = await listening();
    const turn = session.prompt("/task 600");
    const { text } = await turn.outcome;
    expect(text).toBe('"sleep 600" goes on in the background (pretended: no shell runs).');
    const [task] = session.tasks;
    expect(task).toMatchObject({ name: "sleep 600", taskType: "shell", state: "running", canStop: true });
    const calls = told.flatMap(({ event }) => (event.type === "tool" ? [event] : []));
    expect(calls.at(-1)).toMatchObject({
      toolCallId: task?.toolCallId,
      commandTitle: "Wait in the background",
      isBackgrounded: true,
    });
    const taskId = task?.taskId ?? "";
    expect(await session.stopTask(taskId)).toEqual({ stopped: true });
    expect(session.tasks).toEqual([]);
    expect(await session.stopTask(taskId)).toEqual({ stopped: false });
    expect(told.flatMap(({ event }) => (event.type === "task" ? [event.state] : []))).toEqual(["running", "stopped"]);
  });

  test("one ends by itself", async () => {
    const { session, told } = await listening();
    await session.prompt("/task 0").outcome;
    await heard({ session, told }, ({ event }) => event.type === "task" && event.state === "completed");
    expect(session.tasks).toEqual([]);
  });

  test("one that nobody knows is not stopped", async () => {
    const { session } = await listening();
    expect(await session.stopTask("none")).toEqual({ stopped: false });
  });
});

describe("goals", () => {
  test.each([
    { action: { action: "set", objective: "Ship it" }, goal: { objective: "Ship it", status: "complete" } },
    { action: { action: "clear" }, goal: null },
  ] as const)("a later process knows what became of it: $action.action", async ({ action, goal }) => {
    const args = [...COMMAND.args, `--sessions=${join(cwd, action.action)}`];
    const ask = { backend: { ...demoBackend, air: true }, command: { ...COMMAND, args }, cwd, env: {}, permissions };
    await using earlier = await createRuntime(ask);
    const { id: sessionId } = await earlier.openSession({ cwd }).then(async (session) => {
      await session.setGoal(action);
      return session;
    });
    await using later = await createRuntime(ask);
    const session = await later.resumeSession({ sessionId, cwd, via: "load" });
    await session.prompt("hello").outcome;
    expect({ goal: session.goal ?? null }).toMatchObject({ goal });
  });

  test("one is reached in two rounds, which no prompt started, and is cleared", async () => {
    const { session, told } = await listening();
    const { goal, work } = await session.setGoal({ action: "set", objective: "Ship it" });
    expect(goal).toMatchObject({ objective: "Ship it", status: "complete", iterations: 2 });
    expect(work).toMatchObject({ kind: "completed", text: "Round 1 of 2. Round 2 of 2. " });
    expect(told.every(({ turnId }) => turnId === null)).toBe(true);
    await session.setGoal({ action: "clear" });
    expect(session.goal).toBeNull();
    expect(goalStates(told)).toEqual(["active", "active", "complete", null]);
  });

  test("one is paused in its first round, and goes on when it is resumed", async () => {
    const { session, told } = await listening();
    const set = session.setGoal({ action: "set", objective: "Ship it" });
    await heard({ session, told }, ({ event }) => event.type === "goal");
    await session.setGoal({ action: "pause" });
    await set;
    expect(session.goal).toMatchObject({ status: "paused" });
    await session.setGoal({ action: "resume" });
    expect(session.goal).toMatchObject({ status: "complete" });
    expect(goalStates(told)).toEqual(["active", "paused", "active", "active", "complete"]);
  });

  test("a cancelled turn leaves it as it is", async () => {
    const { session, told } = await listening();
    const turn = session.prompt("/goal Ship it");
    await heard({ session, told }, ({ event }) => event.type === "goal");
    turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled" });
    expect(session.goal).toMatchObject({ objective: "Ship it", status: "active" });
  });

  test.each([
    { from: "no action", params: {} },
    { from: "another action", params: { action: "finish" } },
    { from: "no objective", params: { action: "set" } },
    { from: "a blank objective", params: { action: "set", objective: " \n" } },
  ])("a request with $from is turned down", async ({ params }) => {
    await using client = new RawClient(COMMAND, cwd);
    const air = { version: 1, capabilities: [] };
    await client.request("initialize", { protocolVersion: 1, clientCapabilities: { _meta: { jetbrains: { air } } } });
    const session = await client.openSession(cwd);
    expect((await session.request("_session/goal", params)).error?.code).toBe(-32602);
  });
});

describe("steering", () => {
  test("words reach the answer that runs", async () => {
    const { session, told } = await listening();
    const turn = session.prompt("/slow 600");
    await heard({ session, told }, ({ event }) => event.type === "text");
    expect(await session.steer("be quick")).toEqual({ outcome: "injected" });
    await heard({ session, told }, ({ event }) => event.type === "text" && event.text.includes("be quick"));
    turn.cancel();
    expect((await turn.outcome).text).toContain("[You steered: be quick]");
  });

  test("words for an idle session come back, or become a prompt", async () => {
    const { session } = await listening();
    expect(await session.steer("hello", { whenIdle: "return" })).toEqual({
      outcome: "promptRequired",
      reason: "noRunningTurn",
    });
    const steered = await session.steer("/think");
    expect(steered.outcome === "prompted" && (await steered.turn.outcome).text).toMatch(/^I have thought/);
  });

  test("a client that does not ask for its words back gets a turn of its own", async () => {
    await using client = new RawClient(COMMAND, cwd);
    await client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const session = await client.openSession(cwd);
    const prompt = [{ type: "text", text: "/long 1" }];
    expect((await session.request("_session/steering", { prompt })).result).toEqual({ outcome: "startedNewTurn" });
  });
});

describe("forks", () => {
  test.each([
    { from: "its id", point: (messageId: string) => ({ messageId }) },
    { from: "the id of a part of it", point: (messageId: string) => ({ messageId: `${messageId}:segment:2` }) },
    { from: "its text alone", point: () => ({ messageId: "unknown", text: "1\n", occurrence: 1 }) },
  ])("at a message, found by $from: what came before, and nothing after", async ({ point }) => {
    const { session, told } = await listening();
    await session.prompt("/long 1").outcome;
    const [first = ""] = messagesOf(told);
    await session.prompt("/long 2").outcome;
    const fork = await runtime.forkSession({ cwd, sessionId: session.id, at: point(first) });
    expect(fork.id).not.toBe(session.id);
    const { text } = await fork.prompt("/fork").outcome;
    expect(text).toBe(`A fork of this session can begin after any of my messages:\n${first}  1\n`);
  });

  test("the occurrence says which of two equal messages it is", async () => {
    const { session, told } = await listening();
    await session.prompt("/long 1").outcome;
    await session.prompt("/long 1").outcome;
    const at = { messageId: "unknown", text: "1\n", occurrence: 2 };
    const fork = await runtime.forkSession({ cwd, sessionId: session.id, at });
    const { text } = await fork.prompt("/fork").outcome;
    for (const id of messagesOf(told)) expect(text).toContain(id);
  });

  test("without a message it holds everything", async () => {
    const { session, told } = await listening();
    await session.prompt("/long 1").outcome;
    await session.prompt("/long 2").outcome;
    const fork = await runtime.forkSession({ cwd, sessionId: session.id });
    const { text } = await fork.prompt("/fork").outcome;
    for (const id of messagesOf(told)) expect(text).toContain(id);
  });

  test("a message that nobody said is turned down", async () => {
    const { session } = await listening();
    await session.prompt("/long 1").outcome;
    await expect(
      runtime.forkSession({ cwd, sessionId: session.id, at: { messageId: "unknown", text: "2\n" } }),
    ).rejects.toMatchObject({ kind: "request_rejected" });
  });
});
