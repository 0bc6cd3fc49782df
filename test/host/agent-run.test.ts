/** The run of a conversation: when it comes to be kept, what is told of it, and how it goes on. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Turn } from "../../src/acp/types.ts";
import { labelOf } from "../../src/failures/incidents/labels.ts";
import { readJournal } from "../../src/failures/journal/read-journal.ts";
import type { Notification } from "../../src/failures/notification.ts";
import { RunRegistry } from "../../src/failures/runs/registry.ts";
import { createHost } from "../../src/host/host.ts";
import type { Host, OpenConversationOptions } from "../../src/host/host-options.ts";
import { agentOption, chunk, end, err, promptsIn, tool, toolUpdate, turns } from "../fixtures/agents/scenario.ts";
import type { Action, Json, Scenario } from "../fixtures/agents/scenario.ts";

let folder: string;
let host: Host;
let told: Notification[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ostler-agent-run-"));
  told = [];
  const env = { PATH: process.env["PATH"], OSTLER_HOME: join(folder, "home"), AGENT_LOG: join(folder, "agent.log") };
  host = await createHost({ env, cwd: folder });
});
afterEach(async () => {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

const state = (): string => join(folder, "home", "state");
const runs = (): string[] => new RunRegistry(state()).ids();
const KEY = "sk-ant-api03-ThisIsNoRealKeyButItLooksLikeOne0123456789";

const failing = (id: string, command = "npm test"): Action[] => [
  tool(id, { rawInput: { command } }),
  toolUpdate(id, { status: "failed", rawOutput: { exit_code: 1 } }),
];
const passing = (id: string, command = "npm test"): Action[] => [
  tool(id, { rawInput: { command } }),
  toolUpdate(id, { status: "completed", rawOutput: { exit_code: 0 } }),
];

async function converse(
  scenario: Scenario,
  prompts: readonly string[],
  options: Partial<OpenConversationOptions> = {},
) {
  const sink = { deliver: async (notification: Notification) => void told.push(notification) };
  const { conversation } = await host.openConversation({
    agent: agentOption(scenario, folder),
    retries: 0,
    run: { sink },
    ...options,
  });
  for (const prompt of prompts) await drain(conversation.prompt(prompt));
  await conversation.close();
}

async function drain({ events, outcome }: Turn): Promise<string> {
  for await (const _event of events);
  return (await outcome).kind;
}

/** Label, category and occurrences of every incident, the oldest first. */
function incidents(runId: string): [string, string, number][] {
  const { incidents: all } = readJournal(join(state(), "runs", runId));
  return [...all.values()].map((incident) => [labelOf(incident), incident.category, incident.occurrences]);
}

function only(): string {
  const [runId = "", ...more] = runs();
  expect(more).toEqual([]);
  return runId;
}

