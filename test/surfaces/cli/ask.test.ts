import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import {
  air,
  chunk,
  end,
  err,
  permission,
  promptsIn,
  processesIn,
  record,
  recordUpdate,
  answerTo,
  thought,
  tool,
  toolUpdate,
  turns,
  update,
  waitFor,
  waitForAnswer,
} from "../../fixtures/agents/scenario.ts";
import { linesOf, newFolder, run } from "./run-main.ts";

const hello = turns([chunk("Hel"), chunk("lo"), end()]);

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("text: the answer on stdout with one newline at its end, remarks on stderr", async () => {
  const scenario = turns([
    thought("hm"),
    chunk("Looking.\n\n"),
    tool("t1", { title: "npm test" }),
    toolUpdate("t1", { status: "in_progress" }),
    toolUpdate("t1", { status: "completed" }),
    update({ sessionUpdate: "plan", entries: [{ content: "Fix it", priority: "high", status: "in_progress" }] }),
    chunk("Done.\n\n"),
    end(),
  ]);
  const { exitCode, stdout, stderr } = await run(["ask", "hello"], { scenario });
  expect(exitCode).toBe(0);
  expect(stdout).toBe("Looking.\n\nDone.\n");
  expect(stderr).toBe("▸ npm test\n✓ npm test\n  ▸ Fix it\n");
});

test("json is one result and nothing else", async () => {
  const { exitCode, stdout, stderr } = await run(["ask", "--format", "json", "hello"], { scenario: hello });
  expect(exitCode).toBe(0);
  expect(linesOf(stdout)).toHaveLength(1);
  expect(linesOf(stdout)[0]).toMatchObject({
    type: "result",
    outcome: "completed",
    backend: "agent",
    sessionId: "s1",
    text: "Hello",
    exitCode: 0,
    attempts: 1,
  });
  expect(stderr).toBe("");
});

test("ndjson is events and one result at the end", async () => {
  const { stdout } = await run(["ask", "--json", "hello"], { scenario: hello });
  const lines = linesOf(stdout);
  expect(lines[0]).toMatchObject({ type: "session", sessionId: "s1", backend: "agent" });
  expect(
    lines
      .filter(({ type }) => type === "text")
      .map(({ text }) => text)
      .join(""),
  ).toBe("Hello");
  expect(lines.filter(({ type }) => type === "result")).toHaveLength(1);
  expect(lines.at(-1)).toMatchObject({ type: "result", text: "Hello" });
});

test("quiet is the answer alone, of a failure the one sentence", async () => {
  const scenario = turns([
    tool("t1"),
    chunk("half"),
    end("end_turn", air(record({ category: "limit", title: "You are out of credits" }))),
  ]);
  const { exitCode, stdout, stderr } = await run(["ask", "--format", "quiet", "hello"], { scenario });
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 8, stdout: "half\n", stderr: "You are out of credits\n" });
});

test("a failure after text: the text stands, is said to be partial, and the card follows", async () => {
  const scenario = turns([
    chunk("half"),
    end("end_turn", air(record({ category: "limit", title: "You are out of credits" }))),
  ]);
  const { exitCode, stdout, stderr } = await run(["ask", "hello"], { scenario });
  expect(exitCode).toBe(8);
  expect(stdout).toBe("half\n");
  expect(stderr.split("\n").slice(0, 2)).toEqual(["The answer above is partial.", "You are out of credits"]);
});

test("a refusal is a card and exit code 7 (case C01 c)", async () => {
  const scenario = turns([chunk("I can"), end("refusal")]);
  const { exitCode, stdout, stderr, log } = await run(["ask", "--retries", "5", "hello"], { scenario });
  expect(exitCode).toBe(7);
  expect(stdout).toBe("I can\n");
  expect(stderr).toContain("The model refused this request.");
  expect(promptsIn(log)).toHaveLength(1);
});

test("an answer that a harness streams again stands once", async () => {
  const scenario = turns([
    chunk("Hello wo", { messageId: "m1" }),
    recordUpdate(
      record({
        id: "w",
        severity: "warning",
        category: "connection",
        title: "Reconnecting... 1/5",
        actions: ["retry"],
      }),
    ),
    chunk("Hello world", { messageId: "m2" }),
    end(),
  ]);
  const { stdout, stderr } = await run(["ask", "hello"], { scenario });
  expect(stdout).toBe("Hello world\n");
  expect(stderr).not.toContain("starts over");
});

