/** What a compaction means for its turn, and notifications outside ACP around turns, through a real child. */
import { beforeAll, describe, expect, test } from "vitest";
import type { SessionEvent, TurnEvent } from "../../src/acp/events.ts";
import type { Failure } from "../../src/errors/failure.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { air, call, chunk, end, err, promptsIn, record, turns, update } from "../fixtures/agents/scenario.ts";
import { failureOf, play, playEach, start, textsOf } from "./drive.ts";
import type { Played } from "./drive.ts";

const compaction = (status: string, more: Parameters<typeof update>[0] = {}): Action =>
  update({ sessionUpdate: "compaction_update", compactionId: "c1", status, ...more });
const facts = (trigger: string) => ({
  _meta: { jetbrains: { air: { version: 1, contextCompaction: { version: 1, trigger } } } },
});
const FAILED = compaction("failed", { error: "HTTP 500" });
const calls = (status: string): Action =>
  update({
    sessionUpdate: status === "in_progress" ? "tool_call" : "tool_call_update",
    toolCallId: "c1",
    title: "Compact conversation",
    kind: "think",
    status,
    _meta: { jetbrains: { air: { version: 1, contextCompaction: { version: 1 } } } },
  });

interface Row {
  readonly from: string;
  readonly prompt: string;
  readonly turn: readonly Action[];
  readonly outcome: string;
  readonly kind?: string;
  readonly title?: string;
  readonly replaySafety?: string;
  readonly warnings?: readonly string[];
  /** Of the compactions, in order. */
  readonly states: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    from: "`/compact` that worked shows no text and is completed",
    prompt: "/compact",
    turn: [compaction("in_progress"), compaction("completed"), end()],
    outcome: "completed",
    states: ["running", "completed"],
  },
  {
    from: "`/compact` with a wish, as a tool call",
    prompt: " /compact keep the plan",
    turn: [calls("in_progress"), calls("completed"), end()],
    outcome: "completed",
    states: ["running", "completed"],
  },
  {
    from: "`/compact` that failed, though the harness says end_turn",
    prompt: "/compact",
    turn: [compaction("in_progress"), FAILED, end()],
    outcome: "failed",
    kind: "compaction",
    title: "Compaction failed: HTTP 500",
    replaySafety: "no_output",
    states: ["running", "failed"],
  },
  {
    from: "`/compact` that failed without a word, as a tool call",
    prompt: "/compact",
    turn: [calls("in_progress"), calls("failed"), end()],
    outcome: "failed",
    kind: "compaction",
    title: "The conversation could not be compacted",
    replaySafety: "no_output",
    states: ["running", "failed"],
  },
  {
    from: "`/compact` that failed and was explained by the agent",
    prompt: "/compact",
    turn: [FAILED, chunk("There is nothing to compact."), end()],
    outcome: "failed",
    kind: "compaction",
    replaySafety: "output_seen",
    states: ["failed"],
  },
  {
    from: "`/compact` whose second try worked",
    prompt: "/compact",
    turn: [FAILED, compaction("completed", { compactionId: "c2" }), end()],
    outcome: "completed",
    states: ["failed", "completed"],
  },
  {
    from: "another word for it: the agent says that it was asked",
    prompt: "/shrink",
    turn: [compaction("failed", { error: "no", ...facts("manual") }), end()],
    outcome: "failed",
    kind: "compaction",
    title: "Compaction failed: no",
    states: ["failed"],
  },
  {
    from: "no command: the agent's word for it alone fails no turn about something else",
    prompt: "hello",
    turn: [compaction("failed", { error: "no", ...facts("manual") }), chunk("ok"), end()],
    outcome: "completed",
    warnings: ["Compaction failed: no"],
    states: ["failed"],
  },
  {
    from: "a word that only begins like it",
    prompt: "/compactor",
    turn: [FAILED, chunk("ok"), end()],
    outcome: "completed",
    warnings: ["Compaction failed: HTTP 500"],
    states: ["failed"],
  },
  {
    from: "one of the agent's own that failed is a warning, once",
    prompt: "hello",
    turn: [compaction("in_progress"), FAILED, FAILED, chunk("ok"), end()],
    outcome: "completed",
    warnings: ["Compaction failed: HTTP 500"],
    states: ["running", "failed"],
  },
  {
    from: "one of the agent's own inside a turn of `/compact`",
    prompt: "/compact",
    turn: [
      compaction("failed", { compactionId: "c0", error: "no", ...facts("automatic") }),
      compaction("completed", facts("manual")),
      end(),
    ],
    outcome: "completed",
    warnings: ["Compaction failed: no"],
    states: ["failed", "completed"],
  },
  {
    from: "one of the agent's own that worked is no answer",
    prompt: "hello",
    turn: [compaction("in_progress"), compaction("completed"), end()],
    outcome: "empty",
    states: ["running", "completed"],
  },
  {
    from: "a record knows better why `/compact` failed (recording codex-acp declared-compact-fails)",
    prompt: "/compact",
    turn: [FAILED, end("end_turn", air(record({ title: "HTTP 503", actions: ["retry"] })))],
    outcome: "failed",
    kind: "service_error",
    title: "HTTP 503",
    replaySafety: "no_output",
    states: ["failed"],
  },
  {
    from: "a failed turn ends the compaction that it left open (recording codex-acp compact-fails)",
    prompt: "/compact",
    turn: [calls("in_progress"), err(-32603, "HTTP 503")],
    outcome: "failed",
    kind: "service_error",
    replaySafety: "no_output",
    states: ["running", "failed"],
  },
  {
    from: "a cancelled turn ends the compaction that it left open",
    prompt: "/compact",
    turn: [calls("in_progress"), end("cancelled")],
    outcome: "cancelled",
    states: ["running", "cancelled"],
  },
];

