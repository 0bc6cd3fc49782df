import { describe, expect, test } from "vitest";
import { AcpProcessDied } from "../../src/errors/acp-error.ts";
import { isRunning, play, start } from "../acp/drive.ts";
import { MISBEHAVING } from "../fixtures/agents/misbehaving.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { chunk, end, promptsIn, turns } from "../fixtures/agents/scenario.ts";
import { askAsText } from "./ask-case.ts";

const MIB = 1024 * 1024;
/** A second where nothing else runs; the clocks of a turn are minutes. */
const SETTLES_MS = 15_000;

test("256 KiB on stderr before the handshake: it works, and only the tail is kept (C15 a)", async () => {
  await using agent = await start(MISBEHAVING.stderrFlood);
  const { outcome } = await play(await agent.open());
  expect(outcome).toMatchObject({ kind: "completed", text: "works" });
  const tail = agent.runtime.stderrTail();
  expect(tail.length).toBeLessThanOrEqual(64 * 1024);
  expect(tail).toMatch(/e\nlast words$/);
});

test("nothing of it reaches the person of a turn that works", async () => {
  const { exitCode, stdout, stderr } = await askAsText(MISBEHAVING.stderrFlood);
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "works\n", stderr: "" });
});

describe("an agent that does not read any more fails its own prompt soon, and no other session", () => {
  test.each<{ from: string; first: readonly Action[]; prompt: string; safety: string }>([
    {
      from: "C15 b, stdin closed between turns",
      first: [chunk("ok"), { closeStdin: true }, end()],
      prompt: "hello",
      safety: "not_sent",
    },
    {
      from: "C15 b, and a prompt that no pipe holds",
      first: [chunk("ok"), { closeStdin: true }, end()],
      prompt: "x".repeat(MIB),
      safety: "not_sent",
    },
    {
      from: "C15 c, killed while 5 MiB are written",
      first: [chunk("ok"), { pauseStdin: true }, end(), { untilFile: "die" }, { kill: "SIGKILL" }],
      prompt: "x".repeat(5 * MIB),
      // What the pipe took may have been read.
      safety: "unknown",
    },
  ])("$from", async ({ first, prompt, safety }) => {
    await using other = await start(turns([chunk("other"), { untilFile: "go" }, chunk(" works"), end()]));
    await using agent = await start(turns(first));
    const otherTurn = play(await other.open());
    const session = await agent.open();
    await play(session);
    const begun = performance.now();
    const playing = play(session, { retries: 3 }, prompt);
    agent.touch("die");
    const { outcome } = await playing;
    expect(performance.now() - begun).toBeLessThan(SETTLES_MS);
    expect(outcome).toMatchObject({
      kind: "failed",
      text: "",
      failure: { kind: "agent_died", retry: "after_respawn", replaySafety: safety },
    });
    expect(outcome.cause).toBeInstanceOf(AcpProcessDied);
    expect(promptsIn(agent.log)).toHaveLength(1);
    await agent.runtime.stop();
    expect(isRunning(agent.runtime.pid)).toBe(false);
    other.touch("go");
    expect((await otherTurn).outcome).toMatchObject({ kind: "completed", text: "other works" });
  });
});