test("a denied permission is said and replaces success", async () => {
  const scenario = turns([
    tool("t1", { title: "rm -rf x" }),
    permission("t1"),
    waitForAnswer("p1"),
    chunk("Could not."),
    end(),
  ]);
  const denied = await run(["ask", "hello"], { scenario });
  expect(denied.exitCode).toBe(5);
  expect(denied.stderr).toContain("Denied: rm -rf x");
  expect(denied.stderr).toContain(
    "1 permission request was denied, so the work may not be done; --approve all grants them.",
  );
  expect(answerTo(denied.log, "p1")?.result).toEqual({ outcome: { outcome: "selected", optionId: "r" } });

  const wanted = await run(["ask", "--approve", "none", "hello"], { scenario });
  expect(wanted.exitCode).toBe(0);

  const approved = await run(["ask", "--approve", "all", "hello"], { scenario });
  expect(approved.exitCode).toBe(0);
  expect(answerTo(approved.log, "p1")?.result).toEqual({ outcome: { outcome: "selected", optionId: "a" } });
});

test("a person at a terminal is asked, and the number that was typed counts", async () => {
  const scenario = turns([
    tool("t1", { title: "rm -rf x" }),
    permission("t1"),
    waitForAnswer("p1"),
    chunk("Gone."),
    end(),
  ]);
  const keyboard = new PassThrough();
  const { exitCode, stderr, log } = await run(["ask", "hello"], {
    scenario,
    terminal: true,
    stdin: { kind: "terminal", open: () => keyboard },
    onStderr: (text) => {
      if (text.includes("Answer with a number") && !text.includes("from 1 to 2") && keyboard.writableLength === 0)
        keyboard.write("7\n");
      if (text.includes("Type a number from 1 to 2")) keyboard.write("1\n");
    },
  });
  expect(exitCode).toBe(0);
  expect(stderr).toContain(
    "The agent asks: rm -rf x\n  What it would do: execute\n  Why you are asked: Only reading and searching inside the workspace is approved\n  1) Yes\n  2) No\n",
  );
  expect(answerTo(log, "p1")?.result).toEqual({ outcome: { outcome: "selected", optionId: "a" } });
});

test.each([
  { from: "the no of a person", typed: "2\n", exit: 0, says: "(A person said no)" },
  { from: "an empty line", typed: "\n", exit: 0, says: "(A person said no)" },
  { from: "the end of the input", typed: undefined, exit: 5, says: "(Nobody answered)" },
])("$from at a terminal denies and exits $exit", async ({ typed, exit, says }) => {
  const scenario = turns([tool("t1"), permission("t1"), waitForAnswer("p1"), chunk("Left."), end()]);
  const keyboard = new PassThrough();
  const { exitCode, stderr, log } = await run(["ask", "hello"], {
    scenario,
    terminal: true,
    stdin: { kind: "terminal", open: () => keyboard },
    onStderr: (text) => {
      if (text.includes("Answer with a number") && !keyboard.writableEnded) keyboard.end(typed);
    },
  });
  expect(exitCode).toBe(exit);
  expect(stderr.match(/\((?:A person said no|Nobody answered)\)/g)).toEqual([says]);
  expect(answerTo(log, "p1")?.result).toEqual({ outcome: { outcome: "selected", optionId: "r" } });
});

test("a question at a terminal that expires counts as no", async () => {
  const scenario = turns([tool("t1"), permission("t1"), waitForAnswer("p1"), chunk("Left."), end()]);
  const { exitCode, stderr } = await run(["ask", "hello"], {
    scenario,
    terminal: true,
    stdin: { kind: "terminal", open: () => new PassThrough() },
    config: { timeouts: { permissionS: 1 } },
  });
  expect(exitCode).toBe(5);
  expect(stderr).toContain("The question is closed.\n");
});

test.each([
  { signal: "SIGINT", exit: 130 },
  { signal: "SIGTERM", exit: 143 },
  { signal: "SIGHUP", exit: 129 },
] as const)("$signal cancels the turn and still prints one result", async ({ signal, exit }) => {
  const scenario = turns([chunk("half"), waitFor("session/cancel"), end("cancelled")]);
  let sent = false;
  const { exitCode, stdout, log } = await run(["ask", "--json", "hello"], {
    scenario,
    onStdout: (text, send) => {
      if (!sent && text.includes("half")) {
        sent = true;
        send(signal);
      }
    },
  });
  expect(exitCode).toBe(exit);
  const results = linesOf(stdout).filter(({ type }) => type === "result");
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({ outcome: "cancelled", text: "half", partial: true, exitCode: exit });
  expect(processesIn(log).filter(alive)).toEqual([]);
});