describe("turns", () => {
  const played = new Map<string, Played & { readonly sunk: readonly Failure[] }>();
  beforeAll(async () => {
    await using agent = await start(turns(...ROWS.map(({ turn }) => turn)));
    for (const { from, prompt } of ROWS) {
      const before = agent.sunk.length;
      const one = await play(await agent.open(), { retries: 0 }, prompt);
      played.set(from, { ...one, sunk: agent.sunk.slice(before) });
    }
  });

  test.each(ROWS)("$from", (row) => {
    const { outcome, events, sunk } = played.get(row.from)!;
    const failure = failureOf(outcome);
    expect({
      outcome: outcome.kind,
      kind: failure?.kind,
      ...(row.title !== undefined && { title: failure?.title }),
      ...(row.replaySafety !== undefined && { replaySafety: failure?.replaySafety }),
      warnings: outcome.warnings.map(({ title }) => title),
      states: events.flatMap((event) => (event.type === "compaction" ? [event.state] : [])),
    }).toEqual({
      outcome: row.outcome,
      kind: row.kind,
      ...(row.title !== undefined && { title: row.title }),
      ...(row.replaySafety !== undefined && { replaySafety: row.replaySafety }),
      warnings: row.warnings ?? [],
      states: row.states,
    });
    const warned = events.flatMap((event) => (event.type === "warning" ? [event.failure.title] : []));
    expect(warned).toEqual(row.warnings ?? []);
    expect(sunk.filter(({ severity }) => severity === "warning").map(({ title }) => title)).toEqual(warned);
  });

  test("a compaction is no tool: what failed after it is sent again", async () => {
    const service = air(record({ title: "HTTP 503", actions: ["retry"] }));
    await using agent = await start(
      turns([calls("in_progress"), calls("completed"), end("end_turn", service)], [chunk("ok"), end()]),
    );
    const { outcome } = await play(await agent.open(), { retries: 1 });
    expect(outcome).toMatchObject({ kind: "completed", text: "ok", attempts: 2 });
    expect(promptsIn(agent.log)).toHaveLength(2);
  });

  test("`/compact` that failed is not sent again by itself", async () => {
    await using agent = await start(turns([FAILED, end()]));
    const { outcome } = await play(await agent.open(), { retries: 3 }, "/compact");
    expect(failureOf(outcome)).toMatchObject({ kind: "compaction", retry: "never" });
    expect(promptsIn(agent.log)).toHaveLength(1);
  });

  test("a compaction may be silent as long as a tool, and no longer", async () => {
    const timeouts = { idleMs: 50, toolMs: 400 };
    await using agent = await start(
      turns([compaction("in_progress"), { delayMs: 150 }, compaction("completed"), end()]),
    );
    expect((await play(await agent.open(), { timeouts }, "/compact")).outcome.kind).toBe("completed");
    await using stuck = await start(turns([compaction("in_progress")]));
    const { outcome } = await play(await stuck.open(), { timeouts }, "/compact");
    expect(failureOf(outcome)).toMatchObject({
      kind: "timeout",
      title: expect.stringContaining("last heard: a compaction of the context"),
    });
  });
});

const oauth = (serverName: string): Action =>
  call("_kiro.dev/mcp/oauth_request", { sessionId: "$S", serverName, url: `https://id.example/${serverName}` });
const roster = (...rows: readonly (readonly [id: string, type: string])[]): Action =>
  call("_kiro.dev/subagent/list_update", {
    subagents: rows.map(([sessionId, type]) => ({ sessionId, sessionName: `Child ${sessionId}`, status: { type } })),
    pendingStages: [],
  });

