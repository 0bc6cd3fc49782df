/** What each backend can do with sessions. */
import { expect, test } from "vitest";
import { readAgentCapabilities } from "../../src/acp/negotiate.ts";
import { KNOWN_BACKENDS, backendFor } from "../../src/backends/registry.ts";

const NONE = readAgentCapabilities(undefined);
const CLOSES = { ...NONE, close: true };
const UUID = "a0000001-0000-4000-8000-000000000001";

test.each([
  { id: "claude", sessions: Infinity, leaves: false, continues: false },
  { id: "codex", sessions: Infinity, leaves: true, continues: false },
  { id: "kiro", sessions: Infinity, leaves: false, continues: true },
  { id: "demo", sessions: Infinity, leaves: false, continues: false },
  { id: "mine", sessions: 1, leaves: false, continues: false },
])("$id", ({ id, sessions, leaves, continues }) => {
  const backend = backendFor(id);
  expect(backend.sessionsPerRuntime).toBe(sessions);
  expect(backend.leavesCancelledCommands).toBe(leaves);
  expect(backend.continuePrompt !== undefined).toBe(continues);
});

test.each([
  {
    from: "codex, recording session-close-mid-turn",
    id: "codex",
    session: UUID,
    agent: CLOSES,
    method: "session/close",
  },
  { from: "claude, recording list-sessions", id: "claude", session: UUID, agent: CLOSES, method: "session/close" },
  { from: "any agent that does not say so", id: "mine", session: UUID, agent: NONE, method: undefined },
  { from: "kiro v2, recording 2.4.1", id: "kiro", session: UUID, agent: NONE, method: "_kiro.dev/session/terminate" },
  { from: "kiro V3 2.26", id: "kiro", session: `sess_${UUID}`, agent: CLOSES, method: "session/close" },
  {
    from: "kiro V3 before: delete would destroy the record",
    id: "kiro",
    session: `sess_${UUID}`,
    agent: NONE,
    method: undefined,
  },
])("a session ends: $from", ({ id, session, agent, method }) => {
  const request = method === undefined ? undefined : { method, params: { sessionId: session } };
  expect(backendFor(id).closeRequest(session, agent)).toEqual(request);
});

test.each([
  { from: "kiro v2", session: UUID, env: { HOME: "/home/u" }, file: `/home/u/.kiro/sessions/cli/${UUID}.json` },
  { from: "no home known", session: UUID, env: {}, file: undefined },
  { from: "V3", session: `sess_${UUID}`, env: { HOME: "/home/u" }, file: undefined },
  { from: "an id that would leave the folder", session: "../../x", env: { HOME: "/home/u" }, file: undefined },
])("the file of a session: $from", ({ session, env, file }) => {
  const meta = file === undefined ? undefined : { "_kiro.dev/session_file": file };
  expect(KNOWN_BACKENDS["kiro"]?.loadMeta(session, env)).toEqual(meta);
  for (const id of ["claude", "codex", "demo", "mine"]) expect(backendFor(id).loadMeta(session, env)).toBeUndefined();
});

test.each([
  {
    from: "recording kiro-cli V3 2.16.0 list-fork-load-replay",
    id: "kiro",
    meta: { kiro: { replay: true } },
    is: true,
  },
  { from: "a live update", id: "kiro", meta: { kiro: { messageId: "m" } }, is: false },
  { from: "no meta", id: "kiro", meta: undefined, is: false },
  { from: "another agent's word", id: "mine", meta: { kiro: { replay: true } }, is: false },
])("a repeated update: $from", ({ id, meta, is }) => {
  expect(backendFor(id).isReplay({ sessionUpdate: "agent_message_chunk", ...(meta && { _meta: meta }) })).toBe(is);
});
