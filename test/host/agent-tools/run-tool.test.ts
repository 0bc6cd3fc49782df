/** The tool `run` as an agent calls it: over MCP, with real commands under real confinement. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PermissionRequest } from "../../../src/acp/types.ts";
import { createPermissionPolicy } from "../../../src/host/permissions.ts";
import type { McpClient } from "./mcp-client.ts";
import { StartedTools, allowAll } from "./started-tools.ts";

test("the tools are listed with strict schemas", async () => {
  const tools = await (await (await StartedTools.start()).connect()).tools();
  expect(tools.map(({ name }) => name)).toEqual(["run", "failure_disposition"]);
  for (const { inputSchema } of tools) expect(inputSchema["additionalProperties"]).toBe(false);
  expect(tools[0]?.inputSchema["required"]).toEqual(["command"]);
  expect(tools[1]?.inputSchema["required"]).toEqual(["disposition", "targets", "reason"]);
});

test.each([
  {
    from: "a success",
    input: { command: "echo out; echo err >&2; pwd; echo $GREETING" },
    text: /^out\nerr\n.*\/mine\/work\nhello\n\[Exit code 0, after \d+\.\d s\]$/,
    isError: false,
    exitCode: 0,
  },
  {
    from: "a failure",
    input: { command: "printf partial; exit 3" },
    text: /^partial\n\[Exit code 3, after .* s\]$/,
    isError: true,
    exitCode: 3,
  },
  {
    from: "a declared exit (failure observations, case 16)",
    input: { command: "exit 1", expectedExitCodes: [1] },
    text: /^\[Exit code 1, as expected, after .* s\]$/,
    isError: false,
    exitCode: 1,
  },
  {
    from: "an exit that was not the declared one (failure observations, case 17)",
    input: { command: "exit 2", expectedExitCodes: [1] },
    text: /^\[Exit code 2, after .* s\]$/,
    isError: true,
    exitCode: 2,
  },
  {
    from: "ended by a signal: as every shell tells it",
    input: { command: "kill -9 $$" },
    text: /^\[Exit code 137, after .* s\]$/,
    isError: true,
    exitCode: 137,
  },
  {
    from: "no stdin: nothing waits for it",
    input: { command: "cat; echo end" },
    text: /^end\n\[Exit code 0/,
    isError: false,
    exitCode: 0,
  },
])("$from", async ({ input, text, isError, exitCode }) => {
  const started = await StartedTools.start();
  const answer = await (await started.connect()).call("run", input);
  expect(answer).toMatchObject({ text: expect.stringMatching(text), isError });
  expect(answer.structured).toMatchObject({ exitCode, signal: null, timedOut: false, durationMs: expect.any(Number) });
  const { command, ...intent } = input;
  const told = { command, cwd: started.home.work, timeout: 600, ...intent };
  const callId = expect.stringMatching(/^call_[0-9a-f]{18}$/);
  expect(started.events).toEqual([
    { type: "call", state: "started", callId, tool: "run", input: told },
    { type: "call", state: "ended", callId, tool: "run", exitCode, signal: null, timedOut: false, cancelled: false },
  ]);
});

test.each([
  { from: "a program that is gone", file: "/nonexistent/bwrap", args: [], problem: "ENOENT" },
  { from: "more words than the kernel takes", file: "/bin/true", args: ["x".repeat(200_000)], problem: "E2BIG" },
  {
    from: "bubblewrap that fails",
    file: "/bin/sh",
    args: ["-c", "echo 'bwrap: Creating new namespace failed' >&2; exit 1"],
    problem: "Creating new namespace failed",
  },
])("it could not be started: $from", async ({ file, args, problem }) => {
  const started = await StartedTools.start({ confine: () => ({ file, args }) });
  const answer = await (await started.connect()).call("run", { command: "true", expectedExitCodes: [1] });
  expect(answer).toMatchObject({ text: `[The command could not be started: ${problem}]`, isError: true });
  expect(started.events[1]).toMatchObject({ state: "ended", exitCode: null, problem });
});

test("it runs under the confinement of its agent", async () => {
  const started = await StartedTools.start();
  const { home } = started;
  const before = home.snapshot();
  const command = `echo forged >${home.ostler}/state/provenance/x; ls /proc/${process.pid}/exe; echo ok >made.txt`;
  const { text } = await (await started.connect()).call("run", { command });
  expect(text).toContain("Read-only file system");
  expect(text).toContain("No such file or directory");
  expect(home.snapshot()).toEqual(before);
  expect(readFileSync(join(home.work, "made.txt"), "utf8")).toBe("ok\n");
});

describe("refused before anything runs", () => {
  test.each([
    {
      from: "failure observations, case 24",
      input: { command: "touch made.txt", expectedExitCodes: "1", attemptId: "a1" },
      reason: "expectedExitCodes must be a list of 1 to 16 different whole numbers from 1 to 255",
      attemptId: "a1",
    },
    {
      from: "a field that there is not",
      input: { command: "touch made.txt", expected_exit_codes: [1] },
      reason: 'There is no field "expected_exit_codes"; did you mean expectedExitCodes?',
    },
    {
      from: "a folder that is not there",
      input: { command: "touch made.txt", cwd: "/nonexistent" },
      reason: "cwd is not a folder: /nonexistent",
    },
    {
      from: "failure observations, case 26: an id of an earlier process of the run",
      input: { command: "touch made.txt", attemptId: "spent" },
      reason: "attemptId spent was already used in this run; choose another one",
      attemptId: "spent",
    },
  ])("$from", async ({ input, reason, attemptId }) => {
    const started = await StartedTools.start({ isSpent: (id) => id === "spent" });
    const answer = await (await started.connect()).call("run", input);
    expect(answer).toEqual({ text: `The command did not run: ${reason}`, isError: true, structured: undefined });
    const callId = expect.any(String);
    const named = attemptId === undefined ? {} : { attemptId };
    expect(started.events).toEqual([
      { type: "call", state: "refused", callId, tool: "run", input, by: "intent", reason, ...named },
    ]);
    expect(existsSync(join(started.home.work, "made.txt"))).toBe(false);
  });

  test("an attemptId that another call named, also a refused one, also at the same time", async () => {
    const started = await StartedTools.start();
    const client = await started.connect();
    const answers = await Promise.all([
      client.call("run", { command: "true", attemptId: "a1" }),
      client.call("run", { command: "true", attemptId: "a1" }),
      client.call("run", { command: 5, attemptId: "a2" }),
    ]);
    expect(answers.map(({ isError }) => isError)).toEqual([false, true, true]);
    expect(await client.call("run", { command: "true", attemptId: "a2" })).toMatchObject({
      text: "The command did not run: attemptId a2 was already used in this run; choose another one",
    });
  });
});

describe("the permission policy", () => {
  test("is asked for the command as an execution, with a yes for once and a no", async () => {
    const asked: PermissionRequest[] = [];
    const started = await StartedTools.start({
      permissions: (request, signal) => {
        asked.push(request);
        return allowAll(request, signal);
      },
    });
    mkdirSync(join(started.home.work, "src"));
    await (await started.connect()).call("run", { command: "true", cwd: "src" });
    expect(asked).toMatchObject([
      {
        kind: "execute",
        rawInput: { command: "true", cwd: join(started.home.work, "src") },
        isQuestion: false,
        options: [{ kind: "allow_once" }, { kind: "reject_once" }],
      },
    ]);
  });

  test.each([
    { from: "reading alone is approved", rules: undefined, reason: /^Only reading and searching inside the workspace/ },
    {
      from: "a rule denies it",
      rules: { default: "allow", allow: [], ask: [], deny: [{ command: ["touch"] }] } as const,
      reason: /deny rule 1/,
    },
  ])("says no: $from", async ({ rules, reason }) => {
    const started = await StartedTools.start();
    const workspace = started.home.work;
    const policy = createPermissionPolicy({ approve: "reads", workspace, ...(rules !== undefined && { rules }) });
    const strict = await StartedTools.start({ permissions: policy });
    const answer = await (await strict.connect()).call("run", { command: "touch made.txt", attemptId: "a1" });
    expect(answer.text).toMatch(/^The command did not run: /);
    expect(strict.events).toMatchObject([
      { state: "refused", by: "permission", reason: expect.stringMatching(reason), attemptId: "a1" },
    ]);
    expect(existsSync(join(strict.home.work, "made.txt"))).toBe(false);
  });
});

/** Resolves when the file is there. */
function appeared(file: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(join(file, ".."), look);
    function look(): void {
      if (!existsSync(file)) return;
      watcher.close();
      resolve();
    }
    look();
  });
}

