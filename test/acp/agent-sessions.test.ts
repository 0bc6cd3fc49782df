import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import type { AgentSessionList } from "../../src/acp/agent-sessions.ts";
import type { ForkPoint } from "../../src/acp/fork-session.ts";
import { end, err, logOf, reply, waitFor } from "../fixtures/agents/scenario.ts";
import type { Action, Json } from "../fixtures/agents/scenario.ts";
import { recordOf, rejectionOf, start } from "./drive.ts";

const CAN_LIST = { agentCapabilities: { sessionCapabilities: { list: {} } } };

const entry = (sessionId: string, more: { readonly [key: string]: Json } = {}): Json => ({
  sessionId,
  cwd: "/workspace",
  ...more,
});

const page = (sessions: readonly Json[], nextCursor?: Json): readonly Action[] => [
  reply({ sessions, ...(nextCursor !== undefined && { nextCursor }) }),
];

/** Recording claude-agent-acp 0.101.0 list-sessions. */
const REJECTED: readonly Action[] = [err(-32602, "Invalid params: Unknown session/list cursor: c1")];

/** What is listed over these answers, and with which cursors it was asked for. */
async function list(answers: readonly (readonly Action[])[], options?: { readonly cwd: string }) {
  await using agent = await start({ initializeResult: CAN_LIST, on: { "session/list": answers } });
  const listed = await agent.runtime.listSessions(options);
  const asked = logOf(agent.log).flatMap(({ frame }) => (frame?.method === "session/list" ? [frame.params] : []));
  return { listed, asked };
}

const idsOf = ({ sessions }: AgentSessionList): readonly string[] => sessions.map(({ sessionId }) => sessionId);

