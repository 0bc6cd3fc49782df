import { describe, expect, test } from "vitest";
import { AcpProcessDied } from "../../src/errors/acp-error.ts";
import { drive, isRunning, play, start } from "../acp/drive.ts";
import { MISBEHAVING } from "../fixtures/agents/misbehaving.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { chunk, end, processesIn, promptsIn, thought, tool, turns } from "../fixtures/agents/scenario.ts";
import { ask, askAsText } from "./ask-case.ts";

const SECRET = "sk-ant-SECRETSECRET1234";
const panic: Action = { stderr: `panic: boom token=${SECRET}\n` };
const partial = chunk("partial words");
const closed: readonly Action[] = [{ ignoreStdinEnd: true }, { ignoreSignals: ["SIGTERM"] }, { closeStdout: true }];

/** Settling takes a second where nothing else runs; the clocks of a turn are minutes. */
const SETTLES_MS = 15_000;

describe("the turn ends as agent_died, with the words that came before", () => {
  test.concurrent.each<{
    from: string;
    turn: readonly Action[];
    exitCode?: number | null;
    signal?: string | null;
    says: RegExp;
    text?: string;
    safety?: string;
  }>([
    { from: "C10 a", turn: [partial, panic, { exit: 3 }], exitCode: 3, says: /exited with code 3/ },
    { from: "C10 b", turn: [partial, panic, { kill: "SIGKILL" }], signal: "SIGKILL", says: /killed by SIGKILL/ },
    { from: "C10 c", turn: [partial, panic, ...closed], says: /closed its output/ },
    { from: "C10 d", turn: [partial, panic, { exit: 0 }], exitCode: 0, says: /exited with code 0/ },
    { from: "SIGSEGV", turn: [partial, { kill: "SIGSEGV" }], signal: "SIGSEGV", says: /killed by SIGSEGV/ },
    { from: "without a word", turn: [{ exit: 3 }], exitCode: 3, says: /exited with code 3/, text: "" },
    { from: "after a thought", turn: [thought("hm"), { exit: 1 }], exitCode: 1, says: /exited with code 1/, text: "" },
    { from: "in the middle of a tool", turn: [tool("t1"), { exit: 1 }], exitCode: 1, says: /code 1/, text: "" },
    {
      from: "in the middle of a frame",
      turn: [partial, { raw: '{"jsonrpc":"2.0","id":"$P","result":{"stopRea' }, { exit: 1 }],
      exitCode: 1,
      says: /exited with code 1/,
    },
  ])("$from", async ({ turn, exitCode = null, signal = null, says, text = "partial words" }) => {
    await using agent = await start(turns(turn));
    const startedAt = performance.now();
    const { outcome } = await play(await agent.open(), { retries: 3 });
    expect(performance.now() - startedAt).toBeLessThan(SETTLES_MS);
    expect(outcome).toMatchObject({
      kind: "failed",
      text,
      partial: text !== "",
      stopReason: null,
      attempts: 1,
      failure: {
        kind: "agent_died",
        source: "exit",
        retry: "after_respawn",
        transient: true,
        replaySafety: "unknown",
      },
    });
    expect(outcome.cause).toBeInstanceOf(AcpProcessDied);
    expect(outcome.cause).toMatchObject({ exitCode, signal, ambiguousDelivery: true });
    expect(outcome.cause?.message).toMatch(says);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
    expect(promptsIn(agent.log)).toHaveLength(1);
    expect(agent.runtime.state).toBe("dead");
  });
});

test.concurrent.each([
  { from: "C10 a", turn: [partial, panic, { exit: 3 }] },
  { from: "C10 b", turn: [partial, panic, { kill: "SIGKILL" }] },
  { from: "C10 c", turn: [partial, panic, ...closed] },
  { from: "C10 d", turn: [partial, panic, { exit: 0 }] },
] satisfies { from: string; turn: readonly Action[] }[])(
  "$from: exit 9, the text stands, stderr is shown without its secret, nothing is left running",
  async ({ turn }) => {
    const { exitCode, stdout, stderr, log, prompts } = await askAsText(turns(turn), { argv: ["--retries", "3"] });
    expect({ exitCode, stdout, prompts }).toEqual({ exitCode: 9, stdout: "partial words\n", prompts: 1 });
    expect(stderr).toContain("panic: boom token=[redacted]");
    expect(stderr).toContain("The answer above is partial.");
    expect(stderr).not.toContain(SECRET);
    expect(processesIn(log).filter(isRunning)).toEqual([]);
  },
);

test.concurrent("a script gets the partial text and the reason (C10 a)", async () => {
  const { result, exitCode } = await ask(turns([partial, panic, { exit: 3 }]), { argv: ["--retries", "3"] });
  expect(result).toMatchObject({ outcome: "failed", text: "partial words", partial: true, attempts: 1 });
  expect(result.failure?.title).toBe('Agent "agent" exited with code 3: panic: boom token=[redacted]');
  expect(exitCode).toBe(9);
});

test.concurrent("a process that holds the output open behind the dead one does not keep the turn", async () => {
  const { outcome } = await drive(MISBEHAVING.leavesStdoutOpen);
  expect(outcome).toMatchObject({ kind: "failed", text: "partial words", failure: { kind: "agent_died" } });
});

test.concurrent("a turn that was answered before the death is complete", async () => {
  await using agent = await start(turns([chunk("whole"), end(), { exit: 3 }]));
  const session = await agent.open();
  const { outcome } = await play(session);
  expect(outcome).toMatchObject({ kind: "completed", text: "whole" });
});

test.concurrent("the next prompt on the dead process says so at once and was not sent; a fresh process takes it", async () => {
  const scenario = { runs: [turns([partial, { exit: 3 }]), turns([chunk("fine"), end()])] };
  await using agent = await start(scenario);
  const session = await agent.open();
  await play(session);
  const next = await play(session, { retries: 3 });
  expect(next.outcome).toMatchObject({
    kind: "failed",
    text: "",
    failure: { kind: "agent_died", replaySafety: "not_sent" },
  });
  await using fresh = await start(turns([chunk("fine"), end()]));
  const again = await play(await fresh.open());
  expect(again.outcome).toMatchObject({ kind: "completed", text: "fine" });
  expect(fresh.runtime.pid).not.toBe(agent.runtime.pid);
});

test.concurrent("every session of the dead process hears of it", async () => {
  await using agent = await start(turns([chunk("one"), { delayMs: 60_000 }], [chunk("two"), { exit: 3 }]));
  const first = await agent.open();
  const second = await agent.open();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const running = first.prompt("hello", { retries: 0 });
  const read = (async () => {
    for await (const event of running.events) if (event.type === "text") begin();
  })();
  await begun;
  const { outcome } = await play(second);
  await read;
  expect(outcome).toMatchObject({ kind: "failed", text: "two", failure: { kind: "agent_died" } });
  expect(await running.outcome).toMatchObject({ kind: "failed", text: "one", failure: { kind: "agent_died" } });
});
