/** JSON for programs that may end up on a screen. */

/** What JSON lets through and a terminal or a reader of lines takes for a command: C1 controls, directions, separators, unseen letters. */
const UNSEEN = /[\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;

/** JSON of the same value, without a character that does something. */
export function harmlessJson(value: object): string {
  const json = stringify(value);
  // Of plain ASCII only DEL is unseen; that is told a hundred times faster than by the expression.
  if (Buffer.byteLength(json) === json.length && !json.includes("\u007F")) return json;
  return json.replace(UNSEEN, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What a tool took and gave may be nested deeper than the stack of an older V8 (Node 24): the event says so instead. */
function stringify(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(value, (key, inner: unknown) => (PAYLOADS.has(key) ? "[nested too deeply]" : inner));
  }
}

const PAYLOADS: ReadonlySet<string> = new Set(["rawInput", "rawOutput", "claimed"]);
