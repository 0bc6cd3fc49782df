/** Values of kiro's own messages: unknown to typed, scrubbed and cut where they are words for a person. Pure. */
import { isObject } from "../acp/frames.ts";
import { num, str } from "../acp/normalize.ts";
import type { ExtensionReading } from "../acp/ports.ts";
import type { TurnEventBody } from "../acp/events.ts";
import { cleanBlock, cleanLine } from "../errors/redact.ts";

/** An object as it came. */
export type Params = Readonly<Record<string, unknown>>;

const MAX_WORDS_CHARS = 600;
const MAX_NAME_CHARS = 128;
const MAX_ID_CHARS = 256;
const MAX_URL_CHARS = 2000;
const MAX_CREDITS = 1e9;

/** The object under a key; empty when there is none. */
export function objectIn(params: Params, key: string): Params {
  const value = params[key];
  return isObject(value) ? value : {};
}

/** Words for a person, over several lines. */
export function words(value: unknown): string | undefined {
  const text = cleanBlock(str(value) ?? "", MAX_WORDS_CHARS);
  return text === "" ? undefined : text;
}

/** An id as it came; one that is longer is none. */
export function id(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARS ? value : undefined;
}

/** A name in a sentence. */
export function name(value: unknown): string | undefined {
  const text = cleanLine(str(value) ?? "", MAX_NAME_CHARS);
  return text === "" ? undefined : text;
}

export function notices(text: string | undefined): TurnEventBody[] {
  return text === undefined ? [] : [{ type: "notice", from: "adapter", text }];
}

/** How full the context is, in percent: kiro tells no tokens. */
export function contextUsage(percentage: unknown): TurnEventBody[] {
  const percent = num(percentage);
  if (percent === undefined) return [];
  return [{ type: "usage", contextUsed: Math.min(100, Math.max(0, percent)), contextSize: 100 }];
}

/** What a turn cost, in credits; other units are not added up. */
export function creditUsage(list: unknown, amountKey: "value" | "usage"): TurnEventBody[] {
  const rows = Array.isArray(list) ? list.filter(isObject).filter(({ unit }) => unit === "credit") : [];
  const amounts = rows.flatMap((row) => {
    const amount = num(row[amountKey]);
    return amount === undefined || amount < 0 ? [] : [amount];
  });
  if (amounts.length === 0) return [];
  const amount = Math.min(
    MAX_CREDITS,
    amounts.reduce((sum, one) => sum + one),
  );
  return [{ type: "usage", cost: { amount, currency: "credits" } }];
}

type Once = NonNullable<ExtensionReading["once"]>;

/** An MCP server that waits for a sign-in. Only a web address is passed on. */
export function signIn(server: unknown, address: unknown): Once {
  const [who, url] = [name(server), webAddress(address)];
  if (who === undefined || url === undefined) return [];
  return [{ key: `sign-in ${who}`, text: `The MCP server ${who} needs a sign-in: ${url}` }];
}

/** An MCP server that does not work. */
export function serverFailed(server: unknown, error: unknown): Once {
  const who = name(server);
  if (who === undefined) return [];
  const why = words(error);
  return [{ key: `failed ${who}`, text: `The MCP server ${who} did not start${why === undefined ? "" : `: ${why}`}` }];
}

function webAddress(value: unknown): string | undefined {
  const text = str(value) ?? "";
  if (text.length > MAX_URL_CHARS || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  const isWeb = protocol === "https:" || protocol === "http:";
  return isWeb && username === "" && password === "" ? href : undefined;
}
