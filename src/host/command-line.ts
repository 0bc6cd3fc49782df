import { UsageError } from "./usage-error.ts";

/** One word of the text: runs of plain, 'single' or "double" quoted letters, and backslash with the letter it protects. */
const WORD = /(?:[^\s'"\\]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S])+/y;
const PART = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/g;

/**
 * Splits `CMD ARGS` the way a POSIX shell would, without a shell: quotes and backslashes work; variables, globs, pipes
 * and redirections are plain letters. Throws {@link UsageError} for an open quote, a last backslash or no word at all.
 */
export function splitCommandLine(text: string): string[] {
  const words: string[] = [];
  let at = skipSpace(text, 0);
  while (at < text.length) {
    WORD.lastIndex = at;
    const word = WORD.exec(text)?.[0] ?? "";
    const next = text[at + word.length];
    if (next === "'" || next === '"')
      throw new UsageError(`The command line has a quote (${next}) that is never closed`);
    if (next === "\\") throw new UsageError("The command line ends with a backslash that protects nothing");
    words.push(word.replace(PART, (_, single, double, escaped, plain) => unquote({ single, double, escaped, plain })));
    at = skipSpace(text, at + word.length);
  }
  if (!words[0]) throw new UsageError("The command line names no program");
  return words;
}

function unquote(part: Record<"single" | "double" | "escaped" | "plain", string | undefined>): string {
  // Between double quotes a backslash protects these letters alone and stands for itself otherwise (POSIX 2.2.3).
  if (part.double !== undefined) return part.double.replace(/\\(["$`\\]|\n)/g, (_, letter: string) => letter.trimEnd());
  if (part.escaped !== undefined) return part.escaped === "\n" ? "" : part.escaped;
  return part.single ?? part.plain ?? "";
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text.charAt(at))) at++;
  return at;
}
