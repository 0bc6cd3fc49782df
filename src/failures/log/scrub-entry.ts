/**
 * An entry of a run's log without secrets, as a value and as the rest of its line. Most frames hold nothing to scrub:
 * their JSON is looked at once and written as it is. A frame that shows any sign of a secret is scrubbed value by value.
 */
import { redactKept } from "../../errors/redact.ts";
import { scrubJson } from "../../errors/scrub-json.ts";
import { mayHoldSecret } from "../../errors/secret-signs.ts";
import type { RunEntry, RunEvent } from "../run-lines.ts";
import { readChunkText } from "./chunk-text.ts";
import { elideTexts, MAX_WHOLE_CHARS } from "./elide.ts";
import { SplitSecrets } from "./split-secrets.ts";

/** `entry` and `json` say the same: `json` is what stands behind the ordinal of its line. */
export interface ScrubbedEntry {
  readonly entry: RunEntry;
  readonly json: string;
}

/** Control and unseen characters, raw or as JSON writes them: a secret may stand behind them or be split by them. */
const UNSEEN =
  /\\[ubfr]|[\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|\uDB40[\uDC00-\uDC7F]/;
/** Below these everything is masked, whatever it is. */
const MASKED_NAME = /"(?:env|environment|headers?|http_?headers)":/i;

export class EntryScrubber {
  readonly #split = new SplitSecrets();
  /** What stood around the text of the last piece that was written as it was: mostly it is the same for the next. */
  #around: readonly [before: string, after: string] = ["", ""];

  scrub(entry: RunEntry): ScrubbedEntry {
    const chunk = readChunkText(entry);
    if (chunk === undefined) return scrubEntry(entry);
    const { stream, text, replace } = chunk;
    const scrubbed = this.#split.scrub(stream, text);
    if (scrubbed !== undefined) return scrubEntry(scrubbed === text ? entry : replace(scrubbed));
    return this.#scrubAround(entry, JSON.stringify(text));
  }

  /** Of an entry with a piece of text, as JSON, that holds no secret. */
  #scrubAround(entry: RunEntry, text: string): ScrubbedEntry {
    if (entry.d !== "in") return scrubEntry(entry);
    const json = JSON.stringify(entry.frame);
    if (json.length > MAX_WHOLE_CHARS) return scrubEntry(entry);
    const [before, after] = this.#around;
    const isAsBefore =
      json.length === before.length + text.length + after.length && json.startsWith(before) && json.endsWith(after);
    if (isAsBefore && before !== "") return { entry, json: `"d":"in","frame":${json}}` };
    const at = json.indexOf(text);
    if (isHarmless(json) && at === json.lastIndexOf(text))
      this.#around = [json.slice(0, at), json.slice(at + text.length)];
    return scrubEntry(entry);
  }
}

/** By itself, whatever came before it. */
export function scrubEntry(entry: RunEntry): ScrubbedEntry {
  if (entry.d === "err") return written({ d: "err", text: redactKept(entry.text) });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- scrubbing changes texts, never the shape
  if (entry.d === "ev") return written({ d: "ev", ev: scrubJson(elideTexts(entry.ev)) as RunEvent });
  const json = JSON.stringify(entry.frame) ?? "null";
  if (json.length > MAX_WHOLE_CHARS) return written({ d: entry.d, frame: scrubJson(elideTexts(entry.frame)) });
  if (isHarmless(json)) return { entry, json: `"d":"${entry.d}","frame":${json}}` };
  return written({ d: entry.d, frame: scrubJson(entry.frame) });
}

/** Whether `scrubJson` would change nothing of the value that this is the JSON of. */
function isHarmless(json: string): boolean {
  return !mayHoldSecret(json) && !UNSEEN.test(json) && !MASKED_NAME.test(json);
}

function written(entry: RunEntry): ScrubbedEntry {
  return { entry, json: JSON.stringify(entry).slice(1) };
}