describe("the sessions that an agent keeps", () => {
  test("one page, as claude-agent-acp 0.101.0 has it (recording list-sessions)", async () => {
    const updatedAt = "2026-11-30T03:44:09.339Z";
    const { listed, asked } = await list([page([entry("a", { title: "Go", updatedAt })])], { cwd: "/workspace" });
    expect(listed).toEqual({
      sessions: [{ sessionId: "a", cwd: "/workspace", title: "Go", updatedAt }],
      isComplete: true,
    });
    expect(asked).toEqual([{ cwd: "/workspace" }]);
  });

  test("none, with a cursor that is null (recording codex-acp 2.6.0 load-unknown-session)", async () => {
    const { listed, asked } = await list([page([], null)]);
    expect(listed).toEqual({ sessions: [], isComplete: true });
    expect(asked).toEqual([{}]);
  });

  test.concurrent.each<{
    from: string;
    answers: readonly (readonly Action[])[];
    ids: readonly string[];
    isComplete: boolean;
    cursors: readonly (string | undefined)[];
  }>([
    {
      from: "are followed to the last page",
      answers: [page([entry("a")], "c1"), page([entry("b")], "c2"), page([entry("c")])],
      ids: ["a", "b", "c"],
      isComplete: true,
      cursors: [undefined, "c1", "c2"],
    },
    {
      from: "of two pages are named once, although one moved between them",
      answers: [page([entry("a"), entry("b")], "c1"), page([entry("b"), entry("c")])],
      ids: ["a", "b", "c"],
      isComplete: true,
      cursors: [undefined, "c1"],
    },
    {
      from: "are listed anew when the cursor is not taken any more",
      answers: [page([entry("old")], "c1"), REJECTED, page([entry("a")], "c2"), page([entry("b")])],
      ids: ["a", "b"],
      isComplete: true,
      cursors: [undefined, "c1", undefined, "c2"],
    },
    {
      from: "are no circle",
      answers: [page([entry("a")], "c1"), page([entry("b")], "c2"), page([entry("c")], "c1")],
      ids: ["a", "b", "c"],
      isComplete: false,
      cursors: [undefined, "c1", "c2"],
    },
    {
      from: "that cannot be read are left out",
      answers: [page([null, 5, "x", {}, { sessionId: 7 }, { sessionId: "" }, entry("a", { title: 5 })], { c: 1 })],
      ids: ["a"],
      isComplete: true,
      cursors: [undefined],
    },
    { from: "are no list", answers: [[reply("none")]], ids: [], isComplete: true, cursors: [undefined] },
  ])("$from", async ({ answers, ids, isComplete, cursors }) => {
    const { listed, asked } = await list(answers);
    expect(idsOf(listed)).toEqual(ids);
    expect(listed.isComplete).toBe(isComplete);
    expect(asked.map((params) => params?.["cursor"])).toEqual(cursors);
  });

  test("pages without an end are not followed for ever", async () => {
    const endless = Array.from({ length: 101 }, (_, n) => page([entry(`s${n}`)], `c${n}`));
    const { listed, asked } = await list(endless);
    expect(listed).toMatchObject({ isComplete: false, sessions: { length: 100 } });
    expect(asked).toHaveLength(100);
  });

  test("a cursor that is never taken is a failure, after one more try", async () => {
    const answers = [page([entry("a")], "c1"), REJECTED, page([entry("a")], "c1"), REJECTED];
    await using agent = await start({ initializeResult: CAN_LIST, on: { "session/list": answers } });
    const failure = recordOf(await rejectionOf(agent.runtime.listSessions()));
    expect(failure).toMatchObject({ kind: "request_rejected", retry: "never" });
    expect(failure?.title).toContain("Unknown session/list cursor");
    expect(logOf(agent.log).filter(({ frame }) => frame?.method === "session/list")).toHaveLength(4);
  });

  test("an agent that cannot list says so and is not asked", async () => {
    await using agent = await start({});
    const failure = recordOf(await rejectionOf(agent.runtime.listSessions()));
    expect(failure).toMatchObject({
      kind: "request_rejected",
      title: 'Agent "scripted" cannot list its sessions',
      replaySafety: "not_sent",
    });
    expect(logOf(agent.log).some(({ frame }) => frame?.method === "session/list")).toBe(false);
  });

  test("an abort between two pages ends it", async () => {
    const stop = new AbortController();
    await using agent = await start({
      initializeResult: CAN_LIST,
      on: { "session/list": [page([entry("a")], "c1"), [waitFor("session/new"), ...page([], "c2")]] },
    });
    const listing = rejectionOf(agent.runtime.listSessions({ signal: stop.signal }));
    await agent.until(() => logOf(agent.log).filter(({ frame }) => frame?.method === "session/list").length === 2);
    stop.abort(new Error("Enough"));
    await agent.open();
    expect((await listing).message).toBe("Enough");
  });
});

