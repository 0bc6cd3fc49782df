import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PermissionPolicy } from "../../src/acp/ports.ts";
import { createRuntime } from "../../src/acp/runtime.ts";
import type { Runtime } from "../../src/acp/runtime.ts";
import type { TurnEvent } from "../../src/acp/events.ts";
import type { PromptOptions, TurnOutcome } from "../../src/acp/types.ts";
import { demoBackend } from "../../src/backends/demo.ts";

const AGENT = join(import.meta.dirname, "../../src/backends/demo/agent.ts");
const cwd = mkdtempSync(join(tmpdir(), "demo-turns-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const pick = (kind: string): PermissionPolicy => {
  return ({ options }) => {
    const option = options.find((option) => option.kind === kind);
    return Promise.resolve({ action: "select", optionId: option?.optionId ?? "", denied: kind.startsWith("reject") });
  };
};

function start(options: { air?: boolean; permissions?: PermissionPolicy } = {}): Promise<Runtime> {
  const { air = true, permissions = pick("reject_once") } = options;
  return createRuntime({
    backend: { ...demoBackend, air },
    command: { file: process.execPath, args: [AGENT] },
    cwd,
    env: { PATH: process.env["PATH"] ?? "" },
    permissions,
  });
}

async function play(runtime: Runtime, prompt: string, options: PromptOptions = {}) {
  const session = await runtime.openSession({ cwd });
  const turn = session.prompt(prompt, { retries: 0, ...options });
  const events: TurnEvent[] = [];
  for await (const event of turn.events) events.push(event);
  return { outcome: await turn.outcome, events };
}

const kindOf = (outcome: TurnOutcome) => ("failure" in outcome ? outcome.failure?.kind : undefined);

describe.each([{ air: true }, { air: false }])("with failure records: $air", ({ air }) => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await start({ air });
  });
  afterAll(() => runtime.stop());

  test.each([
    { prompt: "hello", kind: "completed", failure: undefined, text: /You asked: "hello"/ },
    { prompt: "/help", kind: "completed", failure: undefined, text: /\/ask-permission/ },
    { prompt: "/think", kind: "completed", failure: undefined, text: /^I have thought/ },
    { prompt: "/plan-steps", kind: "completed", failure: undefined, text: /^All three/ },
    { prompt: "/tool", kind: "completed", failure: undefined, text: /^The command printed/ },
    { prompt: "/diff", kind: "completed", failure: undefined, text: /^These two/ },
    { prompt: "/skill", kind: "completed", failure: undefined, text: /^I pretend that I know how to greet now\.$/ },
    { prompt: "/patch", kind: "completed", failure: undefined, text: /^These four changes are only shown/ },
    { prompt: "/plan", kind: "completed", failure: undefined, text: /^You said no, so the plan is only a plan\.$/ },
    { prompt: "/report", kind: "completed", failure: undefined, text: /^I pretend that two files changed/ },
    { prompt: "/task 0", kind: "completed", failure: undefined, text: /^"sleep 0" goes on in the background/ },
    {
      prompt: "/subagent",
      kind: "completed",
      failure: undefined,
      text: /^My subagent has reported that all is well\.$/,
    },
    { prompt: "/compact", kind: "completed", failure: undefined, text: /^$/ },
    { prompt: "/compact fail", kind: "failed", failure: "compaction", text: /^$/ },
    { prompt: "/question", kind: "completed", failure: undefined, text: /nobody can answer questions here\.$/ },
    { prompt: "/fork", kind: "completed", failure: undefined, text: /^I have not said anything yet/ },
    { prompt: "/warn", kind: "completed", failure: undefined, text: /^There was a warning/ },
    { prompt: "/ask-permission", kind: "completed", failure: undefined, text: /^You said no/ },
    { prompt: "/write note.txt", kind: "completed", failure: undefined, text: /^You said no/ },
    {
      prompt: "/retry",
      kind: "completed",
      failure: undefined,
      text: /^This answer breaks off once and starts again, and now it is whole\.$/,
    },
    { prompt: "/refuse", kind: "refused", failure: undefined, text: /^I will not help with that\.$/ },
    { prompt: "/policy", kind: "refused", failure: undefined, text: /^$/ },
    { prompt: "/truncate", kind: "truncated", failure: undefined, text: /stops in the$/ },
    { prompt: "/empty", kind: "empty", failure: undefined, text: /^$/ },
    { prompt: "/limit", kind: "failed", failure: "usage_limit", text: /^$/ },
    { prompt: "/rate-limit", kind: "failed", failure: "rate_limit", text: /^$/ },
    { prompt: "/overloaded", kind: "failed", failure: "overloaded", text: /^$/ },
    { prompt: "/auth", kind: "failed", failure: "auth", text: /^$/ },
    {
      prompt: "/partial-then-fail",
      kind: "failed",
      failure: "service_error",
      text: /^The answer begins well, and then$/,
    },
  ])("$prompt is $kind $failure", async ({ prompt, kind, failure, text }) => {
    const { outcome } = await play(runtime, prompt);
    expect({ kind: outcome.kind, failure: kindOf(outcome) ?? undefined }).toEqual({ kind, failure });
    expect(outcome.text).toMatch(text);
    expect(outcome.attempts).toBe(1);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

test("/limit tells the reset time as received, and is not tried again", async () => {
  await using runtime = await start();
  const { outcome } = await play(runtime, "/limit", { retries: 3 });
  expect(outcome).toMatchObject({
    attempts: 1,
    failure: { kind: "usage_limit", retry: "never", resetAt: "8pm (Europe/Berlin)" },
  });
});

test("/overloaded warns while it tries again by itself", async () => {
  await using runtime = await start();
  const { events } = await play(runtime, "/overloaded");
  const titles = events.flatMap((event) => (event.type === "warning" ? [event.failure.title] : []));
  expect(titles).toEqual(["Retrying the demo model, attempt 1 of 2", "Retrying the demo model, attempt 2 of 2"]);
});

test("/tool shows its output and exit code", async () => {
  await using runtime = await start();
  const { events } = await play(runtime, "/tool");
  expect(events.findLast((event) => event.type === "tool")).toMatchObject({ status: "completed", exitCode: 0 });
});

test("/ask-permission goes on after a yes", async () => {
  await using runtime = await start({ permissions: pick("allow_once") });
  const { outcome, events } = await play(runtime, "/ask-permission");
  expect(outcome).toMatchObject({ kind: "completed", denied: [] });
  expect(outcome.text).toMatch(/^You allowed it/);
  const asked = events.find((event) => event.type === "permission");
  expect(asked?.request.options.map(({ kind }) => kind)).toEqual([
    "allow_once",
    "allow_always",
    "reject_once",
    "reject_always",
  ]);
});

test("/crash is a death with the partial text and the last word", async () => {
  await using runtime = await start();
  const { outcome } = await play(runtime, "/crash");
  expect(outcome).toMatchObject({
    kind: "failed",
    partial: true,
    text: "The answer begins well, and then the process dies",
    failure: { kind: "agent_died", source: "exit", replaySafety: "unknown" },
  });
  expect(runtime.stderrTail()).toContain("demo agent: crashed on request");
  expect(runtime.state).toBe("dead");
});

test.each([
  { prompt: "/hang", graceMs: 60_000, stateAfter: "ready" },
  { prompt: "/hang-hard", graceMs: 50, stateAfter: "dead" },
])("$prompt is cancelled, and the agent is $stateAfter after it", async ({ prompt, graceMs, stateAfter }) => {
  await using runtime = await start();
  const session = await runtime.openSession({ cwd });
  const stop = new AbortController();
  const turn = session.prompt(prompt, { signal: stop.signal, timeouts: { cancelGraceMs: graceMs } });
  stop.abort();
  expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller" });
  expect(runtime.state).toBe(stateAfter);
});
