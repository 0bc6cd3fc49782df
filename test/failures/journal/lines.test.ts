import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readLines } from "../../../src/failures/journal/lines.ts";

/** What is read at once. */
const PIECE = 256 * 1024;
const MAX_BYTES = 8191;

let folder: string;

beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "ostler-lines-"))));
afterAll(() => rmSync(folder, { recursive: true }));

/** Lengths of the lines, `x` for one that is too long, and where they begin. */
function read(
  text: string,
  from = 0,
): { readonly lines: readonly string[]; readonly end: number; readonly unfinished: number } {
  const file = join(folder, "lines");
  writeFileSync(file, text);
  const fd = openSync(file, "r");
  const lines: string[] = [];
  const result = readLines(fd, { from, maxBytes: MAX_BYTES }, (line, at) => {
    const isSame = line === undefined || line.toString() === text.slice(at, at + line.length);
    lines.push(isSame ? `${line?.length ?? "x"}@${at}` : `another line at ${at}`);
  });
  closeSync(fd);
  return { lines, end: result.end, unfinished: result.unfinishedBytes };
}

test.each([
  { from: "nothing", text: "", lines: [], end: 0, unfinished: 0 },
  { from: "empty lines", text: "\n\na\n\n", lines: ["1@2"], end: 5, unfinished: 0 },
  { from: "a line without an end", text: "ab\ncd", lines: ["2@0"], end: 3, unfinished: 2 },
  { from: "the longest line", text: `${"a".repeat(8191)}\nb\n`, lines: ["8191@0", "1@8192"], end: 8194, unfinished: 0 },
  {
    from: "a line that is too long",
    text: `${"a".repeat(8192)}\nb\n`,
    lines: ["x@0", "1@8193"],
    end: 8195,
    unfinished: 0,
  },
  {
    from: "a newline as the last byte of a piece",
    text: `${"a".repeat(100)}\n`.repeat(2) + `${"b".repeat(PIECE - 203)}\nc\n`,
    lines: ["100@0", "100@101", `x@202`, `1@${PIECE}`],
    end: PIECE + 2,
    unfinished: 0,
  },
  {
    from: "a line of three pieces",
    text: `a\n${"b".repeat(3 * PIECE)}\nc\n`,
    lines: ["1@0", "x@2", `1@${3 * PIECE + 3}`],
    end: 3 * PIECE + 5,
    unfinished: 0,
  },
  { from: "an endless line", text: `a\n${"b".repeat(2 * PIECE)}`, lines: ["1@0"], end: 2, unfinished: 2 * PIECE },
])("$from", ({ text, lines, end, unfinished }) => {
  expect(read(text)).toEqual({ lines, end, unfinished });
});

test("lines over many pieces are read whole, from whichever line on", () => {
  const lengths = Array.from({ length: 2000 }, (_, index) => (index * 7919) % 1500);
  const text = lengths.map((length, index) => `${String.fromCodePoint(97 + (index % 26)).repeat(length)}\n`).join("");
  const whole = read(text);
  expect(whole.lines).toHaveLength(lengths.filter((length) => length > 0).length);
  const middle = Number(whole.lines[1000]?.split("@")[1]);
  expect(read(text, middle).lines).toEqual(whole.lines.slice(1000));
});