describe("a conversation that nobody named", () => {
  test("leaves nothing behind when nothing of it failed, whatever it ran", async () => {
    await converse(turns([...passing("t1"), chunk("Done."), end()]), ["Work."]);
    expect(runs()).toEqual([]);
    expect(told).toEqual([]);
  });

  test("leaves a run when a call failed, with all of its log and no secret in it", async () => {
    await converse(turns([...failing("t1", `curl -H "x: ${KEY}"`), chunk("It fails."), end()]), ["Work."]);
    expect(incidents(only())).toEqual([["Unclassified failure observation", "tool", 1]]);
    const files = readdirSync(join(state(), "runs", only()));
    expect(files.toSorted()).toEqual(["failures.jsonl", "failures.jsonl.observed", "meta.json", "output.log"]);
    const written = files.map((file) => readFileSync(join(state(), "runs", only(), file), "utf8")).join("\n");
    expect(written).toContain('"method":"initialize"');
    expect(written).not.toContain(KEY);
    const meta = new RunRegistry(state()).readMeta(only());
    expect(meta).toMatchObject({ status: "completed", told: ["completion"], taskRuntime: false });
  });

  test("evidence names the line that ended the attempt", async () => {
    await converse(turns([...failing("t1"), chunk("It fails."), end()]), ["Work."]);
    const [incident] = readJournal(join(state(), "runs", only())).incidents.values();
    const byte = Number(/^output\.log#byte=(\d+)$/.exec(incident?.evidence ?? "")?.[1]);
    const log = readFileSync(join(state(), "runs", only(), "output.log"));
    const line: unknown = JSON.parse(log.subarray(byte, log.indexOf("\n", byte)).toString());
    expect(line).toMatchObject({ d: "in", frame: { params: { update: { toolCallId: "t1", status: "failed" } } } });
  });

  test("a failure that was mended is not told", async () => {
    await converse(turns([...failing("t1"), ...passing("t2"), chunk("Mended."), end()]), ["Work."]);
    expect(incidents(only())).toEqual([["Recovered", "tool", 1]]);
    expect(told).toEqual([]);
  });

  test("what needs somebody is told once, at the end", async () => {
    await converse(turns([err(-32603, "Internal error")], [err(-32603, "Internal error")]), ["One.", "Two."]);
    expect(incidents(only())).toEqual([["Action required", "model", 2]]);
    expect(told.map(({ moment, runId }) => [moment, runId])).toEqual([["completion", only()]]);
    expect(told[0]?.text).toContain("Action required");
  });

  test("a death is recovered by a good turn of the next process", async () => {
    const dies = { on: { "session/prompt": [[chunk("Half"), { exit: 3 }]] } };
    const works = turns([chunk("Whole."), end()]);
    await converse({ runs: [dies, works] }, ["One.", "Two."]);
    expect(incidents(only())).toEqual([["Recovered", "exit", 1]]);
    expect(told).toEqual([]);
  });

  test("without a sink nobody is told, and everything is kept", async () => {
    await converse(turns([err(-32603, "Internal error")]), ["One."], { run: {} });
    expect(incidents(only())).toEqual([["Action required", "model", 1]]);
    expect(readJournal(join(state(), "runs", only())).delivered.size).toBe(0);
  });

  test("a state folder that cannot be written costs no turn, and what failed is told all the same", async () => {
    mkdirSync(join(folder, "home"));
    writeFileSync(state(), "a file where the folder should be");
    const notices: string[] = [];
    const onNotice = (sentence: string): void => void notices.push(sentence);
    await converse(turns([err(-32603, "Internal error")]), ["One."], { onNotice });
    expect(told).toHaveLength(1);
    expect(notices.join("\n")).toContain("What fails in this run cannot be written down");
  });
});

/** A scenario whose agent calls a tool of Ostler's without telling of it, and ends its turn with nothing. */
const silent = (command: string): Scenario => ({
  initializeResult: { agentCapabilities: { mcpCapabilities: { http: true } } },
  on: { "session/prompt": [[{ callTool: { name: "run", input: { command } } }, end()]] },
});

describe("a prompt that got no answer", () => {
  test.each([
    { from: "a command of run was executed: it is not sent again", command: "echo ran", approve: "all", prompts: 1 },
    { from: "the command was denied: nothing was done", command: "echo ran", approve: "none", prompts: 2 },
  ] as const)("$from", async ({ command, approve, prompts }) => {
    await converse(silent(command), ["Work."], { retries: 1, confined: true, approve });
    expect(promptsIn(join(folder, "agent.log"))).toHaveLength(prompts);
  });
});

/** Of a stored conversation: the ids that it was told to keep. */
const kept = (runId?: string) => {
  const ids: string[] = [];
  return { ids, run: { kept: { conversationId: "c1", runId, onRun: (id: string) => void ids.push(id) } } };
};

describe("a conversation that is kept", () => {
  test("is one run over all its processes, and a later call recovers what an earlier one broke", async () => {
    const first = kept();
    await converse(turns([...failing("t1"), chunk("It fails."), end()]), ["Work."], { run: first.run });
    const second = kept(first.ids[0]);
    await converse(turns([...passing("t1"), chunk("It passes."), end()]), ["Again."], { run: second.run });
    expect(second.ids).toEqual(first.ids);
    expect(incidents(only())).toEqual([["Recovered", "tool", 1]]);
    const lines = readFileSync(join(state(), "runs", only(), "output.log"), "utf8")
      .trim()
      .split("\n");
    const ordinals = lines.map((line) => Number(/"n":(\d+)/.exec(line)?.[1]));
    expect(ordinals).toEqual(ordinals.map((_n, index) => index + 1));
  });

  test("a run that is gone is begun anew", async () => {
    const { ids, run } = kept("ag_0000000000_1");
    await converse(turns([chunk("Hello"), end()]), ["Hi."], { run });
    expect(ids).toEqual([only()]);
    expect(ids).not.toEqual(["ag_0000000000_1"]);
  });
});

/** One turn that has Ostler's own tool run a command. */
const calls = (input: { readonly [name: string]: Json }): Scenario => ({
  initializeResult: { agentCapabilities: { mcpCapabilities: { http: true } } },
  on: { "session/prompt": [[{ callTool: { name: "run", input } }, chunk("Done."), end()]] },
});

async function work(input: { readonly [name: string]: Json }, runId?: string): Promise<void> {
  await converse(calls(input), ["Work."], { run: kept(runId).run, confined: true, approve: "all" });
}

describe("metadata that cannot be read when a confined run goes on", () => {
  test("failures are observed under the exact rule with a gap, which closes once it can be read again", async () => {
    await work({ command: "exit 1", expectedExitCodes: [1] });
    const meta = new RunRegistry(state()).metaFile(only());
    const whole = readFileSync(meta);
    writeFileSync(meta, "{");
    await work({ command: "exit 2" }, only());
    expect(incidents(only())).toEqual([
      ["Expected failure", "tool", 1],
      ["Observation incomplete", "observation-incomplete", 1],
      ["Unclassified failure observation", "tool", 1],
    ]);
    writeFileSync(meta, whole);
    await work({ command: "exit 3", expectedExitCodes: [3] }, only());
    expect(incidents(only())).toEqual([
      ["Expected failure", "tool", 1],
      ["Recovered", "observation-incomplete", 1],
      ["Unclassified failure observation", "tool", 1],
      ["Expected failure", "tool", 1],
    ]);
  });

  test("a failure that declared something keeps the gap open, and what it declared does not count", async () => {
    await work({ command: "true" });
    const meta = new RunRegistry(state()).metaFile(only());
    const whole = readFileSync(meta);
    writeFileSync(meta, "{");
    await work({ command: "exit 1", operationId: "check", expectedExitCodes: [1] }, only());
    writeFileSync(meta, whole);
    await work({ command: "true" }, only());
    expect(incidents(only())).toEqual([
      ["Observation incomplete", "observation-incomplete", 1],
      ["Unclassified failure observation", "tool", 1],
    ]);
  });
});
