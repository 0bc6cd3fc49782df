/**
 * kiro-cli, both engines (`kiro-cli acp`, and `--agent-engine v3`). Its channel for failures is JSON-RPC errors and its
 * own notifications; it asks as long as `--trust-all-tools` is not given (kiro wire notes, sections 1, 8, 9, 11).
 */
import { isObject } from "../acp/frames.ts";
import type { Backend } from "../acp/ports.ts";
import { genericHabits } from "./generic.ts";
import { readNotification } from "./kiro-v2.ts";
import { readFolded } from "./kiro-v3.ts";

/** Also inside a line for a shell; `-a` may stand among other short flags (`-va`). */
const TRUSTS = /(?:^|[\s"'])(?:-[A-Za-z]*a[A-Za-z]*|--trust-(?:all-)?tools)(?:[=\s"']|$)/;
/** Of the two engines only V3 puts `sess_` in front (kiro wire notes, section 2). The id becomes the name of a file. */
const V2_SESSION_ID = /^(?!sess_)[\w-]{1,100}$/;

export const kiroBackend: Backend = {
  ...genericHabits,
  id: "kiro",
  profile: "kiro",
  label: "Kiro",
  loginHint: "Run `kiro-cli login`, then ask again",
  sessionsPerRuntime: Infinity,
  loadMeta: (sessionId, env) => {
    const home = env["HOME"];
    return home === undefined || !V2_SESSION_ID.test(sessionId)
      ? undefined
      : { "_kiro.dev/session_file": `${home}/.kiro/sessions/cli/${sessionId}.json` };
  },
  // v2 answers -32601 to `session/close` (2.28), V3 has it from 2.26; what older V3 builds have destroys the record.
  closeRequest: (sessionId, agent) => {
    if (agent.close) return { method: "session/close", params: { sessionId } };
    return V2_SESSION_ID.test(sessionId) ? { method: "_kiro.dev/session/terminate", params: { sessionId } } : undefined;
  },
  isReplay: (update) => {
    const meta = isObject(update["_meta"]) ? update["_meta"]["kiro"] : undefined;
    return isObject(meta) && meta["replay"] === true;
  },
  continuePrompt: "Continue from where you stopped.",
  // `-a` is the short form; `--trust-tools=NAMES` lets those tools run unasked.
  toolGate: (args) => (args.some((arg) => TRUSTS.test(arg)) ? "acts" : "asks"),
  interruptedText: "Tool uses were interrupted, waiting for the next user prompt",
  refusesAfterCancelledPermission: true,
  // Both engines tell of a compaction outside ACP.
  compaction: false,
  readInfo: readFolded,
  readExtension: readNotification,
};
