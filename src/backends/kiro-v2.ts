/** Notifications of kiro's v2 engine (kiro wire notes, section 9), and the two V3 ones that are no session update. Pure. */
import { isObject } from "../acp/frames.ts";
import { num, str } from "../acp/normalize.ts";
import type { ExtensionReading } from "../acp/ports.ts";
import type { RosterRow } from "../acp/extension-news.ts";
import type { RefusalInfo } from "../errors/failure.ts";
import { cleanBlock, cleanLine } from "../errors/redact.ts";
import { contextUsage, creditUsage, id, name, notices, objectIn, serverFailed, signIn, words } from "./kiro-words.ts";
import type { Params } from "./kiro-words.ts";

/** Limits of the refusal card; scrubbed before they are cut (bridge semantics, section 14). */
const MAX_CATEGORY_CHARS = 64;
const MAX_EXPLANATION_CHARS = 600;
const MAX_MODEL_CHARS = 128;
const MAX_SUBAGENTS = 1000;
const MAX_SERVERS = 1000;
const FILTERED = "CONTENT_FILTERED";

/** What a notification says; undefined = not known here. */
export function readNotification(method: string, params: Params): ExtensionReading | undefined {
  return READERS.get(method)?.(params);
}

type Reader = (params: Params) => ExtensionReading;

/** A map, for the agent chooses the names: `constructor` is none of ours. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["_kiro.dev/metadata", readMetadata],
  ["_kiro.dev/session/update", readSessionUpdate],
  [
    "_kiro.dev/commands/available",
    ({ commands }) => ({ events: [{ type: "commands", commands: readCommands(commands) }] }),
  ],
  ["_kiro.dev/compaction/status", readCompaction],
  ["_kiro.dev/clear/status", () => ({ events: notices("The conversation was cleared") })],
  ["_kiro.dev/agent/switched", readSwitch],
  ["_kiro.dev/error/rate_limit", ({ message }) => ({ events: notices(words(message)) })],
  // `oauthUrl` in some builds; sent again on every probe (section 9).
  ["_kiro.dev/mcp/oauth_request", ({ serverName, url, oauthUrl }) => ({ once: signIn(serverName, url ?? oauthUrl) })],
  ["_kiro.dev/mcp/server_init_failure", ({ serverName, error }) => ({ once: serverFailed(serverName, error) })],
  ["_kiro.dev/subagent/list_update", ({ subagents }) => ({ roster: readRoster(subagents) })],
  ["_kiro/system/notify", ({ message }) => ({ events: notices(words(message)) })],
  ["_kiro/mcp/status", readServers],
  ["_kiro/tools/content_chunk", readOutput],
  ["_kiro/customAgent/config_error", readAgentFault],
]);

/** Either signal alone, the stop reason or the object, means a refusal. */
function readMetadata(params: Params): ExtensionReading {
  const { contextUsagePercentage, meteringUsage, refusal, stopReason } = params;
  const events = [...contextUsage(contextUsagePercentage), ...creditUsage(meteringUsage, "value")];
  if (stopReason !== FILTERED && !isObject(refusal)) return { events };
  return { events, refusal: readRefusal(isObject(refusal) ? refusal : {}) };
}

function readRefusal(refusal: Params): RefusalInfo {
  return {
    category: cleanLine(str(refusal["category"]) ?? "", MAX_CATEGORY_CHARS),
    explanation: cleanBlock(str(refusal["explanation"]) ?? "", MAX_EXPLANATION_CHARS),
    recommendedModel: cleanLine(str(refusal["recommendedModel"]) ?? "", MAX_MODEL_CHARS),
  };
}

const COMPACTION_STATES = new Map([
  ["started", "running"],
  ["completed", "completed"],
  ["failed", "failed"],
] as const);

/** `status` is an object since 1.29, with the summary beside it, and was a plain string before. */
function readCompaction({ status, summary }: Params): ExtensionReading {
  const told = isObject(status) ? status : { type: status };
  const state = [...COMPACTION_STATES].find(([word]) => word === told["type"])?.[1];
  if (state === undefined) return {};
  const error = state === "failed" ? words(told["error"]) : undefined;
  const text = str(summary);
  return {
    compaction: { state, ...(error !== undefined && { error }), ...(text !== undefined && { summary: text }) },
  };
}

function readSwitch({ agentName, model, welcomeMessage }: Params): ExtensionReading {
  const mode = id(agentName);
  const modelId = id(model);
  return {
    ...(mode !== undefined && { mode }),
    ...(modelId !== undefined && { model: modelId }),
    events: notices(words(welcomeMessage)),
  };
}

/** One that waits for an instruction does nothing at the moment. */
function readRoster(subagents: unknown): RosterRow[] {
  const rows = Array.isArray(subagents) ? subagents.slice(0, MAX_SUBAGENTS).filter(isObject) : [];
  return rows.flatMap((row): RosterRow[] => {
    const subagentId = id(row["sessionId"]);
    const type = objectIn(row, "status")["type"];
    if (subagentId === undefined || typeof type !== "string") return [];
    const called = name(row["sessionName"]) ?? name(row["agentName"]);
    const task = words(row["initialQuery"]);
    const state = type === "working" ? "running" : "completed";
    return [{ subagentId, state, ...(called !== undefined && { name: called }), ...(task !== undefined && { task }) }];
  });
}

/** V3 sends the whole list at each change. */
function readServers({ servers }: Params): ExtensionReading {
  const rows = Array.isArray(servers) ? servers.slice(0, MAX_SERVERS).filter(isObject) : [];
  return {
    once: rows.flatMap((row) => [
      ...signIn(row["name"], row["authorizationUrl"]),
      ...(row["status"] === "failed" || row["status"] === "error"
        ? serverFailed(row["name"], row["errorMessage"])
        : []),
    ]),
  };
}

/** Output of a tool while it runs (V3). */
function readOutput(params: Params): ExtensionReading {
  const toolCallId = id(params["toolCallId"]);
  const data = str(objectIn(objectIn(params, "content"), "content")["text"]) ?? "";
  return toolCallId === undefined || data === "" ? {} : { events: [{ type: "terminal", toolCallId, data }] };
}

/** The definition of an agent that cannot be read (V3). */
function readAgentFault({ path, error }: Params): ExtensionReading {
  const file = cleanLine(str(path) ?? "", MAX_EXPLANATION_CHARS);
  return file === ""
    ? {}
    : {
        once: [
          {
            key: `agent ${file}`,
            text: `The agent in ${file} cannot be used: ${words(error) ?? "no reason was given"}`,
          },
        ],
      };
}

/** kiro's private updates: retries of its own, stalls, and a change of model for this turn. */
function readSessionUpdate(params: Params): ExtensionReading {
  const update = isObject(params["update"]) ? params["update"] : params;
  switch (update["sessionUpdate"]) {
    case "retry_warning":
      return readRetry(update);
    case "stream_stall_notice":
      return { events: notices(words(update["message"])) };
    case "model_fallback": {
      const from = name(update["from"]) ?? "the model";
      const to = name(update["to"]);
      return {
        events: notices(
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

function readRetry(update: Params): ExtensionReading {
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

function readCommands(commands: unknown): { name: string; description: string }[] {
  const list = Array.isArray(commands) ? commands.filter(isObject) : [];
  return list.flatMap((command) => {
    const called = str(command["name"])?.replace(/^\//, "");
    return called === undefined ? [] : [{ name: called, description: str(command["description"]) ?? "" }];
  });
}
