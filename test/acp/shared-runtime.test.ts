/** Several sessions in one process: what one of them does, or leaves behind, is none of the others' business. */
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import type { LogSink, PermissionPolicy } from "../../src/acp/ports.ts";
import type { Profile } from "../../src/errors/failure.ts";
import type { Action, Json, Scenario } from "../fixtures/agents/scenario.ts";
import {
  air,
  answerTo,
  chunk,
  end,
  err,
  logOf,
  permission,
  processesIn,
  promptsIn,
  record,
  reply,
  turns,
  update,
  waitFor,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { isRunning, play, start, textsOf } from "./drive.ts";

const allowOnce: PermissionPolicy = async () => ({ action: "select", optionId: "a", denied: false });
const rejected = { outcome: { outcome: "selected", optionId: "r" } };
const timeouts = { cancelGraceMs: 20 };
/** Answers when it is told to, whatever it is asked. */
const stubborn: readonly Action[] = [chunk("begun"), { untilFile: "go" }];

/** A record of the session, before its id was told. */
const early = (id: string): Action => update({ sessionUpdate: "session_info_update", _meta: air(record({ id })) }, id);
const brokenLog: LogSink = (_level, event) => {
  if (event === "permission.answered") throw new Error("a bug");
};

function sessions(agent: Scenario, capabilities: { readonly [key: string]: Json } = {}): Scenario {
  return { ...agent, initializeResult: { agentCapabilities: { sessionCapabilities: { close: {} }, ...capabilities } } };
}

function callsOf(log: string, method: string): readonly unknown[] {
  return logOf(log).flatMap(({ frame }) => (frame?.method === method ? [frame.params] : []));
}

describe("a cancel that is ignored", () => {
  test("retires the session while another lives there; what it still says is dropped and its questions refused", async () => {
    const after = [
      chunk("late", {}, "s1"),
      update({ sessionUpdate: "session_info_update", _meta: air(record()) }, "s1"),
      permission("t1", { sessionId: "s1", id: "late" }),
      waitForAnswer("late"),
    ];
    const scenario = sessions(turns([...stubborn, ...after, end()], [chunk("still here"), end()]));
    const exits: unknown[] = [];
    const log: LogSink = (_level, event, fields) => event === "agent.exited" && exits.push(fields);
    await using agent = await start(scenario, { permissions: allowOnce, log });
    const first = await agent.open();
    const second = await agent.open();
    const turn = first.prompt("hello", { timeouts });
    for await (const event of turn.events) if (event.type === "text") turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", text: "begun" });
    expect(first.retired).toBe(true);
    expect(agent.runtime).toMatchObject({ state: "ready", sessionCount: 1 });
    // An agent may end with the session what it did not end with the turn.
    expect(callsOf(agent.log, "session/close")).toEqual([{ sessionId: "s1" }]);

    agent.touch("go");
    await agent.until(() => answerTo(agent.log, "late") !== undefined);
    expect(answerTo(agent.log, "late")?.result).toEqual(rejected);
    expect(agent.sunk.map(({ rule }) => rule)).toEqual(["cancel-retired"]);
    expect((await play(second)).outcome).toMatchObject({ kind: "completed", text: "still here" });

    const again = await play(first);
    expect(again.outcome).toMatchObject({
      kind: "failed",
      attempts: 0,
      failure: { kind: "session_not_found", replaySafety: "not_sent", title: "This session was ended" },
    });
    expect(promptsIn(agent.log)).toHaveLength(2);
    await agent.runtime.stop();
    expect(exits).toMatchObject([{ retiredFrames: 2, unroutedFrames: 0 }]);
  });

  test("is no sign of life of another turn: its silence is still noticed", async () => {
    const flood = Array.from({ length: 60 }, (): Action[] => [chunk("late", {}, "s1"), { delayMs: 10 }]).flat();
    const scenario = sessions(turns([chunk("begun"), waitFor("session/close"), ...flood], [chunk("quiet")]));
    await using agent = await start(scenario);
    const first = await agent.open();
    const second = await agent.open();
    const turn = first.prompt("hello", { timeouts });
    for await (const event of turn.events) if (event.type === "text") turn.cancel();
    const { outcome } = await play(second, { timeouts: { idleMs: 100, ...timeouts }, retries: 0 });
    expect(outcome).toMatchObject({ kind: "failed", text: "quiet", failure: { kind: "timeout", rule: "clock-idle" } });
  });

  test("a retired session is not loaded again where its last turn may still be at work", async () => {
    const scenario = sessions(turns(stubborn), { loadSession: true });
    await using agent = await start(scenario);
    const first = await agent.open();
    await agent.open();
    const turn = first.prompt("hello", { timeouts });
    for await (const event of turn.events) if (event.type === "text") turn.cancel();
    await turn.outcome;
    const again = agent.runtime.resumeSession({ cwd: dirname(agent.log), sessionId: first.id, via: "load" });
    await expect(again).rejects.toMatchObject({ kind: "busy" });
    expect(callsOf(agent.log, "session/load")).toEqual([]);
  });

  test("ends the tree when nobody else lives there", async () => {
    await using agent = await start(sessions(turns(stubborn)));
    const session = await agent.open();
    const turn = session.prompt("hello", { timeouts });
    for await (const event of turn.events) if (event.type === "text") turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled" });
    expect(agent.runtime.state).toBe("dead");
    expect(processesIn(agent.log).filter(isRunning)).toEqual([]);
  });
});

describe("close", () => {
  test.each<{
    readonly from: string;
    readonly profile: Profile;
    readonly id: string;
    readonly can: boolean;
    readonly sent: readonly unknown[];
  }>([
    { from: "advertised", profile: "generic", id: "s1", can: true, sent: ["session/close"] },
    { from: "not advertised", profile: "generic", id: "s1", can: false, sent: [] },
    {
      from: "recording kiro-cli 2.4.1: terminate",
      profile: "kiro",
      id: "s1",
      can: false,
      sent: ["_kiro.dev/session/terminate"],
    },
    { from: "kiro V3 before 2.26 can only delete", profile: "kiro", id: "sess_1", can: false, sent: [] },
    { from: "kiro V3 2.26", profile: "kiro", id: "sess_1", can: true, sent: ["session/close"] },
  ])("$from", async ({ profile, id, can, sent }) => {
    const agentCapabilities = can ? { sessionCapabilities: { close: {} } } : {};
    const scenario = { on: { "session/new": [[reply({ sessionId: id })]] }, initializeResult: { agentCapabilities } };
    await using agent = await start(scenario, { profile });
    const session = await agent.open();
    await session.close();
    await session.close();
    expect(agent.runtime).toMatchObject({ sessionCount: 0, state: "ready" });
    const methods = logOf(agent.log).flatMap(({ frame }) => frame?.method ?? []);
    expect(methods.slice(2)).toEqual(sent);
    expect(session.retired).toBe(true);
  });

  test("in the middle of a turn cancels it first; the turn has one outcome", async () => {
    await using agent = await start(sessions(turns([chunk("a"), waitFor("session/cancel"), end("cancelled")])));
    const session = await agent.open();
    const turn = session.prompt("hello");
    await session.close();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller" });
    const methods = logOf(agent.log).flatMap(({ frame }) => frame?.method ?? []);
    expect(methods.slice(-2)).toEqual(["session/cancel", "session/close"]);
  });

  test("an agent that does not know the request, or is gone, closes as well", async () => {
    const scenario = sessions({ on: { "session/close": [[err(-32603, "boom")]] } });
    await using agent = await start(scenario);
    await (await agent.open()).close();
    const session = await agent.open();
    await agent.runtime.stop();
    await session.close();
    expect(session.retired).toBe(true);
  });
});

describe("what is left over between turns", () => {
  test("a question that the turn left open is refused when it ends", async () => {
    const turn = [chunk("a"), permission("t1"), end()];
    await using agent = await start(turns(turn, [waitFor("never"), end()]), {
      permissions: () => new Promise(() => {}),
    });
    const session = await agent.open();
    const { outcome } = await play(session);
    await agent.until(() => answerTo(agent.log, "p1") !== undefined);
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
    // Nobody said no: the turn had ended.
    expect(outcome).toMatchObject({ kind: "completed", denied: [] });
  });

  test("a question asked after our cancel is answered with cancelled", async () => {
    const turn = [chunk("a"), waitFor("session/cancel"), permission("t1"), waitForAnswer("p1"), end("cancelled")];
    await using agent = await start(turns(turn), { permissions: allowOnce });
    const running = (await agent.open()).prompt("hello");
    for await (const event of running.events) if (event.type === "text") running.cancel();
    expect(await running.outcome).toMatchObject({ kind: "cancelled" });
    expect(answerTo(agent.log, "p1")?.result).toEqual({ outcome: { outcome: "cancelled" } });
  });
});

describe("two sessions are opened at once", () => {
  test("what arrives for each before its answer is its own", async () => {
    const first = [early("b"), { untilFile: "go-a" }, early("a"), reply({ sessionId: "a" })];
    const second = [{ untilFile: "go-b" }, reply({ sessionId: "b" })];
    const scenario = { on: { "session/new": [first, second] } };
    await using agent = await start(scenario);
    const sunk: (string | null)[] = [];
    const options = {
      sink: (_: unknown, context: { readonly sessionId: string | null }) => sunk.push(context.sessionId),
    };
    const one = agent.open(options);
    const other = agent.open(options);
    agent.touch("go-a");
    await one;
    agent.touch("go-b");
    await other;
    expect(sunk).toEqual(["a", "b"]);
  });
});

test("a session has a policy and a sink of its own", async () => {
  const turn = [permission("t1"), waitForAnswer("p1"), err(-32603, "boom")];
  await using agent = await start(turns(turn), { permissions: async () => ({ action: "cancel", denied: true }) });
  const own: string[] = [];
  const session = await agent.open({ permissions: allowOnce, sink: ({ kind }) => own.push(kind), notes: ["Hello"] });
  const { outcome, events } = await play(session, { retries: 0 });
  expect(outcome).toMatchObject({ kind: "failed", denied: [] });
  expect(own).toEqual(["unknown"]);
  expect(agent.sunk).toEqual([]);
  expect(textsOf(events, "notice")).toEqual(["Hello"]);
});

test("a sink that throws does not keep its turn from ending, nor anybody else's", async () => {
  const recorded = update({ sessionUpdate: "session_info_update", _meta: air(record()) });
  await using agent = await start(turns(stubborn, [recorded, err(-32603, "boom")]));
  const waits = (await agent.open()).prompt("hello");
  const broken = await agent.open({
    sink: () => {
      throw new Error("a sink that must not throw");
    },
  });
  expect((await play(broken, { retries: 0 })).outcome).toMatchObject({
    kind: "failed",
    failure: { kind: "service_error" },
  });
  expect(agent.runtime).toMatchObject({ state: "ready", sessionCount: 2 });
  agent.runtime.kill();
  await waits.outcome;
});

test("a bug in a handler ends every turn of the process as failed: none is left without an outcome", async () => {
  const asks = [chunk("asks"), permission("t1", { sessionId: "nobody" }), waitFor("never")];
  await using agent = await start(turns(stubborn, asks), { log: brokenLog });
  const waits = play(await agent.open());
  const { outcome } = await play(await agent.open(), { retries: 0 });
  const failed = { kind: "failed", attempts: 1, failure: { rule: "internal-error" } };
  expect(outcome).toMatchObject(failed);
  expect((await waits).outcome).toMatchObject(failed);
  expect(agent.runtime.state).toBe("dead");
  await agent.runtime.stop();
  expect(processesIn(agent.log).filter(isRunning)).toEqual([]);
});

describe("what the agent does not take in a prompt is not sent", () => {
  const image = { type: "image", mimeType: "image/png", data: "aGk=" } as const;
  const file = { type: "resource", resource: { uri: "file:///a.txt", text: "a" } } as const;
  const link = { type: "resource_link", uri: "file:///a.txt", name: "a.txt" } as const;

  test.each([
    { from: "images declared", can: { image: true }, block: image },
    { from: "embedded context not mentioned", can: {}, block: file },
    { from: "a link is a must of the protocol", can: { embeddedContext: false }, block: link },
  ])("$from: sent", async ({ can, block }) => {
    await using agent = await start(sessions({}, { promptCapabilities: can }));
    const outcome = await (await agent.open()).prompt([{ type: "text", text: "look" }, block]).outcome;
    expect(outcome.kind).toBe("completed");
    expect(promptsIn(agent.log)).toHaveLength(1);
  });

  test.each([
    { from: "the default of the protocol", can: {}, block: image, says: "takes no images" },
    { from: "no images, in so many words", can: { image: false }, block: image, says: "takes no images" },
    {
      from: "recording kiro-cli 2.4.1",
      can: { image: true, embeddedContext: false },
      block: file,
      says: "takes no file contents",
    },
  ])("$from: $says", async ({ can, block, says }) => {
    await using agent = await start(sessions({}, { promptCapabilities: can }));
    const session = await agent.open();
    const outcome = await session.prompt([{ type: "text", text: "look" }, block]).outcome;
    const title: unknown = expect.stringContaining(says);
    const failure = { kind: "request_rejected", retry: "never", replaySafety: "not_sent", title };
    expect(outcome).toMatchObject({ kind: "failed", attempts: 0, failure });
    expect(promptsIn(agent.log)).toEqual([]);
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "ok" });
  });
});
