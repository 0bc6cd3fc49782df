import { describe, expect, test } from "vitest";
import { AcpRuntimeError } from "../../src/errors/runtime-error.ts";
import type { CommandLine } from "../../src/acp/ports.ts";
import { isRunning, play, recordOf, rejectionOf, start } from "../acp/drive.ts";
import { MISBEHAVING, NOT_ACP } from "../fixtures/agents/misbehaving.ts";
import type { Scenario } from "../fixtures/agents/scenario.ts";
import { agentCommand, chunk, end, processesIn, turns } from "../fixtures/agents/scenario.ts";
import { run } from "../surfaces/cli/run-main.ts";
import { ask, askAsText } from "./ask-case.ts";

const works = turns([chunk("works"), end()]);
const initialized = '{"jsonrpc":"2.0","id":"$P","result":{"protocolVersion":1}}';
const prefixed = (prefix: string): Scenario => ({
  ...works,
  on: { ...works.on, initialize: [[{ raw: `${prefix}${initialized}\n` }]] },
});

describe("the session works, and none of the noise reaches the person", () => {
  test.concurrent.each<{ from: string; scenario: Scenario }>([
    { from: "C12 banners, empty lines, JSON that is no frame, 200 log lines", scenario: MISBEHAVING.dirtyStdout },
    { from: "C12 escapes before a frame and CRLF", scenario: MISBEHAVING.crlfAndEscapes },
    { from: "5,000 lines at the start", scenario: MISBEHAVING.junkFloodAtStart },
    { from: "5,000 lines while nobody reads stdin", scenario: MISBEHAVING.junkFlood },
    { from: "a title sequence that ends in ESC \\", scenario: prefixed("\u001B]2;ready\u001B\\") },
    { from: "several colours and a cursor command", scenario: prefixed("\u001B[1m\u001B[38;5;12m\u001B[?25l") },
    { from: "a byte order mark", scenario: prefixed("\uFEFF") },
    { from: "blanks and tabs", scenario: prefixed(" \t ") },
    { from: "a banner without a line end", scenario: prefixed("Agent 1.2 ready> ") },
    { from: "a banner with a brace in it", scenario: prefixed("loaded {3 plugins} ") },
    {
      from: "JSON that looks like a frame and is none",
      scenario: {
        start: [{ raw: '{"level":"info","msg":"up"}\n{"jsonrpc":"2.0"}\n{"jsonrpc":"2.0","id":\n' }],
        ...works,
      },
    },
    {
      from: "answers to requests that nobody made",
      scenario: {
        start: [{ raw: '{"jsonrpc":"2.0","id":99,"result":{}}\n{"jsonrpc":"2.0","id":"x","result":{}}\n' }],
        ...works,
      },
    },
  ])("$from", async ({ scenario }) => {
    const { exitCode, stdout, stderr } = await askAsText(scenario);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "works\n", stderr: "" });
  });
});

test.concurrent("noise is counted", async () => {
  const scenario = {
    start: [{ raw: 'Welcome!\n\n"a string"\n[1,2]\n42\nnull\ntrue\n{"level":"info"}\n' }],
    ...turns([{ raw: "log line\n", times: 200 }, chunk("works"), { raw: "\r\nbye\r\n" }, end()]),
  };
  await using agent = await start(scenario);
  const { outcome } = await play(await agent.open());
  expect(outcome).toMatchObject({ kind: "completed", text: "works", warnings: [] });
  expect(agent.runtime.noiseLines).toBe(7 + 200 + 1);
});

describe("a program that is no agent", () => {
  const listens = "process.stdin.resume();";
  test.concurrent.each<{ from: string; command: CommandLine; says: RegExp }>([
    { from: "C12 cat: every line comes back", command: NOT_ACP, says: /did not speak ACP/ },
    {
      from: "a program that says nothing",
      command: { file: process.execPath, args: ["-e", listens] },
      says: /did not speak ACP within 0.1 s/,
    },
    {
      from: "a shell that asks for more",
      command: { file: process.execPath, args: ["-e", `process.stdout.write("> ");${listens}`] },
      says: /did not speak ACP within 0.1 s/,
    },
    { from: "an agent that does not answer", command: agentCommand(MISBEHAVING.silent), says: /did not speak ACP/ },
  ])("$from: protocol, never tried again", async ({ command, says }) => {
    const error = await rejectionOf(start(works, { command, timeouts: { handshakeMs: 100 } }));
    expect(error).toBeInstanceOf(AcpRuntimeError);
    expect(error.message).toMatch(says);
    expect(recordOf(error)).toMatchObject({
      kind: "protocol",
      retry: "never",
      transient: false,
      needs: "human",
      replaySafety: "not_sent",
    });
  });

  test.concurrent("the wait is finite by itself and the process is gone when it is told", async () => {
    const { exitCode, result, processes } = await ask(MISBEHAVING.silent, {
      config: { timeouts: { handshakeS: 0.1 } },
    });
    expect(result).toMatchObject({ outcome: "failed", failure: { kind: "protocol" }, attempts: 0 });
    expect(exitCode).toBe(9);
    expect(processes.filter(isRunning)).toEqual([]);
  });

  test.concurrent("cat: exit 9 in a sentence (C12)", async () => {
    const { exitCode, stdout, stderr } = await run(["ask", "--agent", "/bin/cat", "hello"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 9, stdout: "" });
    expect(stderr).toContain("did not speak ACP");
    expect(stderr).not.toMatch(/jsonrpc|initialize|at .*\.ts/);
  });
});

test.concurrent("nothing of the noise stands in the result of a script either", async () => {
  const { printed, log } = await ask(MISBEHAVING.dirtyStdout);
  expect(printed).not.toMatch(/Welcome|log line|bye|a string/);
  expect(processesIn(log).filter(isRunning)).toEqual([]);
});
