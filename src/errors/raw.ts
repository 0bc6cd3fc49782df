/** Anything that was thrown or answered, in one flat shape. Never throws: it reads what others wrote. */
import { capText, isHttpErrorStatus, readBody, readEmbeddedJson, readOwn } from "./body.ts";

export interface RawError {
  /** JSON-RPC code. */
  readonly code?: number;
  /** What the error calls itself; may be constant noise (`Internal error`). */
  readonly message: string;
  readonly data?: unknown;
  /** HTTP status, where the error carries one or uses one as its code. */
  readonly status?: number;
  /** The sentence to show: the provider's own words without wrappers, never a raw structure. May be empty. */
  readonly text: string;
}

/** Wrappers nest two or three deep in practice (`fetch failed` > `cause`); deeper is a loop or noise. */
const MAX_LAYERS = 5;
const GENERIC_MESSAGE = /^(?:internal error|server error|invalid (?:params|request)|error)?[.:]?$/i;
/** What -32000 is called. */
const SIGN_IN_MESSAGE = /^authentication required\.?$/i;
const INTERNAL_PREFIX = /^internal error:\s{1,3}/i;
/** kiro's fixed envelope of mid-stream failures says nothing about the cause (kiro wire notes, section 12). */
const STREAM_ENVELOPE = /\bEncountered an error in the response stream:\s{0,3}/gi;
/** codex appends its child's coloured stderr to a sentence (recording codex-acp 2.6.0 crash-loop). */
// oxlint-disable-next-line no-control-regex -- the escape byte is what marks it
const COLOURED_TAIL = /\n\u001B[\s\S]*$/;
/** The number alone tells a person less than any words beside it. */
const BARE_STATUS = /^\d{3}$/;
const FULL_SENTENCE = /[.!?…)]$/;

/** Reads an error of any form: an `Error`, a JSON-RPC error, a provider's body, a string; looks through `error` and `cause`. */
export function readRawError(value: unknown): RawError {
  const layers = unwrap(value);
  const code = firstOf(layers, (layer) => integerOf(readField(layer, "code")));
  const status =
    firstOf(layers, (layer) => statusOf(readField(layer, "status")) ?? statusOf(readField(layer, "statusCode"))) ??
    statusOf(code);
  const data =
    firstOf(layers, (layer) => readField(layer, "data")) ?? (code === undefined ? bodyOf(layers[0]) : undefined);
  const message = joinTexts(layers.map(messageOf));
  return {
    ...(code === undefined || isHttpErrorStatus(code) ? {} : { code }),
    message,
    ...(data === undefined ? {} : { data }),
    ...(status === undefined ? {} : { status }),
    text: showText(message, data),
  };
}

/** A text without the wrappers that carry no meaning of their own. */
export function stripWrappers(text: string): string {
  return text.trim().replace(INTERNAL_PREFIX, "").replace(STREAM_ENVELOPE, "").replace(COLOURED_TAIL, "").trim();
}

/** Whether a message says no more than that something failed. */
export function isGenericMessage(message: string): boolean {
  return GENERIC_MESSAGE.test(message.trim());
}

/** Whether a message only repeats what its code says already: beside it the data alone tells why (case C06 c). */
export function isNameOfCode({ code, message }: Pick<RawError, "code" | "message">): boolean {
  return code === -32000 && SIGN_IN_MESSAGE.test(message.trim());
}

/** The readable part of a text that is, or ends in, a JSON body; the text itself when there is none. */
export function readableText(text: string): string {
  const embedded = readEmbeddedJson(text);
  if (embedded === undefined) return text;
  const inner = readBody(embedded.value).texts[0] ?? "";
  return inner === "" ? embedded.before || text : joinTexts([embedded.before.replace(/[\s:]{1,4}$/, ""), inner]);
}

function unwrap(value: unknown): readonly unknown[] {
  const layers: unknown[] = [];
  let layer = value;
  while (layer !== undefined && layer !== null && layers.length < MAX_LAYERS && !layers.includes(layer)) {
    layers.push(layer);
    layer = readField(layer, "error") ?? readField(layer, "cause");
  }
  return layers;
}

/** A property; of an `Error` an inherited one too (some classes define `message` as an accessor). */
function readField(layer: unknown, key: string): unknown {
  if (typeof layer !== "object" || layer === null) return undefined;
  const own = readOwn(layer, key);
  if (own !== undefined || !(layer instanceof Error)) return own;
  try {
    return Reflect.get(layer, key);
  } catch {
    return undefined;
  }
}

function firstOf<T>(layers: readonly unknown[], read: (layer: unknown) => T | undefined): T | undefined {
  for (const layer of layers) {
    const found = read(layer);
    if (found !== undefined) return found;
  }
  return undefined;
}

function integerOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}

function statusOf(value: unknown): number | undefined {
  return isHttpErrorStatus(value) ? value : undefined;
}

/** A provider's body handed over without a JSON-RPC error around it is its own data. */
function bodyOf(layer: unknown): object | undefined {
  return typeof layer === "object" && layer !== null && !(layer instanceof Error) ? layer : undefined;
}

function messageOf(layer: unknown): string {
  if (typeof layer === "string") return capText(layer).trim();
  const message = readField(layer, "message");
  const code = readField(layer, "code");
  const text = typeof message === "string" ? capText(message).trim() : "";
  // Node: the errno stands in `code`, and not in every message.
  return typeof code === "string" && /^E[A-Z]+$/.test(code) && !text.includes(code) ? joinTexts([text, code]) : text;
}

function joinTexts(parts: readonly string[]): string {
  let joined = "";
  for (const part of parts) {
    if (part === "" || joined.includes(part)) continue;
    joined = joined === "" ? part : `${joined}: ${part}`;
  }
  return joined;
}

/** The message when it says something whole, else the provider's field, else both. */
function showText(message: string, data: unknown): string {
  const said = isGenericMessage(message) ? "" : readableText(stripWrappers(message));
  const texts = readBody(data).texts.filter((text) => !isGenericMessage(text));
  const own = stripWrappers(texts.find((text) => !BARE_STATUS.test(text)) ?? texts[0] ?? "");
  if (said === "" && own === "") return isGenericMessage(message) ? message : "";
  if (said === "" || own.includes(said)) return own;
  return own === "" || FULL_SENTENCE.test(said) ? said : joinTexts([said, own]);
}
