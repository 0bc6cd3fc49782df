/** What `session/load` repeats, in the frames of the recordings: told as such, and no part of the turn that follows. */
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { SessionEvent } from "../../src/acp/events.ts";
import type { Profile } from "../../src/errors/failure.ts";
import { chunk, end } from "../fixtures/agents/scenario.ts";
import type { Action, Json } from "../fixtures/agents/scenario.ts";
import { play, start } from "./drive.ts";

interface Frame {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string };
  readonly result?: Json;
}

/** The frames of a recording from its `session/load` on: those before its answer, the answer, and those until the next request. */
function loadIn(recording: string) {
  const file = fileURLToPath(new URL(`../fixtures/recordings/${recording}.jsonl`, import.meta.url));
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  const entries = lines.map((line): { readonly dir: string; readonly frame: Frame } => JSON.parse(line));
  const at = entries.findIndex(({ dir, frame }) => dir === "out" && frame.method === "session/load");
  const { id, params } = entries[at]!.frame;
  const wire = entries.slice(at + 1).filter(({ dir }) => dir === "in" || dir === "out");
  const answered = wire.findIndex(({ dir, frame }) => dir === "in" && frame.id === id && frame.method === undefined);
  const rest = wire.slice(answered + 1);
  const next = rest.findIndex(({ dir }) => dir === "out");
  const sent = (list: typeof wire): Action[] => list.map(({ frame }) => ({ raw: `${JSON.stringify(frame)}\n` }));
  const answer: Action = { send: { jsonrpc: "2.0", id: "$P", result: wire[answered]!.frame.result ?? null } };
  return {
    sessionId: params!.sessionId!,
    load: [...sent(wire.slice(0, answered)), answer, ...sent(rest.slice(0, Math.max(0, next)))],
  };
}

/** An event in one line: what it is, and its words. */
function brief({ event }: SessionEvent): string {
  switch (event.type) {
    case "user":
    case "text":
    case "notice":
      return `${event.type}: ${event.text.slice(0, 30)}`;
    case "failure":
    case "warning":
      return `${event.type}: ${event.failure.kind}, ${event.failure.title.slice(0, 30)}`;
    case "tool":
      return `tool: ${event.status}`;
    default:
      return event.type;
  }
}

const CLAUDE = "claude-agent-acp/0.101.0";
const CODEX = "codex-acp/2.6.0";

test.each<{ recording: string; profile: Profile; replayed: readonly string[] }>([
  {
    recording: `${CLAUDE}/air/load-after-usage-limit`,
    profile: "claude",
    replayed: ["user: Good", "text: Fine.", "user: Bad", "failure: usage_limit, You've hit your 5-hour limit ·"],
  },
  {
    recording: `${CLAUDE}/plain/load-after-usage-limit`,
    profile: "claude",
    replayed: ["user: Good", "text: Fine.", "user: Bad", "text: You've hit your 5-hour limit ·"],
  },
  {
    recording: `${CLAUDE}/air/load-after-failure`,
    profile: "claude",
    replayed: ["user: Good", "text: Fine.", "user: Bad", "text: API Error: 400 fake structural"],
  },
  { recording: `${CLAUDE}/air/load-after-kill`, profile: "claude", replayed: ["user: Go"] },
  {
    recording: `${CLAUDE}/air/load-after-refusal`,
    profile: "claude",
    replayed: ["user: Bad", "text: API Error: Opus 4.8's safeguar"],
  },
  {
    recording: `${CLAUDE}/air/load-after-tool-failure`,
    profile: "claude",
    replayed: ["user: Go", "text: Running it.", "tool: pending", "tool: failed", "text: The command has been run."],
  },
  {
    recording: `${CODEX}/air/load-after-failure`,
    profile: "codex",
    replayed: ["user: One.", "text: Turn one fine.", "user: Two.", "warning: unknown, Codex could not find bubblewra"],
  },
  {
    recording: `${CODEX}/plain/load-after-failure`,
    profile: "codex",
    replayed: ["user: One.", "text: Turn one fine.", "user: Two.", "text: Config warning: Codex could no"],
  },
])("$recording", async ({ recording, profile, replayed }) => {
  const { sessionId, load } = loadIn(recording);
  const scenario = {
    initializeResult: { agentCapabilities: { loadSession: true } },
    on: { "session/load": [load], "session/prompt": [[chunk("New answer", { messageId: "new" }), end()]] },
  };
  const cwd = tmpdir();
  await using agent = await start(scenario, { profile, cwd });
  const heard: SessionEvent[] = [];
  const onEvent = (event: SessionEvent): unknown => heard.push(event);
  const session = await agent.runtime.resumeSession({ sessionId, via: "load", cwd, onEvent });
  const { outcome, events } = await play(session);
  expect(outcome).toMatchObject({ kind: "completed", text: "New answer", warnings: [], attempts: 1 });
  expect(events.filter(({ type }) => type === "failure" || type === "warning")).toEqual([]);
  const told = heard.filter((event) => event.replayed === true);
  const spoken = told.map(brief).filter((line) => /^(?:user|text|notice|failure|warning|tool):/.test(line));
  expect(spoken.filter((line, index) => line !== spoken[index - 1])).toEqual(replayed);
  expect(told.every(({ turnId }) => turnId === null)).toBe(true);
  // The replay ends with the answer: nothing behind it is a repetition, and nothing of it comes after.
  expect(heard.findLastIndex((event) => event.replayed === true)).toBe(told.length - 1);
  expect(agent.sunk).toEqual([]);
});
