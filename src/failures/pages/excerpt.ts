/**
 * What a row shows of free text. Pure. The text was written by a harness, a command or a model: it may hold anything,
 * and still fills one line.
 */
import { redact, stripControls } from "../../errors/redact.ts";
import { cutTo } from "./bytes.ts";

/** Excerpts and reasons of compact rows, in bytes of UTF-8. */
export const MAX_EXCERPT_BYTES = 120;

/** Begins as JSON does. In the middle of a sentence JSON is what the sentence is about. */
const WRAPPER = /^\s*[[{]\s*[[{"]/;
/** Names under which tools put what they say: MCP and ACP content, codex, Kiro. */
const SPOKEN = "text|Text|formatted_output|aggregated_output|output|stdout|stderr|message|error";
/** A text under one of these names; the closing quote may have been cut off. A quote inside of a string is escaped. */
const SPOKEN_TEXT = new RegExp(`(?<!\\\\)"(?:${SPOKEN})"\\s*:\\s*"((?:[^"\\\\]|\\\\[\\s\\S])*)`, "g");
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|u[0-9a-fA-F]{0,3}|(["\\/bfnrt])|(?=…|$))/g;
const WRITTEN: Readonly<Record<string, string>> = { b: " ", f: " ", n: "\n", r: "\n", t: "\t" };

/** At most 120 bytes; the JSON of a tool's result is shown as its text. `text` is scrubbed, as all that is journaled. */
export function compactExcerpt(text: string): string {
  const line = inOneLine(spokenIn(text) ?? text);
  return cutTo(line.replace(/ {2,}/g, " ").trim(), MAX_EXCERPT_BYTES);
}

/** The whole text in one line, without control and direction characters; scrubbed. */
export function oneLine(text: string): string {
  return inOneLine(redact(stripControls(text)));
}

function inOneLine(text: string): string {
  return stripControls(text)
    .replace(/\s/g, " ")
    .replace(/\p{Surrogate}/gu, " ");
}

/** The texts inside of a tool's result; what was cut is decoded as far as it goes. Undefined for anything else. */
function spokenIn(text: string): string | undefined {
  if (!WRAPPER.test(text)) return undefined;
  const written = Array.from(text.matchAll(SPOKEN_TEXT), ([, part = ""]) => part.trim());
  const said = [...new Set(written)].filter((part) => part !== "").join(" ");
  if (said === "") return undefined;
  // Nothing but an escape sequence can have kept a secret from whoever scrubbed the JSON.
  return said.includes("\\") ? redact(stripControls(decoded(said))) : said;
}

/** What an escape sequence that was cut would have said is not known: it is left out. */
function decoded(written: string): string {
  return written.replace(ESCAPE, (_, code?: string, letter?: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return letter === undefined ? "" : (WRITTEN[letter] ?? letter);
  });
}
