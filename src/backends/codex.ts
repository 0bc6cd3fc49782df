/**
 * codex-acp 2.6. Its default mode lets a second model approve what needs approval (recording guardian-allow), so it is
 * started and kept in one that asks. Its sentence about a failed turn is a chunk without an id after `systemError`.
 */
import type { Backend } from "../acp/ports.ts";
import { genericHabits } from "./generic.ts";

const API_KEY_METHOD = "api-key";
const ASKS_FOR_EVERYTHING = "read-only";
const ASKS_OUTSIDE_WORKSPACE = "workspace-write";
/** Whether a mode asks the client before anything is changed; the others write unasked, ask a second model or nobody. */
const ASKS: ReadonlyMap<string, boolean> = new Map([
  [ASKS_FOR_EVERYTHING, true],
  [ASKS_OUTSIDE_WORKSPACE, false],
  ["agent", false],
  ["agent-full-access", false],
]);

export const codexBackend: Backend = {
  ...genericHabits,
  id: "codex",
  profile: "codex",
  label: "Codex",
  loginHint:
    "Run `codex login` or set OPENAI_API_KEY, then ask again. Codex says the same when its config.toml cannot be read: check that file too",
  // One app server serves every thread.
  sessionsPerRuntime: Infinity,
  capabilityMeta: { terminal_output_delta: true },
  env: (approval) => ({ INITIAL_AGENT_MODE: modeFor(approval) }),
  // A provider that wants an OpenAI login does not look at the variable by itself (codex-acp 2.6.0: -32000, then `api-key`).
  loginFromEnv: (env, methods) =>
    env["OPENAI_API_KEY"] && methods.includes(API_KEY_METHOD)
      ? { methodId: API_KEY_METHOD, note: "Codex was signed in with OPENAI_API_KEY; it keeps the key in its auth.json" }
      : undefined,
  modeToSet: (modes, approval) => {
    const wanted = modeFor(approval);
    return modes === undefined || modes.current === wanted ? undefined : wanted;
  },
  modeAsks: (mode) => ASKS.get(mode),
  toolGate: () => "by_mode",
  // Its silent refusal is an empty turn, and repeats (recording refusal-content).
  retriesEmptyTurn: false,
  // Recording cancel-mid-command: the turn is cancelled and `sleep` goes on.
  leavesCancelledCommands: true,
  // Its app server does not heed the end of stdin: after 2 s codex-acp 2.6.0 sends the signal that the next rung sends.
  endGraceMs: 250,
  // No sign but these two words of the adapter's own (recording compact-manual, plain).
  isCompactionCall: ({ kind, title }) => kind === "think" && title === "Compact conversation",
  isAdapterWords: (update, afterSystemError) => afterSystemError && update["messageId"] === undefined,
};

function modeFor(approval: Parameters<Backend["env"]>[0]): string {
  return approval === "all" ? ASKS_OUTSIDE_WORKSPACE : ASKS_FOR_EVERYTHING;
}
