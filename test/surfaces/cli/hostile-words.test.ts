import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TurnEvent } from "../../../src/acp/events.ts";
import { BatchedOutput } from "../../../src/surfaces/cli/output.ts";
import { Remarks } from "../../../src/surfaces/cli/remarks.ts";
import { renderStatus } from "../../../src/surfaces/cli/status-line.ts";
import { Terminal } from "../../../src/surfaces/cli/terminal.ts";
import { cpuMs } from "../../cpu-time.ts";
import {
  call,
  chunk,
  end,
  permission,
  record,
  recordUpdate,
  tool,
  turns,
  update,
} from "../../fixtures/agents/scenario.ts";
import { Collector, linesOf, newFolder, run } from "./run-main.ts";

const SECRET = "sk-ant-api03-aB3dE6gH9aB3dE6gH9aB3dE6gH9";
/** A title sequence, a colour, a C1 control, directions, an unseen letter, a secret and a private path. */
const HOSTILE = `\u001B]0;pwn\u0007\u001B[31mred\u009B2J\u202E\u2066\u061C\u200B ${SECRET} /home/alice/x \r\nsecond\u2028line`;
// oxlint-disable-next-line no-control-regex -- what must not reach a terminal
const COMMANDS = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u061C\u200B\u2028\u202E\u2066]/;

const everyWord = turns([
  tool("t1", { title: HOSTILE, kind: "execute" }),
  tool("t2", { title: "", kind: HOSTILE }),
  update({ sessionUpdate: "plan", entries: [{ content: HOSTILE, status: "pending" }] }),
  update({ sessionUpdate: "available_commands_update", availableCommands: [{ name: HOSTILE, description: HOSTILE }] }),
  update({ sessionUpdate: "current_mode_update", currentModeId: HOSTILE }),
  update({ sessionUpdate: "session_info_update", _meta: { codex: { error: { willRetry: true, message: HOSTILE } } } }),
  recordUpdate(record({ id: "w1", severity: "warning", title: HOSTILE, details: HOSTILE })),
  call("_kiro/system/notify", { sessionId: "$S", message: HOSTILE }),
  permission("t1", { title: HOSTILE }),
  chunk("works"),
  end(HOSTILE),
]);
const named = {
  ...everyWord,
  initializeResult: { agentInfo: { name: HOSTILE, title: HOSTILE, version: HOSTILE } },
  newResult: { modes: { currentModeId: HOSTILE, availableModes: [] }, models: { currentModelId: HOSTILE } },
};

test.each(["text", "json", "ndjson", "quiet"])(
  "%s: no word of an agent commands the terminal or tells a secret",
  async (format) => {
    const { stdout, stderr } = await run(["ask", "--format", format, "--profile", "kiro", "hello"], {
      scenario: named,
    });
    expect(stderr).not.toMatch(COMMANDS);
    expect(stdout).not.toMatch(COMMANDS);
    for (const hidden of [SECRET, "/home/alice"]) expect(stdout + stderr).not.toContain(hidden);
    expect(stdout).toContain("works");
  },
);

test("ndjson: the names that an agent gives besides titles are scrubbed too", async () => {
  const meta = {
    claudeCode: { toolName: HOSTILE, nonExecutionKind: HOSTILE },
    jetbrains: { air: { version: 1, skill: { name: HOSTILE } } },
  };
  const scenario = turns([
    tool("t1", { title: "Load", kind: "other", _meta: meta }),
    update({ sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: 1, currency: HOSTILE } }),
    chunk("works"),
    end(),
  ]);
  const { stdout } = await run(["ask", "--json", "hello"], { scenario });
  const scrubbed = "red [redacted] ~/x second line";
  expect(linesOf(stdout).slice(1, 3)).toMatchObject([
    { type: "tool", name: scrubbed, notRun: scrubbed, skill: { name: scrubbed } },
    { type: "usage", cost: { currency: scrubbed } },
  ]);
  expect(stdout).not.toContain(SECRET);
});