test.each([
  {
    from: "Ctrl-C at a terminal, on the live line",
    signal: "SIGINT",
    terminal: true,
    after: "waiting",
    says: " s · stopping; Ctrl-C again ends it at once",
    remarks: 0,
  },
  {
    from: "Ctrl-C in the middle of an answer line",
    signal: "SIGINT",
    terminal: true,
    after: "half",
    says: "Stopping; Ctrl-C again ends it at once.\n",
    remarks: 1,
  },
  {
    from: "Ctrl-C without a terminal",
    signal: "SIGINT",
    terminal: false,
    after: "▸",
    says: "Stopping; Ctrl-C again ends it at once.\n",
    remarks: 1,
  },
  {
    from: "SIGTERM",
    signal: "SIGTERM",
    terminal: false,
    after: "▸",
    says: "Stopping; a second signal ends it at once.\n",
    remarks: 1,
  },
] as const)("$from is heard, also when the agent does not", async ({ signal, terminal, after, says, remarks }) => {
  let sent = false;
  const onText = (shown: string, send: (name: typeof signal) => void) => {
    if (sent || !shown.includes(after)) return;
    sent = true;
    send(signal);
  };
  const tools = [tool("t1"), toolUpdate("t1", { status: "completed" })];
  const { stderr } = await run(["ask", "hello"], {
    scenario: turns([...tools, ...(after === "half" ? [chunk(after)] : []), waitFor("never")]),
    terminal,
    env: { NO_COLOR: "1" },
    config: { timeouts: { cancelGraceS: 0.3 } },
    onStdout: onText,
    onStderr: onText,
  });
  expect(stderr).toContain(says);
  expect(stderr.split("Stopping")).toHaveLength(remarks + 1);
});

test("a second signal does not wait for an agent that ignores the first", async () => {
  const scenario = turns([{ ignoreSignals: ["SIGTERM"] }, chunk("half"), waitFor("never")]);
  let sent = 0;
  const startedAt = performance.now();
  const { exitCode, stdout, log } = await run(["ask", "--json", "hello"], {
    scenario,
    config: { timeouts: { cancelGraceS: 60 } },
    onStdout: (text, send) => {
      if (sent > 0 || !text.includes("half")) return;
      sent += 1;
      send("SIGINT");
      send("SIGINT");
    },
  });
  expect(exitCode).toBe(130);
  expect(linesOf(stdout).at(-1)).toMatchObject({ type: "result", outcome: "cancelled" });
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect(processesIn(log).filter(alive)).toEqual([]);
});

test("a signal while the agent starts ends the run as cancelled", async () => {
  const scenario = { on: { initialize: [[waitFor("never")]] } };
  const { exitCode, stdout } = await run(["ask", "--format", "json", "hello"], {
    scenario,
    // The warning about the configuration is said just before the agent starts.
    config: { nonsense: true },
    onStderr: (_text, send) => send("SIGTERM"),
  });
  expect(exitCode).toBe(143);
  expect(linesOf(stdout)).toMatchObject([{ outcome: "cancelled", exitCode: 143, failure: null }]);
});

test("--timeout ends a silent turn with exit code 3", async () => {
  const scenario = turns([chunk("half"), waitFor("session/cancel"), end("cancelled")]);
  const { exitCode, stdout } = await run(["ask", "--format", "json", "--timeout", "2", "hello"], { scenario });
  expect(exitCode).toBe(3);
  expect(linesOf(stdout)[0]).toMatchObject({
    outcome: "failed",
    text: "half",
    partial: true,
    failure: { kind: "timeout" },
  });
});

test("--idle-timeout bounds the first silence too", async () => {
  const scenario = turns([waitFor("session/cancel"), end("cancelled")]);
  const { exitCode } = await run(["ask", "--format", "json", "--idle-timeout", "0.3", "hello"], { scenario });
  expect(exitCode).toBe(3);
});

test("model, mode, options, folders, MCP servers and attachments reach the agent", async () => {
  const folder = newFolder();
  writeFileSync(
    join(folder, "mcp.json"),
    JSON.stringify({ mcpServers: { files: { command: "mcp-files", args: ["-v"], env: { A: "1" } } } }),
  );
  writeFileSync(join(folder, "note.md"), "# hi");
  writeFileSync(join(folder, "dot.png"), Buffer.from("89504e470d0a1a0a00", "hex"));
  const argv = ["ask", "--mcp", "mcp.json", "--attach", "note.md", "--attach", "dot.png", "--add-dir", ".", "look"];
  const seeing = { ...hello, initializeResult: { agentCapabilities: { promptCapabilities: { image: true } } } };
  const { exitCode, log } = await run(argv, { scenario: seeing, folder });
  expect(exitCode).toBe(0);
  expect(promptsIn(log)[0]?.params?.["prompt"]).toEqual([
    { type: "text", text: "look" },
    { type: "resource", resource: { uri: `file://${folder}/note.md`, text: "# hi", mimeType: "text/markdown" } },
    { type: "image", mimeType: "image/png", data: "iVBORw0KGgoA" },
  ]);
});

