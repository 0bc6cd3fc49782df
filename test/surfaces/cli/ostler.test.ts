/** The CLI as a real process: pipes, signals, and what the operating system makes of its streams. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { agentOption, chunk, end, promptsIn, turns } from "../../fixtures/agents/scenario.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { bundleCli, shell as realShell } from "./real-cli.ts";
import { newFolder } from "./run-main.ts";

let ostler: string;
beforeAll(async () => {
  ostler = await bundleCli("ostler");
});
const shell = (command: string, scenario: Scenario) => realShell(ostler, command, scenario);

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

/** `node npx.cjs` runs the command as npx does: two processes in between that hand stdin on and do not read it. */
const throughNpx = (command: string) => `
export npm_lifecycle_event=npx
cat >command <<'END'
${command}; exit
END
cat >npx.cjs <<'END'
process.title = "npm exec ask";
const command = require("node:fs").readFileSync("command", "utf8");
require("node:child_process").spawnSync("sh", ["-c", command], { stdio: "inherit" });
END
`;

test.each([
  { from: "a pipe", call: "echo data | node npx.cjs some words", stderr: UNREAD, prompts: 1 },
  {
    from: "the lines of a shell loop",
    call: "printf 'one\\ntwo\\n' | while read -r word; do node npx.cjs some words; done",
    stderr: "",
    prompts: 2,
  },
  {
    from: "a script of its own",
    call: "export npm_config_call=x; echo data | node npx.cjs some words",
    stderr: "",
    prompts: 1,
  },
])("through npx: $from", async ({ call, stderr, prompts }) => {
  const ran = await shell(throughNpx("ostler ask hi") + call, hello).done;
  expect(ran.stderr).toBe(stderr);
  expect(promptsIn(ran.log)).toHaveLength(prompts);
});

test("a socket as stdin, as programs give it to their children, is no different", async () => {
  const folder = newFolder();
  const argv = [ostler, "ask", "--agent", agentOption(hello, folder), "hi"];
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

test("help into a pipe that closes is no crash", async () => {
  const { stderr } = await shell("ostler --help | true", hello).done;
  expect(stderr).toBe("");
});

test("a folder that is gone is a sentence, and no reason not to help", async () => {
  const gone = "mkdir gone && cd gone && rmdir ../gone && ";
  const asked = await shell(`${gone}ostler ask hi`, hello).done;
  expect(asked.code).toBe(2);
  expect(asked.stderr).toMatch(/^ostler: Cannot work in \S+\/gone: there is no such folder\n$/);
  const helped = await shell(`${gone}ostler --help`, hello).done;
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
  const line = `mkfifo pipe && echo ready && exec ostler ${command} --config pipe`;
  const { child, done, folder } = shell(line, hello);
  await once(child.stdout, "data");
  await using writer = await open(join(folder, "pipe"), "w");
  child.kill("SIGINT");
  expect({ code: (await done).code, writes: writer.fd > 0 }).toEqual({ code: 130, writes: true });
});

test("a file that never ends is refused", async () => {
  const { code, stderr } = await shell("ostler ask -f /dev/zero", hello).done;
  expect({ code, stderr }).toEqual({ code: 2, stderr: "ostler: The text from /dev/zero is longer than 10 MiB\n" });
});

test("-f reads what a command writes", async () => {
  const { log } = await shell("ostler ask -f <(echo the diff)", hello).done;
  expect(promptsIn(log)[0]?.params?.["prompt"]).toEqual([{ type: "text", text: "the diff" }]);
});
