/** Changes of files as lines of text. Pure. */
import type { FileChange, FileDiff } from "../../acp/events.ts";
import { cleanLine, stripControls } from "../../errors/redact.ts";

const MAX_PATH_CHARS = 500;
const MAX_LINE_CHARS = 200;
/** Lines around a change that are shown with it, as in Git. */
const CONTEXT_LINES = 3;

/** One line: which file, and how much of it. Texts are fragments, so they are not counted. */
export function summarizeDiff({ path, change }: FileDiff): string {
  const what = summaryOf(change);
  return `± ${cleanLine(path, MAX_PATH_CHARS)}${what === "" ? "" : ` (${what})`}`;
}

function summaryOf(change: FileChange): string {
  switch (change.form) {
    case "texts":
      return "";
    case "unavailable":
      return `change unavailable: ${change.why}`;
    case "patch": {
      const { kind, fromPath = "", addedLines, removedLines } = change;
      if (kind === "added") return `new, +${addedLines}`;
      if (kind === "deleted") return `deleted, -${removedLines}`;
      const from = kind === "renamed" ? `renamed from ${cleanLine(fromPath, MAX_PATH_CHARS)}, ` : "";
      return `${from}+${addedLines} -${removedLines}`;
    }
  }
}

/** Every change with its lines, at most so many of them; the rest is counted. */
export function renderDiffs(diffs: readonly FileDiff[], maxLines: number): readonly string[] {
  const lines = diffs.flatMap((diff) => [summarizeDiff(diff), ...changedLines(diff.change).map(indent)]);
  const more = lines.length - maxLines;
  return more > 0 ? [...lines.slice(0, maxLines), `… and ${more} more lines`] : lines;
}

function indent(line: string): string {
  const shown = stripControls(line).replaceAll("\n", " ");
  return `  ${shown.length > MAX_LINE_CHARS ? `${shown.slice(0, MAX_LINE_CHARS)}…` : shown}`;
}

function changedLines(change: FileChange): readonly string[] {
  switch (change.form) {
    case "patch": {
      const lines = linesOf(change.patch);
      const first = lines.findIndex((line) => line.startsWith("@@ "));
      return first === -1 ? [] : lines.slice(first);
    }
    case "texts":
      return betweenTexts(linesOf(change.oldText ?? ""), linesOf(change.newText));
    case "unavailable":
      return [];
  }
}

/** What both texts begin and end with is left out, but for the lines next to the change. */
function betweenTexts(before: readonly string[], after: readonly string[]): string[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    ...before.slice(Math.max(0, start - CONTEXT_LINES), start).map((line) => ` ${line}`),
    ...before.slice(start, before.length - end).map((line) => `-${line}`),
    ...after.slice(start, after.length - end).map((line) => `+${line}`),
    ...after.slice(after.length - end, after.length - end + CONTEXT_LINES).map((line) => ` ${line}`),
  ];
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