test("one line per passing failure that is tried again, and the attempts counted", async () => {
  const scenario = turns([err(-32603, "HTTP 503 service unavailable")], [chunk("ok"), end()]);
  const { exitCode, stdout, stderr } = await run(["ask", "--retries", "1", "hello"], { scenario });
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "ok\n" });
  expect(stderr).toMatch(/^Trying again.*\(try 2 of 2\): .*503/m);
});

test.each([
  {
    from: "a missing prompt file",
    argv: ["-f", "none.txt", "x"],
    sentence: "ostler: Cannot read the prompt file none.txt: there is no such file",
  },
  {
    from: "a missing attachment",
    argv: ["--attach", "none.png", "x"],
    sentence: "ostler: Cannot attach none.png: there is no such file",
  },
  {
    from: "a missing MCP file",
    argv: ["--mcp", "none.json", "x"],
    sentence: "ostler: Cannot use the MCP servers of none.json: there is no such file",
  },
  {
    from: "a missing folder",
    argv: ["-C", "none", "x"],
    sentence: "ostler: Cannot work in none: there is no such folder",
  },
  {
    from: "a folder that is no folder",
    argv: ["--add-dir", "none", "x"],
    sentence: "ostler: Cannot work in none: there is no such folder",
  },
  {
    from: "no prompt",
    argv: [],
    sentence: 'ostler: Nothing to ask: no prompt is given and stdin is empty; write: ostler ask "your question"',
  },
  {
    from: "a blank prompt",
    argv: ["  "],
    sentence: 'ostler: Nothing to ask: no prompt is given and stdin is empty; write: ostler ask "your question"',
  },
  {
    from: "two agents",
    argv: ["-b", "demo", "--agent", "x", "x"],
    sentence: "ostler: --backend and --agent both name an agent; give one of them",
  },
  {
    from: "a profile without an agent",
    argv: ["--profile", "kiro", "x"],
    sentence: "ostler: --profile says whose habits --agent has; it means nothing without --agent",
  },
  {
    from: "two formats",
    argv: ["--json", "--format", "quiet", "x"],
    sentence: "ostler: --json means --format ndjson, not quiet; give one of them",
  },
  {
    from: "an option without a value",
    argv: ["--config-option", "x", "x"],
    sentence: 'ostler: --config-option cannot be "x"; it is a name, "=" and a value',
  },
])("$from is one sentence and exit code 2", async ({ argv, sentence }) => {
  const { exitCode, stdout, stderr } = await run(["ask", ...argv]);
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 2, stdout: "", stderr: `${sentence}\n` });
});

test("an unusable request has its result line in a format for programs", async () => {
  const { exitCode, stdout, stderr } = await run(["ask", "--json", "-b", "nobody", "x"]);
  expect(exitCode).toBe(2);
  expect(linesOf(stdout)).toMatchObject([
    {
      type: "result",
      outcome: "failed",
      backend: "nobody",
      exitCode: 2,
      attempts: 0,
      failure: { kind: "configuration" },
    },
  ]);
  expect(stderr).toMatch(/^ostler: No backend is called "nobody"/);
});

test.each([
  {
    from: "a name",
    agent: "no-such-agent-here",
    says: "no-such-agent-here is not in /one, /two, ~/home/adapters/node_modules/.bin and 2 other folders of PATH\n  Details: Also searched: /three, /four",
  },
  { from: "a path", agent: "/nowhere/agent", says: "/nowhere/agent does not exist" },
])("a missing agent that is $from exits 9 with the sentence and no stack", async ({ agent, says }) => {
  const folder = newFolder();
  const env = { PATH: "/one:/two:/three:/four", HOME: folder };
  const { exitCode, stdout, stderr } = await run(["ask", "--agent", agent, "hi"], { folder, env });
  expect({ exitCode, stdout }).toEqual({ exitCode: 9, stdout: "" });
  expect(stderr).toBe(
    `The agent cannot be started: ${says}\n  Check that the agent is installed and starts by itself on this machine.\n`,
  );
});

test("--verbose tells the causes", async () => {
  const scenario = turns([err(-32603, "teapot")]);
  const { stderr } = await run(["ask", "--verbose", "hi"], { scenario });
  expect(stderr).toContain("AcpError: Teapot\ncaused by RpcError: teapot\n");
  expect(stderr).not.toMatch(/^\s+at /m);
});

test("a warning about the configuration is said, and the turn runs", async () => {
  const { exitCode, stdout, stderr } = await run(["ask", "hi"], { scenario: hello, config: { timeuots: {} } });
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "Hello\n" });
  expect(stderr).toContain("timeuots");
});
