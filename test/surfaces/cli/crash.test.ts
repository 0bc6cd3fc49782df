/** What nothing caught, in a real process: every turn ends as failed, every agent is ended, and there is a report. */
import { readFileSync, readdirSync, statSync, existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { isRunning } from "../../acp/drive.ts";
import {
  chunk,
  end,
  grandchildrenIn,
  processesIn,
  promptsIn,
  tool,
  turns,
  waitFor,
} from "../../fixtures/agents/scenario.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { bundleCli, shell as realShell } from "./real-cli.ts";
import { linesOf } from "./run-main.ts";

let ostler: string;
beforeAll(async () => {
  ostler = await bundleCli("crash");
});

const KEY = "sk-ant-api03-abcdefghijklmnop";
const PROMPT = `the secret plan ${KEY}`;

/** `ostler`, in which the signal USR2 runs `bug`; sent when half of the answer is there. */
async function runWith(bug: string, command: string, scenario: Scenario) {
  const code = `if (process.argv[1]?.endsWith("ostler.js")) process.on("SIGUSR2", () => { ${bug} });`;
  const line = `echo '${code}' >bug.mjs; NODE_OPTIONS=--import=./bug.mjs exec ${command}`;
  const { child, done, state } = realShell(ostler, line, scenario);
  let seen = "";
  child.stdout.on("data", (data: Buffer) => {
    const wasThere = seen.includes("half");
    seen += data.toString();
    if (!wasThere && seen.includes("half")) child.kill("SIGUSR2");
  });
  const ran = await done;
  const folder = join(state, "crash-reports");
  const files = statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(folder).map((name) => join(folder, name))
    : [];
  const log = join(state, "logs/ostler.log");
  const records = existsSync(log) ? linesOf(readFileSync(log, "utf8")) : [];
  return { ...ran, files, records, left: [...processesIn(ran.log), ...grandchildrenIn(ran.log)].filter(isRunning) };
}

const half = turns([
  { grandchild: { detached: true, ignoresSigterm: true } },
  tool("t1", { title: `curl -H 'x-api-key: ${KEY}'`, rawInput: { command: "cat diary.txt" } }),
  chunk("half of the answer"),
  waitFor("never"),
]);

test.each([
  {
    from: "an exception",
    bug: `throw new TypeError("oops ${KEY}", { cause: new Error("below") });`,
    name: "TypeError",
  },
  { from: "a rejection", bug: `void Promise.reject(new RangeError("oops"));`, name: "RangeError" },
  { from: "something that is no error", bug: `throw "oops";`, name: "Error" },
  { from: "a pipe code in a cause", bug: `throw new Error("oops", { cause: { code: "EPIPE" } });`, name: "Error" },
])("a bug ends the turn as failed, with one result, one sentence and a report: $from", async ({ bug, name }) => {
  const ran = await runWith(bug, `ostler ask --json '${PROMPT}'`, half);
  expect(ran.code).toBe(1);
  expect(linesOf(ran.stdout).filter(({ type }) => type === "result")).toEqual([
    expect.objectContaining({
      outcome: "failed",
      text: "half of the answer",
      exitCode: 1,
      failure: expect.objectContaining({
        kind: "unknown",
        title: `Ostler failed internally (${name})`,
        rule: "internal-error",
        replaySafety: "tool_started",
      }),
    }),
  ]);
  expect(ran.files).toHaveLength(1);
  expect(ran.stderr).toBe(
    `ostler: Something in Ostler itself went wrong (${name}); a report without your prompt is in ${ran.files[0]}\n`,
  );
  expect(ran.left).toEqual([]);
  expect(promptsIn(ran.log)).toHaveLength(1);
  expect(ran.records).toContainEqual(expect.objectContaining({ level: "error", event: "ostler.crashed" }));
});

test("the report says what is needed and nothing that was said", async () => {
  const bug = `throw new TypeError("oops ${KEY}", { cause: new Error("below") });`;
  const { files } = await runWith(bug, `ostler ask --json --model m1 '${PROMPT}'`, half);
  const [file = ""] = files;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, "utf8");
  for (const said of ["abcdefghijklmnop", "secret plan", "half of", "diary"]) expect(text).not.toContain(said);
  const report: Record<string, unknown> = JSON.parse(text);
  expect(report).toMatchObject({
    ostler: "0.1.0",
    node: process.version,
    error: { name: "TypeError", message: "oops [redacted]", cause: { name: "Error", message: "below" } },
    argv: ["ask", "--agent", expect.stringContaining("scripted.mjs"), "--json", "--model", "m1", "[45 chars]"],
  });
  expect(JSON.stringify(report["error"])).toContain("bug.mjs");
  const frames = [...text.matchAll(/"dir": "(\w+)"[^}]*?"method": "([^"]+)"/g)].map(
    ([, dir, name]) => `${dir} ${name}`,
  );
  expect(frames).toEqual(expect.arrayContaining(["out initialize", "out session/prompt", "in session/update"]));
  expect(text).toContain('"title": "curl -H \'x-api-key: [redacted]');
});

