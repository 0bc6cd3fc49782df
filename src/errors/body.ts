/**
 * Reads the provider's own field (`error.data`, or JSON inside a text) whatever its form: absent, a string, `{details}`,
 * a typed object, a body within a string. Bounded and without exceptions: the field is foreign data.
 */
import { readRequestId, readResetAt, readRetryAfterMs } from "./facts.ts";

export interface ProviderBody {
  /** Sentences, in order of appearance. */
  readonly texts: readonly string[];
  /** Structured words: `usageLimitExceeded`, `rate_limit_error`, `StreamIdleTimeoutError`. */
  readonly names: readonly string[];
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly resetAt?: string;
  readonly requestId?: string;
  /** The provider says in a field of its own that a repeat cannot help (kiro V3: `retryErrorType` other than TRANSIENT). */
  readonly noRetry: boolean;
}

const HEAD_CHARS = 8192;
const TAIL_CHARS = 4096;
const MAX_DEPTH = 6;
/** A provider's error has a dozen fields; more is not an error any more. */
const MAX_NODES = 200;

const TEXT_KEYS: ReadonlySet<string> = new Set([
  "message",
  "details",
  "detail",
  "additionalDetails",
  "userFacingSessionErrorMessage",
  "error_description",
  "description",
  "title",
  "msg",
]);
/** Names when they are one word, sentences when they are several. */
const NAME_KEYS: ReadonlySet<string> = new Set([
  "codexErrorInfo",
  "errorKind",
  "retryErrorType",
  "errorType",
  "errorCode",
  "error_code",
  "startupFailureReason",
  "__type",
  "type",
  "code",
  "name",
  "reason",
  "status",
  "error",
  "cause",
]);
const STATUS_KEYS: ReadonlySet<string> = new Set([
  "status",
  "statusCode",
  "status_code",
  "httpStatus",
  "httpStatusCode",
  "code",
]);

/** Cuts a text to its head and tail before any regular expression sees it. */
export function capText(text: string): string {
  if (text.length <= HEAD_CHARS + TAIL_CHARS) return text;
  return `${text.slice(0, HEAD_CHARS)}\n${text.slice(-TAIL_CHARS)}`;
}

/** A JSON object inside a text, or a list of them, with the words before it; undefined when there is none that parses. */
export function readEmbeddedJson(text: string): { readonly before: string; readonly value: object } | undefined {
  const start = text.search(/\[?\s{0,3}\{/);
  const end = text.lastIndexOf(text[start] === "[" ? "]" : "}");
  if (start < 0 || end <= start) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1));
    return typeof value === "object" && value !== null ? { before: text.slice(0, start).trim(), value } : undefined;
  } catch {
    return undefined;
  }
}

/** An own property, or undefined; a getter that throws counts as absent. */
export function readOwn(value: object, key: string): unknown {
  try {
    return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  } catch {
    return undefined;
  }
}

/** HTTP error statuses only: some agents put them where a JSON-RPC code belongs. */
export function isHttpErrorStatus(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 400 && value < 600;
}

export function readBody(data: unknown): ProviderBody {
  const walk = new BodyWalk();
  walk.visit(data, "message", 0);
  return walk.body();
}

/** One pass over one body; first value of a kind wins. */
class BodyWalk {
  readonly #texts: string[] = [];
  readonly #names: string[] = [];
  readonly #seen = new Set<object>();
  #status: number | undefined;
  #retryAfterMs: number | undefined;
  #resetAt: string | undefined;
  #requestId: string | undefined;
  #noRetry = false;

  body(): ProviderBody {
    return {
      texts: this.#texts,
      names: this.#names,
      noRetry: this.#noRetry,
      ...(this.#status === undefined ? {} : { status: this.#status }),
      ...(this.#retryAfterMs === undefined ? {} : { retryAfterMs: this.#retryAfterMs }),
      ...(this.#resetAt === undefined ? {} : { resetAt: this.#resetAt }),
      ...(this.#requestId === undefined ? {} : { requestId: this.#requestId }),
    };
  }

  visit(value: unknown, key: string, depth: number): void {
    if (typeof value === "string") this.#visitString(value, key, depth);
    else if (typeof value === "number") this.#visitNumber(value, key);
    else if (typeof value === "object" && value !== null) this.#visitObject(value, key, depth);
  }

  #visitString(value: string, key: string, depth: number): void {
    const text = capText(value).trim();
    if (text === "") return;
    this.#readFacts(key, text);
    if (NAME_KEYS.has(key) && !/\s/.test(text)) {
      this.#names.push(text);
      if (key === "retryErrorType") this.#noRetry = !/^(?:transient|throttl)/i.test(text);
      return;
    }
    if (!TEXT_KEYS.has(key) && !NAME_KEYS.has(key)) return;
    const embedded = depth < MAX_DEPTH ? readEmbeddedJson(text) : undefined;
    if (embedded === undefined) {
      this.#texts.push(text);
      return;
    }
    if (embedded.before !== "") this.#texts.push(embedded.before);
    this.visit(embedded.value, "", depth + 1);
  }

  #visitNumber(value: number, key: string): void {
    if (STATUS_KEYS.has(key) && isHttpErrorStatus(value)) this.#status ??= value;
    this.#readFacts(key, String(value));
  }

  #visitObject(value: object, key: string, depth: number): void {
    if (depth > MAX_DEPTH || this.#seen.size >= MAX_NODES || this.#seen.has(value)) return;
    this.#seen.add(value);
    for (const child of Object.keys(value).slice(0, MAX_NODES)) {
      // codex: `{"responseStreamDisconnected":{"httpStatusCode":403}}`, the variant's name is the key.
      if (key === "codexErrorInfo") this.#names.push(child);
      if (child !== "_meta") this.visit(readOwn(value, child), Array.isArray(value) ? key : child, depth + 1);
    }
  }

  #readFacts(key: string, text: string): void {
    this.#requestId ??= readRequestId(key, text);
    this.#resetAt ??= readResetAt(key, text);
    this.#retryAfterMs ??= readRetryAfterMs(key, text);
  }
}
