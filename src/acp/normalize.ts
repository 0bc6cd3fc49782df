/** Readers of session updates: unknown to typed, lenient where a field may be missing. Pure. */
import { isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import type { PlanEntry, TurnEventBody } from "./events.ts";
import type { Usage } from "./types.ts";

export function str(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function num(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The text of a message or thought chunk; empty for images, audio and links. */
export function readChunkText(update: Frame): string {
  const content = update["content"];
  return isObject(content) && typeof content["text"] === "string" ? content["text"] : "";
}

const MEDIA: ReadonlySet<string> = new Set(["image", "audio", "resource", "resource_link"]);

/** The type of a chunk that is an answer without being text; undefined for text and for what no version knows. */
export function readChunkMedia(update: Frame): string | undefined {
  const content = update["content"];
  const type = isObject(content) ? str(content["type"]) : undefined;
  return type !== undefined && MEDIA.has(type) ? type : undefined;
}

/** Nobody reads more steps, and more commands no person types; each costs its scrubbing. */
const MAX_LISTED = 1000;

export function readPlan(update: Frame): PlanEntry[] {
  return listIn(update["entries"]).map((entry) => {
    const status = entry["status"];
    return {
      content: str(entry["content"]) ?? "",
      status: status === "in_progress" || status === "completed" ? status : "pending",
    };
  });
}

export function readUsageUpdate(update: Frame): TurnEventBody {
  const cost = isObject(update["cost"]) ? update["cost"] : undefined;
  const amount = num(cost?.["amount"]);
  const used = num(update["used"]);
  const size = num(update["size"]);
  return {
    type: "usage",
    ...(used === undefined ? {} : { contextUsed: used }),
    ...(size === undefined ? {} : { contextSize: size }),
    ...(amount === undefined ? {} : { cost: { amount, currency: str(cost?.["currency"]) ?? "USD" } }),
  };
}

export function readCommands(update: Frame): { name: string; description: string }[] {
  return listIn(update["availableCommands"]).flatMap((command) => {
    const name = str(command["name"]);
    return name === undefined ? [] : [{ name, description: str(command["description"]) ?? "" }];
  });
}

function listIn(value: unknown): Frame[] {
  return Array.isArray(value) ? value.slice(0, MAX_LISTED).filter(isObject) : [];
}

/** A `notice` update (ACP session notices): title and description in one text. */
export function readNotice(update: Frame): string {
  return [str(update["title"]), str(update["description"])].filter((part) => part !== undefined).join(": ");
}

export function readMode(update: Frame): string | undefined {
  return str(update["currentModeId"]) ?? str(update["modeId"]);
}

/** codex's own notes on a session (`_meta.codex`): its thread status, and the error behind a retry or a failed turn. */
export interface CodexStatus {
  readonly systemError: boolean;
  /** It works or rests: said before it has reached its service (recording hang-no-bytes), so no sign of an answer. */
  readonly isPlain: boolean;
  readonly error: unknown;
  readonly willRetry: boolean;
  readonly message: string;
}

export function readCodexStatus(meta: Frame): CodexStatus | undefined {
  const codex = meta["codex"];
  if (!isObject(codex)) return undefined;
  const status = isObject(codex["threadStatus"]) ? codex["threadStatus"]["type"] : undefined;
  const error = codex["error"];
  return {
    systemError: status === "systemError",
    isPlain: (status === "active" || status === "idle") && error === undefined,
    error,
    willRetry: isObject(error) && error["willRetry"] === true,
    message: (isObject(error) ? str(error["message"]) : undefined) ?? "The agent tries again",
  };
}

/** Whether codex works, rests, or has failed; undefined for other agents and other news. */
export function readThreadStatus(meta: unknown): "active" | "idle" | "systemError" | undefined {
  const codex = isObject(meta) ? meta["codex"] : undefined;
  const status = isObject(codex) && isObject(codex["threadStatus"]) ? codex["threadStatus"]["type"] : undefined;
  return status === "active" || status === "idle" || status === "systemError" ? status : undefined;
}

/** How far a harness is with its own tries: `Reconnecting... 2/5` (codex), `Retrying Claude, attempt 2 of 10.` (claude). */
export function readProgress(title: string): { readonly attempt: number; readonly of?: number } {
  const [, attempt, of] = /(\d{1,4})(?:\/| of )(\d{1,4})/.exec(title) ?? [];
  return attempt === undefined ? { attempt: 1 } : { attempt: Number(attempt), of: Number(of) };
}

/** Tokens of a turn: `usage` of the prompt result, with the models of `_meta.quota` where the adapter names them. */
export function readUsage(result: Frame): Usage | null {
  const { usage, _meta: meta } = result;
  const quota = isObject(meta) && isObject(meta["quota"]) ? meta["quota"] : undefined;
  const perModel = Array.isArray(quota?.["model_usage"]) ? quota["model_usage"].filter(isObject) : [];
  const byModel = perModel.flatMap((entry) => {
    const model = str(entry["model"]);
    const counts = entry["token_count"];
    return model === undefined || !isObject(counts) ? [] : [{ model, ...tokens(counts, "cachedInputTokens") }];
  });
  if (!isObject(usage)) return byModel.length === 0 ? null : { ...sum(byModel), byModel };
  return { ...tokens(usage, "cachedReadTokens"), byModel };
}

type Tokens = Omit<Usage, "byModel">;

function tokens(counts: Frame, cachedKey: string): Tokens {
  return {
    inputTokens: num(counts["inputTokens"]) ?? 0,
    outputTokens: num(counts["outputTokens"]) ?? 0,
    cachedTokens: num(counts[cachedKey]) ?? 0,
  };
}

function sum(rows: readonly Tokens[]): Tokens {
  const total = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  for (const row of rows) {
    total.inputTokens += row.inputTokens;
    total.outputTokens += row.outputTokens;
    total.cachedTokens += row.cachedTokens;
  }
  return total;
}