test("ndjson: the answer and what tools took and gave keep every letter", async () => {
  const letters = "\u0000\u001B[31m\u009B\u202E\u2028 sk-ant-api03-aB3dE6gH9aB3dE6gH9";
  const scenario = turns([tool("t1", { rawInput: { text: letters }, rawOutput: letters }), chunk(letters), end()]);
  const { stdout } = await run(["ask", "--json", "hello"], { scenario });
  expect(stdout).not.toMatch(COMMANDS);
  const lines = linesOf(stdout);
  expect(lines.find(({ type }) => type === "tool")).toMatchObject({ rawInput: { text: letters }, rawOutput: letters });
  expect(lines.at(-1)).toMatchObject({ type: "result", text: letters });
});

test("ndjson: input nested a hundred thousand deep is an event like any other", async () => {
  const scenario = turns([
    { raw: '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"$S","update":{' },
    { raw: '"sessionUpdate":"tool_call","toolCallId":"deep","title":"deep","kind":"read","rawInput":' },
    { raw: "[", times: 100_000 },
    { raw: "]", times: 100_000 },
    { raw: "}}}\n" },
    chunk("works"),
    end(),
  ]);
  const { exitCode, stdout } = await run(["ask", "--json", "hello"], { scenario });
  expect(exitCode).toBe(0);
  const lines = linesOf(stdout);
  expect(lines.map(({ type }) => type)).toEqual(["session", "tool", "text", "result"]);
  expect(lines[1]).toMatchObject({ toolCallId: "deep", status: "pending" });
});

test("a folder and a config file are not trusted with the terminal either", async () => {
  const folder = join(newFolder(), "\u001B]0;pwn\u0007\u202E");
  mkdirSync(folder);
  writeFileSync(join(folder, ".ostler.json"), JSON.stringify({ "\u001B[31m\u202E": 1, [SECRET]: 2 }));
  const { exitCode, stderr } = await run(["ask", "hello"], { folder, scenario: turns([chunk("works"), end()]) });
  expect(exitCode).toBe(0);
  expect(stderr).toContain("is not a setting");
  expect(stderr).not.toMatch(COMMANDS);
  expect(stderr).not.toContain(SECRET);
});

test.each([["doctor"], ["doctor", "--json"], ["backends"]])("ostler %s %s: the same", async (...argv) => {
  const folder = join(newFolder(), "\u001B]0;pwn\u0007\u202E\u009B");
  mkdirSync(folder);
  writeFileSync(join(folder, ".ostler.json"), JSON.stringify({ "\u001B[31m\u202E": 1, [SECRET]: 2 }));
  const { stdout, stderr } = await run(argv, { folder, env: { PATH: folder } });
  expect(stdout + stderr).toContain("is not a setting");
  expect(stdout + stderr).not.toMatch(COMMANDS);
  expect(stdout + stderr).not.toContain(SECRET);
});

test("the live line shows no more of a tool than the remarks do", () => {
  const line = renderStatus({ backend: "codex", startedAtMs: 0, activity: { tool: HOSTILE, runs: true } }, 0, 500);
  expect(line).not.toMatch(COMMANDS);
  expect(line).not.toContain(SECRET);
});

test("a call without a title is told by its kind, scrubbed", () => {
  const event: TurnEvent = { type: "tool", toolCallId: "t", title: "", kind: HOSTILE, status: "pending", paths: [] };
  const [remark] = new Remarks().of(event);
  expect(remark?.text).toBe("▸ red [redacted] ~/x second line");
});

test("line ends are held back in the time that they take to read", async () => {
  const stdout = new Collector();
  const output = new BatchedOutput(stdout);
  const terminal = new Terminal({
    stdout: output,
    stdoutIsTerminal: false,
    stderr: new Collector(),
    env: {},
    noColor: true,
  });
  const ends = "\n".repeat(1_000_000);
  const startedAt = cpuMs();
  terminal.print("a");
  terminal.print(ends);
  for (let count = 0; count < 10_000; count += 1) terminal.print("\n");
  terminal.print(`b${ends}`);
  terminal.endAnswer();
  await terminal.finish();
  expect(cpuMs() - startedAt).toBeLessThan(2000);
  expect(stdout.text === `a${ends}${"\n".repeat(10_000)}b\n`).toBe(true);
});