/** Of this test alone. */
const LONG = `sleep 1000000.${process.pid}`;

/** 0 = it runs, 1 = it does not. */
const statusOfPgrep = () => spawnSync("pgrep", ["-fx", LONG]).status;

describe("the end of a command", () => {
  const PATIENT = `trap 'echo bye; exit 9' TERM; touch started; sleep 300 & wait`;
  const STUBBORN = `trap '' TERM; (trap '' TERM; setsid ${LONG} &) ; touch started; ${LONG}`;

  test("its timeout: it is asked first, and the exit code is none that was declared", async () => {
    const started = await StartedTools.start();
    const input = { command: PATIENT, timeout: 0.5, expectedExitCodes: [9] };
    const answer = await (await started.connect()).call("run", input);
    expect(answer).toMatchObject({ text: "bye\n[Ended after its timeout of 0.5 s]", isError: true });
    expect(answer.structured).toMatchObject({ timedOut: true });
    expect(started.events[1]).toMatchObject({ state: "ended", timedOut: true, cancelled: false });
  });

  test.each([
    {
      from: "notifications/cancelled",
      end: (_: StartedTools, client: McpClient, requestId: number) =>
        client.notify("notifications/cancelled", { requestId }),
    },
    { from: "the end of the turn", end: (started: StartedTools) => started.tools.endCommands() },
    { from: "the end of the run", end: (started: StartedTools) => started.tools.close() },
  ])("$from ends all of its tree", async ({ end }) => {
    const started = await StartedTools.start();
    const client = await started.connect();
    const ended = Promise.withResolvers<void>();
    started.events.push = (...events) => {
      if (events.some((event) => "state" in event && event.state === "ended")) ended.resolve();
      return Array.prototype.push.apply(started.events, events);
    };
    const requestId = client.nextId;
    const answer = client.call("run", { command: STUBBORN }).catch(() => undefined);
    await appeared(join(started.home.work, "started"));
    expect(statusOfPgrep()).toBe(0);
    await end(started, client, requestId);
    await ended.promise;
    expect(started.events.at(-1)).toMatchObject({ state: "ended", timedOut: false, cancelled: true });
    expect(statusOfPgrep()).toBe(1);
    void answer;
  });

  test("what it left in the background ends with it", async () => {
    const started = await StartedTools.start();
    const { text } = await (await started.connect()).call("run", { command: `setsid ${LONG} & echo done` });
    expect(text).toMatch(/^done\n\[Exit code 0/);
    expect(statusOfPgrep()).toBe(1);
  });

  test("after the end of a turn the next one runs commands again", async () => {
    const started = await StartedTools.start();
    const client = await started.connect();
    await started.tools.endCommands();
    expect(await client.call("run", { command: "true" })).toMatchObject({ isError: false });
  });
});

test("a call that is cancelled while somebody thinks about it runs nothing and is no failure", async () => {
  const started = await StartedTools.start({ permissions: () => Promise.withResolvers<never>().promise });
  const client = await started.connect();
  const answer = client.call("run", { command: "touch made.txt" });
  await client.call("failure_disposition", {});
  await started.tools.endCommands();
  expect(await answer).toMatchObject({ text: "The command did not run: the call was cancelled", isError: true });
  expect(started.events).toEqual([]);
});

test("a policy that breaks allows nothing", async () => {
  const started = await StartedTools.start({ permissions: () => Promise.reject(new Error("broken")) });
  const answer = await (await started.connect()).call("run", { command: "touch made.txt" });
  expect(answer.text).toBe("The command did not run: Whether it is allowed could not be decided");
  expect(started.events).toMatchObject([{ state: "refused", by: "permission" }]);
});

test("more commands at a time than anybody could follow: said, and nothing is recorded", async () => {
  const waiting = Promise.withResolvers<never>();
  const started = await StartedTools.start({ permissions: () => waiting.promise });
  const client = await started.connect();
  for (let count = 0; count < 16; count += 1) void client.call("run", { command: "true" }).catch(() => undefined);
  const answer = await client.call("run", { command: "true" });
  expect(answer.text).toBe("The command did not run: 16 commands are running; wait until one has ended");
  expect(started.events).toEqual([]);
});

test("failure_disposition is handed on as it came, and its refusal is an error", async () => {
  const requests: unknown[] = [];
  const started = await StartedTools.start({
    dispose: ({ request }) => {
      requests.push(request);
      return Promise.resolve({ accepted: requests.length > 1, message: `answer ${requests.length}` });
    },
  });
  const client = await started.connect();
  const request = { disposition: "open", targets: ["a1"], reason: "r", anything: [1] };
  expect(await client.call("failure_disposition", request)).toMatchObject({ text: "answer 1", isError: true });
  expect(await client.call("failure_disposition", request)).toMatchObject({ text: "answer 2", isError: false });
  expect(requests).toEqual([request, request]);
});

test("a tool that there is not", async () => {
  const answer = await (await (await StartedTools.start()).connect()).call("shell", {});
  expect(answer).toMatchObject({
    text: "There is no tool shell; the tools are run and failure_disposition",
    isError: true,
  });
});
