/** The CLI as a real process: pipes, signals, and what the operating system makes of its streams. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { beforeAll, expect, test } from "vitest";
import {
  agentOption,
  chunk,
  end,
  hugeChunk,
  processesIn,
  promptsIn,
  turns,
  waitFor,
} from "../../fixtures/agents/scenario.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { newFolder } from "./run-main.ts";

const SOURCE = fileURLToPath(new URL("../../../src/surfaces/cli/ostler.ts", import.meta.url));
/** Inside the project, so that its dependencies are found. */
const BUNDLE = fileURLToPath(new URL("../../../node_modules/.cache/ostler-cli-test", import.meta.url));
const OSTLER = join(BUNDLE, "ostler.js");

/** One file starts several times as fast as the sources, and is what is shipped. */
beforeAll(async () => {
  const bundle = await rolldown({ input: { ostler: SOURCE }, platform: "node", logLevel: "silent" });
  await bundle.write({ dir: BUNDLE, format: "esm" });
  await bundle.close();
});

/** A shell command in which `ostler ARGS` is the CLI with an agent that plays `scenario`. */
function shell(command: string, scenario: Scenario) {
  const folder = newFolder();
  const log = join(folder, "agent.log");
  const line = command.replaceAll(
    "ostler ask",
    `"${process.execPath}" "${OSTLER}" ask --agent '${agentOption(scenario, folder)}'`,
  );
  const child = spawn("bash", ["-c", line], {
    cwd: folder,
    env: { PATH: process.env["PATH"], OSTLER_HOME: join(folder, "home"), AGENT_LOG: log },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const done = once(child, "close").then(([code]: unknown[]) => ({ code, stdout, stderr, log }));
  return { child, done, folder };
}

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const hello = turns([chunk("Hello"), end()]);
const UNREAD = "The data on stdin was not read; -f - adds it to the prompt.\n";

test("a pipe is the prompt when there is no other", async () => {
  const { code, stdout, log } = await shell("printf 'line 1\\nline 2\\n' | ostler ask", hello).done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello\n" });
  expect(promptsIn(log)[0]?.params?.["prompt"]).toEqual([{ type: "text", text: "line 1\nline 2" }]);
});

test("-f - joins words and pipe", async () => {
  const { log } = await shell("echo 'the diff' | ostler ask -f - review this", hello).done;
  expect(promptsIn(log)[0]?.params?.["prompt"]).toEqual([{ type: "text", text: "review this\n\nthe diff" }]);
});

test("an open pipe is not waited for", async () => {
  const { code, stdout, stderr } = await shell(
    "(sleep 30 & echo $! >pid; wait) | { ostler ask hi; kill $(cat pid); }",
    hello,
  ).done;
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "Hello\n", stderr: "" });
});

test("a pipe whose data was not read is said", async () => {
  const { code, stdout, stderr } = await shell("echo data | ostler ask hi", hello).done;
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "Hello\n", stderr: UNREAD });
});

test("a socket as stdin, as programs give it to their children, is no different", async () => {
  const folder = newFolder();
  const argv = [OSTLER, "ask", "--agent", agentOption(hello, folder), "hi"];
  const child = spawn(process.execPath, argv, { cwd: folder, env: { OSTLER_HOME: join(folder, "home") } });
  let stderr = "";
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  child.stdin.write("data");
  expect(await once(child, "close")).toEqual([0, null]);
  expect(stderr).toBe(UNREAD);
});

test("the lines of a shell loop are left to the loop", async () => {
  const { stdout, stderr, log } = await shell(
    "printf 'one\\ntwo\\n' | while read -r word; do ostler ask \"$word\"; done",
    hello,
  ).done;
  expect({ stdout, stderr }).toEqual({ stdout: "Hello\nHello\n", stderr: "" });
  expect(promptsIn(log).map(({ params }) => params?.["prompt"])).toEqual([
    [{ type: "text", text: "one" }],
    [{ type: "text", text: "two" }],
  ]);
});

test.each([
  { from: "a closed stdin", command: "ostler ask hi <&-", code: 0, stderr: "" },
  { from: "an empty file", command: "ostler ask hi </dev/null", code: 0, stderr: "" },
  {
    from: "a closed stdin and no prompt",
    command: "ostler ask <&-",
    code: 2,
    stderr: 'ostler: Nothing to ask: no prompt is given and stdin is empty; write: ostler ask "your question"\n',
  },
  {
    from: "bytes that are not UTF-8",
    command: "printf '\\xff\\xfe' | ostler ask",
    code: 2,
    stderr: "ostler: The text from stdin is not UTF-8\n",
  },
  {
    from: "NUL bytes",
    command: "printf 'a\\0b' | ostler ask",
    code: 2,
    stderr: "ostler: The text from stdin holds NUL bytes, so it is no prompt; attach files with --attach\n",
  },
])("$from", async ({ command, code, stderr }) => {
  const ran = await shell(command, hello).done;
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code, stderr });
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
  expect(processesIn(log).filter(alive)).toEqual([]);
});

