/**
 * JSON without secrets, for everything that writes values down (traces, the log, crash reports): every text is scrubbed,
 * values of environments and headers are masked whatever they are, and so is what has a secret's name.
 */
import { cleanBlock, cleanLine, redact, redactKept, stripControls } from "./redact.ts";

export interface ScrubLimits {
  /** Below this depth everything is hidden. */
  readonly maxDepth: number;
  /** Values in all; the rest is left out. */
  readonly maxValues: number;
  /** Longer texts are cut, and lose their control characters. */
  readonly maxChars: number;
  /** Also a number or a list with a secret's name is hidden. A trace keeps them: it has to be played again. */
  readonly masksNames?: boolean;
  /** Names below which every text is replaced by its length: what a person or a model said. */
  readonly spoken?: ReadonlySet<string>;
}

export const HIDDEN = "[redacted]";
/** Deeper than any frame of the recordings (12 levels); what is below could not be scrubbed without risking the stack. */
const WHOLE: ScrubLimits = { maxDepth: 64, maxValues: Infinity, maxChars: Infinity };
/** Names under which every value is masked: environments of MCP servers and agents, headers of MCP servers. */
const MASKED_NAME = /^(?:env|environment|headers?|http_?headers)$/i;
/** Words of a protocol, kept also among what was said. */
const STRUCTURAL_NAME = /^(?:type|mimeType|role|status|kind|toolCallId|terminalId)$/;
/** Looks like a secret to every rule that goes by the name. */
const PROBE = "a1B2c3D4e5F6g7H8i9J0k1L2";

/** A copy that may leave the process. Never throws for what `JSON.parse` gives; other objects count as their own fields. */
export function scrubJson(value: unknown, limits: ScrubLimits = WHOLE): unknown {
  return new Scrubber(limits).scrub(value, "", 0, false);
}

/** As {@link scrubJson}, for an object whose errors count with their causes and stacks. */
export function scrubFields(fields: Readonly<Record<string, unknown>>, limits: ScrubLimits): Record<string, unknown> {
  return new Scrubber(limits).fields(fields, 0, false);
}

class Scrubber {
  readonly #limits: ScrubLimits;
  #values = 0;

  constructor(limits: ScrubLimits) {
    this.#limits = limits;
  }

  scrub(value: unknown, name: string, depth: number, spoken: boolean): unknown {
    const { maxDepth } = this.#limits;
    if (typeof value === "string") return spoken ? lengthOf(value, name) : this.#text(value, name);
    if (typeof value === "bigint") return this.scrub(String(value), name, depth, spoken);
    if (this.#limits.masksNames === true && value !== null && name !== "" && isSecretName(name)) return HIDDEN;
    if (typeof value === "function" || typeof value === "symbol") return undefined;
    if (typeof value !== "object" || value === null) return value;
    if (depth > maxDepth) return HIDDEN;
    if (MASKED_NAME.test(name)) return mask(value, depth, maxDepth);
    // ACP writes the choices of a setting as {name, value} too; those are needed to play a trace.
    if (Array.isArray(value) && name !== "options" && value.length > 0 && value.every(isPair))
      return mask(value, depth, maxDepth);
    if (Array.isArray(value)) {
      return this.#within<unknown>(value).map((element, index) =>
        isValueOfFlag(element, value[index - 1]) ? HIDDEN : this.scrub(element, name, depth + 1, spoken),
      );
    }
    return this.fields(value instanceof Error ? errorFields(value) : value, depth, spoken);
  }

  fields(value: object, depth: number, spoken: boolean): Record<string, unknown> {
    return Object.fromEntries(
      this.#within(Object.entries(value)).map(([key, inner]) => {
        const name = stripControls(key);
        return [this.#name(key), this.scrub(inner, name, depth + 1, spoken || this.#limits.spoken?.has(name) === true)];
      }),
    );
  }

  #name(key: string): string {
    const { maxChars } = this.#limits;
    return maxChars === Infinity ? redactKept(key) : cleanLine(key, maxChars);
  }

  /** A text whose name says that it is a secret need not look like one. */
  #text(text: string, name: string): string {
    const { maxChars } = this.#limits;
    const scrubbed = maxChars === Infinity ? redactKept(text) : cleanBlock(text, maxChars);
    return name !== "" && redact(`${name}=${scrubbed}`) !== `${name}=${scrubbed}` ? HIDDEN : scrubbed;
  }

  #within<Value>(values: readonly Value[]): readonly Value[] {
    const left = Math.max(0, this.#limits.maxValues - this.#values);
    this.#values += values.length;
    return values.length > left ? values.slice(0, left) : values;
  }
}

/** `["--password", "…"]`: in a list of arguments the name of a secret stands before it, in an element of its own. */
const SECRET_FLAG = /^--?(?:[\w-]{1,30}-)?(?:token|api-key|password|passwd|secret)$/i;

/** As curl takes them: `["-u", "user:password"]`. */
const USER_FLAG = /^(?:-u|--(?:proxy-)?user)$/;
const USER_AND_PASSWORD = /^[^\s:/]+:(?!\d+$)\S{3}/;

function isValueOfFlag(element: unknown, before: unknown): boolean {
  if (typeof element !== "string" || typeof before !== "string" || element === "" || element.startsWith("-"))
    return false;
  return SECRET_FLAG.test(before) || (USER_FLAG.test(before) && USER_AND_PASSWORD.test(element));
}

/** Whether a name alone makes a secret of its value. */
export function isSecretName(name: string): boolean {
  return redact(`${name}=${PROBE}`).includes(HIDDEN);
}

/** What says why, of an error: its other fields may hold anything. Causes of causes are bounded by the depth. */
function errorFields(error: Error): object {
  const { name, message, stack, cause } = error;
  const code = "code" in error ? { code: error.code } : {};
  const errors = error instanceof AggregateError ? { errors: error.errors } : {};
  return { name, message, ...code, stack, ...(cause === undefined ? {} : { cause }), ...errors };
}

/** Everything below is hidden, names aside. */
function mask(value: unknown, depth: number, maxDepth: number): unknown {
  if (typeof value !== "object" || value === null || depth > maxDepth) return HIDDEN;
  if (Array.isArray(value)) return value.map((element) => mask(element, depth + 1, maxDepth));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      redactKept(key),
      key === "name" && typeof inner === "string" ? redactKept(inner) : mask(inner, depth + 1, maxDepth),
    ]),
  );
}

function isPair(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).toSorted().join() === "name,value";
}

function lengthOf(text: string, name: string): string {
  return STRUCTURAL_NAME.test(name) ? redactKept(text) : `[${text.length} chars]`;
}
