/**
 * kiro-cli, both engines (`kiro-cli acp`, and `--agent-engine v3`). Its channel for failures is JSON-RPC errors and its
 * own notifications; it asks as long as `--trust-all-tools` is not given (kiro wire notes, sections 1, 8, 9, 11).
 */
import { isObject } from "../acp/frames.ts";
import { num, str } from "../acp/normalize.ts";
import type { Backend, ExtensionReading } from "../acp/ports.ts";
import type { TurnEventBody } from "../acp/events.ts";
import { cleanBlock, cleanLine } from "../errors/redact.ts";
import type { RefusalInfo } from "../errors/failure.ts";
import { genericHabits } from "./generic.ts";

/** Limits of the refusal card; scrubbed before they are cut (bridge semantics, section 14). */
const MAX_CATEGORY_CHARS = 64;
const MAX_EXPLANATION_CHARS = 600;
const MAX_MODEL_CHARS = 128;
/** Also inside a line for a shell; `-a` may stand among other short flags (`-va`). */
const TRUSTS = /(?:^|[\s"'])(?:-[A-Za-z]*a[A-Za-z]*|--trust-(?:all-)?tools)(?:[=\s"']|$)/;
/** Of the two engines only V3 puts `sess_` in front (kiro wire notes, section 2). The id becomes the name of a file. */
const V2_SESSION_ID = /^(?!sess_)[\w-]{1,100}$/;
const FILTERED = "CONTENT_FILTERED";

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
  readExtension: (method, params) => READERS.get(method)?.(params),
};

type Params = Readonly<Record<string, unknown>>;

type Reader = (params: Params) => ExtensionReading;

/** A map, for the agent chooses the names: `constructor` is none of ours. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["_kiro.dev/metadata", readMetadata],
  ["_kiro.dev/session/update", readSessionUpdate],
  [
    "_kiro.dev/commands/available",
    (params) => ({ events: [{ type: "commands", commands: readCommands(params["commands"]) }] }),
  ],
  ["_kiro.dev/compaction/status", readCompaction],
  ["_kiro.dev/agent/switched", (params) => ({ events: modeEvent(str(params["agentName"])) })],
  ["_kiro.dev/error/rate_limit", (params) => ({ events: noticeEvent(str(params["message"])) })],
  ["_kiro/system/notify", (params) => ({ events: noticeEvent(str(params["message"])) })],
]);

/** Either signal alone, the stop reason or the object, means a refusal. */
function readMetadata(params: Params): ExtensionReading {
  const percentage = num(params["contextUsagePercentage"]);
  const events: TurnEventBody[] =
    percentage === undefined ? [] : [{ type: "usage", contextUsed: clamp(percentage), contextSize: 100 }];
  const { refusal } = params;
  if (params["stopReason"] !== FILTERED && !isObject(refusal)) return { events };
  return { events, refusal: readRefusal(isObject(refusal) ? refusal : {}) };
}

function readRefusal(refusal: Params): RefusalInfo {
  return {
    category: cleanLine(str(refusal["category"]) ?? "", MAX_CATEGORY_CHARS),
    explanation: cleanBlock(str(refusal["explanation"]) ?? "", MAX_EXPLANATION_CHARS),
    recommendedModel: cleanLine(str(refusal["recommendedModel"]) ?? "", MAX_MODEL_CHARS),
  };
}

/** `status` is an object since 1.29 and was a plain string before; a failed one may be followed by silence. */
function readCompaction(params: Params): ExtensionReading {
  const { status } = params;
  const type = isObject(status) ? str(status["type"]) : str(status);
  if (type !== "failed") return { events: noticeEvent(`Compaction ${type ?? "changed"}`) };
  const error = isObject(status) ? str(status["error"]) : undefined;
  return { failure: { kind: "compaction", title: cleanBlock(error ?? "", MAX_EXPLANATION_CHARS) } };
}

/** kiro's private updates: retries of its own, stalls, and a change of model for this turn. */
function readSessionUpdate(params: Params): ExtensionReading {
  const update = isObject(params["update"]) ? params["update"] : params;
  switch (update["sessionUpdate"]) {
    case "retry_warning": {
      const of = num(update["maxAttempts"]);
      const delayS = num(update["delaySecs"]);
      return {
        events: [
          {
            type: "retry",
            by: "harness",
            attempt: num(update["attempt"]) ?? 1,
            reason: cleanLine(str(update["message"]) ?? "Kiro tries again", MAX_EXPLANATION_CHARS),
            ...(of === undefined ? {} : { of }),
            ...(delayS === undefined ? {} : { delayMs: delayS * 1000 }),
          },
        ],
      };
    }
    case "stream_stall_notice":
      return { events: noticeEvent(str(update["message"])) };
    case "model_fallback": {
      const from = str(update["from"]) ?? "the model";
      const to = str(update["to"]);
      return {
        events: noticeEvent(
          to === undefined
            ? `No model is left to fall back to from ${from}`
            : `Model fallback: ${from} to ${to} for this turn`,
        ),
      };
    }
    default:
      return {};
  }
}

function readCommands(commands: unknown): { name: string; description: string }[] {
  const list = Array.isArray(commands) ? commands.filter(isObject) : [];
  return list.flatMap((command) => {
    const name = str(command["name"])?.replace(/^\//, "");
    return name === undefined ? [] : [{ name, description: str(command["description"]) ?? "" }];
  });
}

function noticeEvent(text: string | undefined): TurnEventBody[] {
  return text === undefined ? [] : [{ type: "notice", from: "adapter", text: cleanBlock(text, MAX_EXPLANATION_CHARS) }];
}

function modeEvent(modeId: string | undefined): TurnEventBody[] {
  return modeId === undefined ? [] : [{ type: "mode", modeId }];
}

function clamp(percentage: number): number {
  return Math.min(100, Math.max(0, percentage));
}
