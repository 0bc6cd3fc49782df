/** Facts that a failure's text or fields tell besides its kind: request id, reset time, the provider's own wait. */

const REQUEST_ID = /\brequest[ _-]?id["']?\s?[:=]\s?["']?([\w.-]{4,128})/i;
const REQUEST_ID_KEY = /^(?:request_?id|x-request-id)$/i;

/** The provider's request id, from a field of that name or from a text such as `(Request ID: 4c2c)`. */
export function readRequestId(key: string, text: string): string | undefined {
  if (REQUEST_ID_KEY.test(key)) return text.slice(0, 128);
  return REQUEST_ID.exec(text)?.[1]?.replace(/\.+$/, "");
}

const RESET_FIELD = /^resets?_?at$/i;
const RESETS_IN_SECONDS_FIELD = /^resets?_?in_?seconds$/i;
/** `resets 8pm (Europe/Berlin)`, `resets at 5:51am`, `try again at 4:44 AM`; must hold a digit, ends at a sentence end. */
const RESET_TEXT =
  /\b(?:resets?|try again|available again)(?: at| on)? ((?=[^.·;,\n]{0,40}\d)(?:in )?(?:[^.·;\n]|\.(?=\d)){1,60})/i;
const EPOCH_SECONDS_FROM = 1_000_000_000;

/** When a limit ends, as received. An epoch is the one value that is put into words (ISO), because no person reads it. */
export function readResetAt(key: string, text: string): string | undefined {
  if (RESETS_IN_SECONDS_FIELD.test(key)) return `in ${text} seconds`;
  if (RESET_FIELD.test(key)) {
    const seconds = Number(text);
    return Number.isFinite(seconds) && seconds > EPOCH_SECONDS_FROM && seconds < EPOCH_SECONDS_FROM * 10
      ? new Date(seconds * 1000).toISOString()
      : text.slice(0, 64);
  }
  const found = RESET_TEXT.exec(text)?.[1]?.trim();
  return found === undefined || found === "" ? undefined : found;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const WAIT_FIELD = /^retry[_-]?after(?<unit>_?ms|_?seconds|_?s)?$/i;
const WAIT_HEADER = /\bretry[ -]after["']?[:=]?\s{0,2}["']?(\d{1,6}(?:\.\d{1,6})?)(?:\s?(ms|s|m)\b)?/i;
const WAIT_TEXT = /\b(?:try again|retry|wait) (?:in |for |after )?(\d{1,6}(?:\.\d{1,6})?)\s?(ms|milli|s|m|h)/i;

/** The header may hold a moment instead (RFC 9110, section 10.2.3); bodies spell it as ISO 8601. */
const MOMENT = String.raw`(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|\d{4}-\d{2}-\d{2}T[\d:.]{5,15}(?:Z|[+-]\d{2}:\d{2}))`;
const WAIT_UNTIL = new RegExp(String.raw`\bretry[ -]after["']?[:=]?\s{0,2}["']?(${MOMENT})`, "i");
const WHOLE_MOMENT = new RegExp(`^${MOMENT}$`);

/**
 * The provider's own wait in milliseconds: a field, a `retry-after` header in a text (seconds, or the moment when it is
 * over), or "try again in 0.4s". `now` is the time of day, for the moment.
 */
export function readRetryAfterMs(key: string, text: string, now: number = Date.now()): number | undefined {
  const field = WAIT_FIELD.exec(key);
  const moment = field === null ? WAIT_UNTIL.exec(text)?.[1] : WHOLE_MOMENT.exec(text.trim())?.[0];
  if (moment !== undefined) {
    const at = Date.parse(moment);
    return Number.isNaN(at) ? undefined : Math.max(0, at - now);
  }
  if (field !== null) {
    const value = Number(text);
    const unit = /ms$/i.test(field.groups?.["unit"] ?? "") ? 1 : 1000;
    return Number.isFinite(value) && value >= 0 ? Math.round(value * unit) : undefined;
  }
  const found = WAIT_HEADER.exec(text) ?? WAIT_TEXT.exec(text);
  if (found === null) return undefined;
  const unit = (found[2] ?? "s").toLowerCase();
  return Math.round(Number(found[1]) * (unit.startsWith("milli") ? 1 : (UNIT_MS[unit] ?? 1000)));
}
