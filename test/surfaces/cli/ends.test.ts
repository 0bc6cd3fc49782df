/** Ends from outside: signals, readers that leave, full disks, a terminal that closes. Each is clean, and nothing is left. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { isRunning, untilLogged } from "../../acp/drive.ts";
import {
  agentOption,
  chunk,
  end,
  grandchildrenIn,
  hugeChunk,
  logOf,
  processesIn,
  tool,
  toolUpdate,
  turns,
  waitFor,
} from "../../fixtures/agents/scenario.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { bundleCli, shell as realShell } from "./real-cli.ts";
import { linesOf, newFolder } from "./run-main.ts";

let ostler: string;
beforeAll(async () => {
  ostler = await bundleCli("ends");
});
const shell = (command: string, scenario: Scenario, env?: Record<string, string>) =>
  realShell(ostler, command, scenario, env);

/** What is still there of the agents of a test and of what they started. */
const leftOf = (log: string) => [...processesIn(log), ...grandchildrenIn(log)].filter(isRunning);

const hello = turns([tool("t1"), toolUpdate("t1", { status: "completed" }), chunk("Hello"), end()]);
const untilCancelled = turns([
  { grandchild: { detached: true } },
  chunk("half"),
  waitFor("session/cancel"),
  end("cancelled"),
]);

test.each([
  { signal: "SIGINT", code: 130 },
  { signal: "SIGTERM", code: 143 },
  { signal: "SIGHUP", code: 129 },
] as const)("$signal ends the run with one result and no process left", async ({ signal, code }) => {
  const { child, done } = shell("exec ostler ask --json hi", untilCancelled);
  child.stdout.once("data", () => child.kill(signal));
  const ran = await done;
  expect(ran.code).toBe(code);
  expect(linesOf(ran.stdout).filter(({ type }) => type === "result")).toEqual([
    expect.objectContaining({ outcome: "cancelled", exitCode: code, text: "half" }),
  ]);
  expect({ left: leftOf(ran.log), stderr: ran.stderr }).toEqual({ left: [], stderr: "" });
});

// With the grace of two minutes that it does not wait for.
test("the second signal does not wait for an agent that ignores the first", async () => {
  const stubborn = turns([{ ignoreSignals: ["SIGTERM"] }, { ignoreStdinEnd: true }, chunk("half"), waitFor("never")]);
  const patient = `mkdir home && echo '{"timeouts":{"cancelGraceS":120}}' >home/config.json`;
  const { child, done, folder } = shell(`${patient} && exec ostler ask --json hi`, stubborn);
  const log = join(folder, "agent.log");
  await once(child.stdout, "data");
  child.kill("SIGINT");
  await untilLogged(log, () => logOf(log).some(({ frame }) => frame?.method === "session/cancel"));
  child.kill("SIGTERM");
  const ran = await done;
  expect(ran.code).toBe(130);
  const result = linesOf(ran.stdout).find(({ type }) => type === "result");
  expect(result).toMatchObject({ outcome: "cancelled", text: "half" });
  expect(leftOf(ran.log)).toEqual([]);
});

test("a signal before there is a turn to cancel", async () => {
  const mute: Scenario = { on: { initialize: [[{ grandchild: { detached: true } }, waitFor("never")]] } };
  const { child, done, folder } = shell("mkfifo agent.log && echo ready >&2 && exec ostler ask --json hi", mute);
  await once(child.stderr, "data");
  let log = "";
  // Open for writing too, so that it does not end between two lines.
  const agent = createReadStream(join(folder, "agent.log"), { flags: "r+" });
  agent.on("data", (data) => (log += data.toString()));
  while (!log.includes("grandchild")) await once(agent, "data");
  child.kill("SIGTERM");
  const ran = await done;
  expect(ran.code).toBe(143);
  expect(linesOf(ran.stdout)).toEqual([expect.objectContaining({ type: "result", outcome: "cancelled" })]);
  agent.destroy();
  writeFileSync(join(folder, "kept.log"), log);
  expect(leftOf(join(folder, "kept.log"))).toEqual([]);
});