describe("notifications of kiro", () => {
  const KIRO: readonly { readonly from: string; readonly turn: readonly Action[]; readonly told: readonly string[] }[] =
    [
      {
        from: "a sign-in that it asks for on every probe is told once per server",
        turn: [oauth("a"), oauth("a"), oauth("b"), oauth("a"), chunk("ok"), end()],
        told: [
          "notice The MCP server a needs a sign-in: https://id.example/a",
          "notice The MCP server b needs a sign-in: https://id.example/b",
          "text ok",
        ],
      },
      {
        from: "of its list of subagents, which names no session, only changes are told",
        turn: [
          roster(),
          roster(["c1", "working"]),
          roster(["c1", "working"], ["c2", "working"]),
          roster(["c1", "terminated"], ["c2", "working"]),
          roster(["c1", "terminated"]),
          roster(["c1", "working"]),
          chunk("ok"),
          end(),
        ],
        told: [
          "subagent c1 running",
          "subagent c2 running",
          "subagent c1 completed",
          "subagent c2 completed",
          "subagent c1 running",
          "text ok",
        ],
      },
      {
        from: "another agent, with its model",
        turn: [
          call("_kiro.dev/agent/switched", { sessionId: "$S", agentName: "planner", model: "model-b" }),
          chunk("ok"),
          end(),
        ],
        told: ["mode planner", "session planner model-b", "text ok"],
      },
      {
        from: "V3 folds its news into updates",
        turn: [
          ...[
            { kind: "summarization_started" },
            { kind: "summarization_completed", conversationSummary: "So far." },
            { kind: "context_usage", usagePercentage: 1.5 },
            { kind: "turn_completion", promptTurnSummaries: [{ unit: "credit", usage: 0.5 }] },
          ].map((kiro) => update({ sessionUpdate: "session_info_update", _meta: { kiro } })),
          chunk("ok"),
          end(),
        ],
        told: ["compaction running", "compaction completed So far.", "usage 1.5/100", "usage 0.5 credits", "text ok"],
      },
    ];

  let played: (row: { readonly from: string }) => Played;
  beforeAll(async () => {
    played = await playEach(KIRO, { profile: "kiro" });
  });

  test.each(KIRO)("$from", ({ from, told }) => {
    expect(played({ from }).events.slice(1).map(inShort)).toEqual(told);
  });

  test("news that names no session is nobody's sign of life", async () => {
    const again = Array.from({ length: 20 }, (): Action[] => [roster(["c9", "terminated"]), { delayMs: 30 }]).flat();
    await using agent = await start(turns([chunk("half"), ...again, end()]), { profile: "kiro" });
    const { outcome } = await play(await agent.open(), { retries: 0, timeouts: { idleMs: 120 } });
    expect(failureOf(outcome)).toMatchObject({ kind: "timeout" });
  });

  test("what it says before the first prompt waits for that turn, and after a turn is told late", async () => {
    const scenario = {
      on: {
        "session/new": [[oauth("early"), { default: true }]],
        "session/prompt": [
          [
            chunk("ok"),
            end(),
            oauth("late"),
            call("_kiro.dev/metadata", { sessionId: "$S", contextUsagePercentage: 7 }),
          ],
        ],
      },
    } as const;
    await using agent = await start(scenario, { profile: "kiro" });
    const told: SessionEvent[] = [];
    const isTold = Promise.withResolvers<void>();
    const session = await agent.open({
      onEvent: (event) => {
        told.push(event);
        if (event.event.type === "usage") isTold.resolve();
      },
    });
    const { events } = await play(session);
    await isTold.promise;
    expect(textsOf(events, "notice")).toEqual(["The MCP server early needs a sign-in: https://id.example/early"]);
    const late = told.filter((event) => event.late === true);
    expect(late.map(({ event }) => event.type)).toEqual(["notice", "usage"]);
    expect(late.every(({ turnId }) => turnId !== null)).toBe(true);
    expect(told.filter(({ event }) => event.type === "notice")).toHaveLength(2);
  });

  test("with two sessions at work, a list of subagents is of the one whose child it names, else of none", async () => {
    const first = [
      update({ sessionUpdate: "subagent_spawned", subagentSessionId: "c1", name: "x" }),
      chunk("a"),
      { untilFile: "go" },
      roster(["c1", "working"], ["c2", "working"]),
      roster(["c3", "working"]),
      chunk("b"),
      end(),
    ] satisfies Action[];
    await using agent = await start(turns(first, [chunk("a"), { untilFile: "done" }, chunk("b"), end()]), {
      profile: "kiro",
    });
    const sessions = [await agent.open(), await agent.open()];
    const begun = sessions.map(() => Promise.withResolvers<void>());
    for (const [index, session] of sessions.entries())
      session.subscribe(({ event }) => {
        if (event.type === "text") begun[index]!.resolve();
      });
    const running = sessions.map((session) => play(session));
    await Promise.all(begun.map(({ promise }) => promise));
    agent.touch("go");
    await running[0];
    agent.touch("done");
    const all = await Promise.all(running);
    expect(all.map(({ events }) => events.map(inShort).filter((line) => line.startsWith("subagent")))).toEqual([
      ["subagent c1 running", "subagent c1 running", "subagent c2 running"],
      [],
    ]);
  });
});

function inShort(event: TurnEvent): string {
  switch (event.type) {
    case "notice":
    case "text":
      return `${event.type} ${event.text}`;
    case "subagent":
      return `subagent ${event.subagentId} ${"state" in event ? event.state : event.event.type}`;
    case "mode":
      return `mode ${event.modeId}`;
    case "session":
      return `session ${event.mode} ${event.model}`;
    case "compaction":
      return `compaction ${event.state}${event.summary === undefined ? "" : ` ${event.summary}`}`;
    case "usage":
      return event.cost === undefined
        ? `usage ${event.contextUsed}/${event.contextSize}`
        : `usage ${event.cost.amount} ${event.cost.currency}`;
    default:
      return event.type;
  }
}