describe("a fork", () => {
  const cwd = tmpdir();
  const CAN_FORK = {
    agentCapabilities: { sessionCapabilities: { fork: {}, close: {} } },
  };

  /** The params of `session/fork`, and what it came to. */
  async function fork(
    answer: readonly Action[],
    options: {
      readonly at?: { readonly messageId: string; readonly text?: string; readonly occurrence?: number };
    } = {},
    profile: "claude" | "generic" = "generic",
  ) {
    await using agent = await start({ initializeResult: CAN_FORK, on: { "session/fork": [answer] } }, { profile, cwd });
    const outcome = await agent.runtime
      .forkSession({ sessionId: "old", cwd, ...options })
      .catch((error: unknown) => (error instanceof Error ? error : new Error("?", { cause: error })));
    const frames = logOf(agent.log).flatMap(({ frame }) => (frame === undefined ? [] : [frame]));
    return { outcome, sent: frames.find(({ method }) => method === "session/fork")?.params, frames };
  }

  test("of the whole session is a session of its own", async () => {
    await using agent = await start(
      {
        initializeResult: CAN_FORK,
        on: { "session/fork": [[reply({ sessionId: "new" })]], "session/prompt": [[end()]] },
      },
      { cwd },
    );
    const original = await agent.open({ cwd });
    const forked = await agent.runtime.forkSession({ sessionId: original.id, cwd });
    expect(forked.id).toBe("new");
    expect(agent.runtime.sessionCount).toBe(2);
    await forked.prompt("go on", { retries: 0 }).outcome;
    const prompts = logOf(agent.log).filter(({ frame }) => frame?.method === "session/prompt");
    expect(prompts.map(({ frame }) => frame?.params?.["sessionId"])).toEqual(["new"]);
  });

  test.concurrent.each<{ from: string; at?: ForkPoint; meta: unknown }>([
    { from: "whole", meta: undefined },
    {
      from: "at a message whose text is not known",
      at: { messageId: "msg-12:segment:2" },
      meta: { jetbrains: { air: { version: 1, fork: { version: 1, messageId: "msg-12:segment:2" } } } },
    },
    {
      from: "at the second message with this text",
      at: { messageId: "msg-12", text: "Grüße", occurrence: 2 },
      meta: {
        jetbrains: {
          air: {
            version: 1,
            fork: {
              version: 1,
              messageId: "msg-12",
              messageFingerprint: "sha256:f83e039796c6453a10f5519e39fd113901572316a1a8ea07cb525d2801dfd074",
              messageOccurrence: 2,
            },
          },
        },
      },
    },
  ])("$from: what is sent", async ({ at, meta }) => {
    const { sent } = await fork([reply({ sessionId: "new" })], at === undefined ? {} : { at });
    expect(sent).toEqual({
      sessionId: "old",
      cwd,
      mcpServers: [],
      ...(meta !== undefined && { _meta: meta }),
    });
  });

  test("keeps what makes the agent ask: the fork point stands beside it", async () => {
    const { sent } = await fork([reply({ sessionId: "new" })], { at: { messageId: "m" } }, "claude");
    expect(sent?.["_meta"]).toEqual({
      claudeCode: { options: { allowDangerouslySkipPermissions: false } },
      jetbrains: { air: { version: 1, fork: { version: 1, messageId: "m" } } },
    });
  });

  test.concurrent.each<{
    from: string;
    answer: readonly Action[];
    at?: { readonly messageId: string };
    kind: string;
    title: string;
  }>([
    {
      from: "a message that the agent does not find (claude-agent-acp 0.101, invalidParams)",
      answer: [err(-32602, "Fork point message m was not found in session old", { messageId: "m" })],
      at: { messageId: "m" },
      kind: "request_rejected",
      title: 'Agent "scripted" finds no message m in this session',
    },
    {
      from: "a session that the agent does not know",
      answer: [err(-32002, "Resource not found", { sessionId: "old" })],
      kind: "session_not_found",
      title: "Resource not found",
    },
    {
      from: "the same, in the words of codex-acp",
      answer: [err(-32603, "Internal error", { details: "no rollout found for thread id old" })],
      kind: "session_not_found",
      title: "no rollout found for thread id old",
    },
    {
      from: "an answer without a new id",
      answer: [reply({ sessionId: "old" })],
      kind: "request_rejected",
      title: 'Agent "scripted" forked without a new id',
    },
    {
      from: "a method that is advertised and not known",
      answer: [err(-32601, "Method not found")],
      kind: "request_rejected",
      title: "Method not found",
    },
  ])("$from", async ({ answer, at, kind, title }) => {
    const { outcome } = await fork(answer, at === undefined ? {} : { at });
    if (!(outcome instanceof Error)) throw new Error("It was forked");
    expect(recordOf(outcome)).toMatchObject({ kind, title });
  });

  test("an agent that cannot fork is not asked", async () => {
    await using agent = await start({}, { cwd });
    const error = await rejectionOf(agent.runtime.forkSession({ sessionId: "old", cwd }));
    expect(recordOf(error)).toMatchObject({
      kind: "request_rejected",
      title: 'Agent "scripted" cannot fork a session',
      replaySafety: "not_sent",
    });
    expect(logOf(agent.log).some(({ frame }) => frame?.method === "session/fork")).toBe(false);
  });
});
