/**
 * What kiro's V3 engine folds into `session_info_update` (kiro wire notes, section 11). Kinds that only repeat what ACP
 * says too (the start and the end of a turn, an open question) are not read. Pure.
 */
import { isObject } from "../acp/frames.ts";
import { str } from "../acp/normalize.ts";
import type { ExtensionReading } from "../acp/ports.ts";
import { cleanBlock } from "../errors/redact.ts";
import { contextUsage, creditUsage, notices, objectIn, words } from "./kiro-words.ts";
import type { Params } from "./kiro-words.ts";

const MAX_DETAIL_CHARS = 200;
/** A detail may be nested so deep (bridge semantics, section 2). */
const MAX_DEPTH = 6;
/** Where a failed summary says why, the most readable first. */
const WHY = ["userFacingSessionErrorMessage", "reason", "message", "error", "detail", "name"];
/** Words that stand where a reason should. */
const PLACEHOLDER = /^(?:error|unknown|failed)$/i;

/** What an update says besides what the protocol defines. */
export function readFolded(update: Params): ExtensionReading {
  const kiro = objectIn(objectIn(update, "_meta"), "kiro");
  const { kind } = kiro;
  return typeof kind === "string" ? (READERS.get(kind)?.(kiro) ?? {}) : {};
}

type Reader = (kiro: Params) => ExtensionReading;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["context_usage", ({ usagePercentage }) => ({ events: contextUsage(usagePercentage) })],
  // The total of the turn, told once: it is set, never added up.
  ["turn_completion", ({ promptTurnSummaries }) => ({ events: creditUsage(promptTurnSummaries, "usage") })],
  ["summarization_started", () => ({ compaction: { state: "running" } })],
  ["summarization_completed", readSummary],
  ["summarization_failed", (kiro) => ({ compaction: { state: "failed", ...errorIn(kiro) } })],
  // First on a failed turn, but also alone (the sign-in of an MCP server): no proof of a failure.
  ["display_error", (kiro) => ({ events: notices(words(kiro["message"])) })],
  ["recap", (kiro) => ({ events: notices(words(kiro["recap"] ?? kiro["text"] ?? kiro["message"])) })],
]);

function readSummary({ conversationSummary }: Params): ExtensionReading {
  const summary = str(conversationSummary);
  return { compaction: { state: "completed", ...(summary !== undefined && { summary }) } };
}

function errorIn(kiro: Params): { readonly error?: string } {
  const error = WHY.map((key) => findWords(kiro, key, MAX_DEPTH)).find((text) => text !== undefined);
  return error === undefined ? {} : { error };
}

/** The first text under this key, at any depth; a summary may hold any words, so other keys are not looked at. */
function findWords(value: unknown, key: string, depth: number): string | undefined {
  if (!isObject(value) || depth === 0) return undefined;
  const own = cleanBlock(str(value[key])?.replaceAll(/[_-]/g, " ") ?? "", MAX_DETAIL_CHARS);
  if (own !== "" && !PLACEHOLDER.test(own)) return own;
  return Object.values(value)
    .map((child) => findWords(child, key, depth - 1))
    .find((text) => text !== undefined);
}