test("help into a pipe that closes is no crash", async () => {
  const { stderr } = await shell(`"${process.execPath}" "${OSTLER}" ask --help | true`, hello).done;
  expect(stderr).toBe("");
});

test("a folder that is gone is a sentence, and no reason not to help", async () => {
  const gone = "mkdir gone && cd gone && rmdir ../gone && ";
  const asked = await shell(`${gone}ostler ask hi`, hello).done;
  expect(asked.code).toBe(2);
  expect(asked.stderr).toMatch(/^ostler: Cannot work in \S+\/gone: there is no such folder\n$/);
  const helped = await shell(`${gone}"${process.execPath}" "${OSTLER}" --help`, hello).done;
  expect(helped).toMatchObject({ code: 0, stderr: "" });
});

test.each([
  { from: "-f", option: "-f pipe" },
  { from: "--mcp", option: "--mcp pipe hi" },
  { from: "--config", option: "--config pipe hi" },
  { from: "--permission-policy", option: "--permission-policy pipe hi" },
])("a stop while $from waits for a pipe that nobody writes to", async ({ option }) => {
  const { child, done, folder } = shell(`mkfifo pipe && echo ready && exec ostler ask --json ${option}`, hello);
  await once(child.stdout, "data");
  // Opens when somebody has opened it for reading.
  await using writer = await open(join(folder, "pipe"), "w");
  child.kill("SIGTERM");
  const { code, stdout } = await done;
  expect({ code, writes: writer.fd > 0 }).toEqual({ code: 143, writes: true });
  expect(stdout.split("\n").at(-2)).toContain('"outcome":"cancelled"');
});

test.each(["doctor", "backends"])("a stop while %s waits for a pipe that nobody writes to", async (command) => {
  const line = `mkfifo pipe && echo ready && exec "${process.execPath}" "${OSTLER}" ${command} --config pipe`;
  const { child, done, folder } = shell(line, hello);
  await once(child.stdout, "data");
  await using writer = await open(join(folder, "pipe"), "w");
  child.kill("SIGINT");
  expect({ code: (await done).code, writes: writer.fd > 0 }).toEqual({ code: 130, writes: true });
});

test("a bug that nothing caught is a sentence, and its place is for --verbose", async () => {
  const bug =
    'if (process.argv[1].endsWith("ostler.js")) setTimeout(() => { throw new TypeError("oops /home/ann/x"); }, 100);';
  const line = `echo '${bug}' >bug.mjs; export NODE_OPTIONS=--import=./bug.mjs; ostler ask hi`;
  const scenario = turns([chunk("half"), waitFor("session/cancel")]);
  const plain = await shell(line, scenario).done;
  expect(plain.code).toBe(1);
  expect(plain.stderr).toBe(
    "ostler: Something in Ostler itself went wrong (TypeError); the same command with --verbose shows where\n",
  );
  const verbose = await shell(`${line} --verbose`, scenario).done;
  expect(verbose.stderr).toContain("TypeError: oops ~/x\n    at ");
});

test("a file that never ends is refused", async () => {
  const { code, stderr } = await shell("ostler ask -f /dev/zero", hello).done;
  expect({ code, stderr }).toEqual({ code: 2, stderr: "ostler: The text from /dev/zero is longer than 10 MiB\n" });
});

test("-f reads what a command writes", async () => {
  const { log } = await shell("ostler ask -f <(echo the diff)", hello).done;
  expect(promptsIn(log)[0]?.params?.["prompt"]).toEqual([{ type: "text", text: "the diff" }]);
});

test("a full disk is a sentence", async () => {
  const { code, stderr } = await shell("ostler ask hi >/dev/full", hello).done;
  expect({ code, stderr }).toEqual({ code: 1, stderr: "ostler: Cannot write the answer: ENOSPC\n" });
});

test.each([
  { signal: "SIGINT", code: 130 },
  { signal: "SIGTERM", code: 143 },
] as const)("$signal ends the run with one result and no process left", async ({ signal, code }) => {
  const { child, done } = shell(
    "exec ostler ask --json hi",
    turns([chunk("half"), waitFor("session/cancel"), end("cancelled")]),
  );
  child.stdout.once("data", function look() {
    child.kill(signal);
  });
  const ran = await done;
  expect(ran.code).toBe(code);
  expect(ran.stdout.match(/"type":"result"/g)).toHaveLength(1);
  expect(processesIn(ran.log).filter(alive)).toEqual([]);
});

test("Ctrl-C works while nobody reads the answer", async () => {
  const scenario = turns([...hugeChunk(8_000_000), waitFor("session/cancel"), end("cancelled")]);
  const { child, done } = shell("exec ostler ask hi", scenario);
  child.stdout.once("data", () => {
    child.stdout.pause();
    child.kill("SIGINT");
    child.once("exit", () => child.stdout.resume());
  });
  const ran = await done;
  expect(ran.code).toBe(130);
  expect(processesIn(ran.log).filter(alive)).toEqual([]);
});