test("in text the answer so far stands, and the sentence says why it ends", async () => {
  const ran = await runWith(`throw new TypeError("oops /home/ann/x");`, "ostler ask --verbose hi", half);
  expect({ code: ran.code, stdout: ran.stdout, left: ran.left }).toEqual({
    code: 1,
    stdout: "half of the answer\n",
    left: [],
  });
  expect(ran.stderr).toMatch(
    /^▸ [^\n]+\nostler: Something in Ostler itself went wrong \(TypeError\); a report without your prompt is in \S+\nTypeError: oops ~\/x\n {4}at /,
  );
});

test("a bug before there is a turn", async () => {
  const bug = `
    import { existsSync } from "node:fs";
    // The agent has been started, and is never ready.
    const look = () => { if (existsSync("agent.log")) { clearInterval(timer); throw new TypeError("oops"); } };
    const timer = process.argv[1]?.endsWith("ostler.js") ? setInterval(look, 10) : undefined;`;
  const line = `echo '${bug}' >bug.mjs; NODE_OPTIONS=--import=./bug.mjs exec ostler ask --format json hi`;
  const ran = await realShell(ostler, line, { on: { initialize: [[waitFor("never")]] } }).done;
  expect(ran.code).toBe(1);
  expect(JSON.parse(ran.stdout)).toMatchObject({ outcome: "failed", exitCode: 1, failure: { rule: "internal" } });
  expect(ran.stderr).toMatch(/^ostler: Something in Ostler itself went wrong \(TypeError\); a report [^\n]+\n$/);
  expect(processesIn(ran.log).filter(isRunning)).toEqual([]);
});

test("a report that cannot be written is said, and ends nothing less", async () => {
  const bug = `throw new TypeError("oops");`;
  const scenario = turns([chunk("half"), waitFor("never")]);
  const ran = await runWith(
    bug,
    `bash -c 'mkdir -p home/state; >home/state/crash-reports; exec "$@"' - ostler ask --json hi`,
    scenario,
  );
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("went wrong (TypeError), and no report could be written (EEXIST);");
  expect(linesOf(ran.stdout).filter(({ type }) => type === "result")).toHaveLength(1);
  expect(ran.left).toEqual([]);
});

test.each(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED"])(
  "a late %s is a line in the log and nothing else",
  async (code) => {
    const bug = `setImmediate(() => process.getBuiltinModule("fs").writeFileSync("go", "")); throw Object.assign(new Error("late"), { code: "${code}" });`;
    const scenario = turns([chunk("half"), { untilFile: "go" }, chunk(", whole"), end()]);
    const ran = await runWith(bug, "ostler ask hi", scenario);
    expect({ code: ran.code, stdout: ran.stdout, stderr: ran.stderr }).toEqual({
      code: 0,
      stdout: "half, whole\n",
      stderr: "",
    });
    expect(ran.files).toEqual([]);
    expect(ran.records).toEqual([expect.objectContaining({ level: "warn", event: "pipe.late_error" })]);
    expect(ran.left).toEqual([]);
  },
);
