/**
 * claude-agent-acp 0.101. It starts in a mode where Claude decides about permissions itself, unless the user's settings
 * say otherwise (recordings, INDEX note 19). Model text carries a message id; notices of the adapter do not, or name a kind.
 */
import { isObject } from "../acp/frames.ts";
import type { Backend } from "../acp/ports.ts";
import { genericHabits } from "./generic.ts";

const ASKS_FOR_EVERYTHING = "default";
const ASKS: ReadonlyMap<string, boolean> = new Map([
  [ASKS_FOR_EVERYTHING, true],
  ["plan", true],
  ["acceptEdits", false],
  ["auto", false],
  ["dontAsk", true],
  ["bypassPermissions", false],
]);

/**
 * Settings that only tighten, above those of the user and the project (claude-agent-sdk 0.3.318, `managedSettings`). The
 * two locks set aside allow rules, hooks that allow, and the tools that a skill brings along; the rule makes Claude ask
 * about what it would run by itself: reading, `acceptEdits` of a subagent.
 */
const ASKS_ABOUT_EVERY_TOOL = {
  allowManagedPermissionRulesOnly: true,
  allowManagedHooksOnly: true,
  permissions: { ask: ["*"] },
};

export const claudeBackend: Backend = {
  ...genericHabits,
  id: "claude",
  profile: "claude",
  label: "Claude Agent",
  loginHint: "Run `claude auth login` or set ANTHROPIC_API_KEY, then ask again",
  // Its sessions are processes of their own behind one adapter.
  sessionsPerRuntime: Infinity,
  capabilityMeta: { terminal_output_delta: true },
  sessionMeta: (_, gate) => ({
    claudeCode: {
      options: {
        allowDangerouslySkipPermissions: false,
        ...(gate === "required" && { managedSettings: ASKS_ABOUT_EVERY_TOOL }),
      },
    },
  }),
  modeToSet: (modes) =>
    modes === undefined || modes.current === ASKS_FOR_EVERYTHING ? undefined : ASKS_FOR_EVERYTHING,
  modeAsks: (mode) => ASKS.get(mode),
  toolGate: () => "by_mode",
  // Its model's tools have names of their own or begin with `mcp__`.
  isCompactionCall: ({ _meta: meta }) =>
    isObject(meta) && isObject(meta["claudeCode"]) && meta["claudeCode"]["toolName"] === "compact",
  isAdapterWords: (update) => {
    if (update["messageId"] === undefined) return true;
    const meta = isObject(update["_meta"]) ? update["_meta"] : {};
    return isObject(meta["claudeCode"]) && meta["claudeCode"]["kind"] !== undefined;
  },
};