test("a reader that leaves ends the turn quietly, as SIGPIPE would", async () => {
  const scenario = turns([
    ...hugeChunk(3_000_000),
    chunk("\n"),
    ...hugeChunk(3_000_000),
    waitFor("session/cancel"),
    end("cancelled"),
  ]);
  const { stdout, stderr, log } = await shell('{ ostler ask hi; echo "code $?" >&2; } | head -c 5', scenario).done;
  expect(stdout).toBe("xxxxx");
  expect(stderr).toBe("code 141\n");
  expect(leftOf(log)).toEqual([]);
});

/** A pipe on this descriptor that nobody reads any more. */
const unread = (fd: number) => `mkfifo pipe; exec 9<>pipe ${fd}>pipe 9<&-; `;

test.each([
  { from: "stderr, a pipe nobody reads", command: `${unread(2)}ostler ask hi`, code: 0, stdout: "Hello\n", stderr: "" },
  { from: "stderr on a full disk", command: "ostler ask hi 2>/dev/full", code: 0, stdout: "Hello\n" },
  {
    from: "stdout, a pipe nobody reads",
    command: `${unread(1)}ostler ask hi`,
    code: 141,
    stdout: "",
    stderr: "▸ Run tests\n✓ Run tests\n",
  },
  { from: "both pipes unread", command: `${unread(1)}exec 2>&1; ostler ask hi`, code: 141, stdout: "" },
  { from: "all three closed", command: "ostler ask hi <&- >&- 2>&-", code: 0, stdout: "" },
  { from: "a usage error to a stderr nobody reads", command: `${unread(2)}ostler ask --bad`, code: 2, stdout: "" },
])("$from", async ({ command, code, stdout, stderr = "" }) => {
  const ran = await shell(command, hello).done;
  expect({ code: ran.code, stdout: ran.stdout, stderr: ran.stderr }).toEqual({ code, stdout, stderr });
  expect(leftOf(ran.log)).toEqual([]);
});

test("a full disk for the answer is a sentence", async () => {
  const { code, stderr, log } = await shell("ostler ask hi >/dev/full", turns([chunk("Hello"), end()])).done;
  expect({ code, stderr }).toEqual({ code: 1, stderr: "ostler: Cannot write the answer: ENOSPC\n" });
  expect(leftOf(log)).toEqual([]);
});

test("a full disk for log, lease and trace is three sentences, and the turn is as it was", async () => {
  // No file may grow: as good as a full disk.
  const { done, state } = shell(
    "ulimit -f 0; ostler ask --trace t.jsonl hi",
    { ...hello, log: "/dev/null" },
    {
      OSTLER_LOG: "info",
      AGENT_LOG: "",
    },
  );
  const { code, stdout, stderr } = await done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello\n" });
  expect(stderr.match(/The log in \S+ cannot be written \(EFBIG\)/g)).toHaveLength(1);
  expect(stderr.match(/Agents cannot be written down in \S+ \(EFBIG\)/g)).toHaveLength(1);
  expect(stderr.match(/The trace ends here: its file cannot be written any more \(EFBIG\)/g)).toHaveLength(1);
  expect(existsSync(join(state, "crash-reports"))).toBe(false);
});

test("a terminal that closes is a hangup", async () => {
  const folder = newFolder();
  const log = join(folder, "agent.log");
  const home = join(folder, "home");
  const agent = agentOption(untilCancelled, folder);
  const command = `exec "${process.execPath}" "${ostler}" ask --log-level info --agent '${agent}' hi`;
  // Whoever runs in the terminal holds the last pipe open.
  const terminal = spawn("script", ["-qec", command, "/dev/null"], {
    cwd: folder,
    env: { PATH: process.env["PATH"], OSTLER_HOME: home, AGENT_LOG: log },
    stdio: ["pipe", "pipe", "inherit", "pipe"],
  });
  const [, screen, , held] = terminal.stdio;
  let shown = "";
  screen?.on("data", (data: Buffer) => {
    shown += data.toString();
    if (shown.includes("half")) terminal.kill("SIGKILL");
  });
  held?.on("data", () => {});
  await once(held ?? terminal, "close");
  expect(leftOf(log)).toEqual([]);
  const records = linesOf(readFileSync(join(home, "state/logs/ostler.log"), "utf8"));
  expect(records).toContainEqual(expect.objectContaining({ event: "turn.ended", outcome: "cancelled" }));
  expect(existsSync(join(home, "state/crash-reports"))).toBe(false);
});
