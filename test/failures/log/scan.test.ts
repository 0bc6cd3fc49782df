import { appendFileSync, copyFileSync, mkdtempSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LogGap } from "../../../src/failures/log/log-gap.ts";
import { scanRunLog } from "../../../src/failures/log/scan.ts";
import type { LogScan, ScanOptions } from "../../../src/failures/log/scan.ts";
import type { RunLine } from "../../../src/failures/run-lines.ts";

const newLog = (): string => join(mkdtempSync(join(tmpdir(), "ostler-scan-")), "output.log");

interface Scanned extends LogScan {
  readonly lines: readonly (readonly [byte: number, line: RunLine])[];
  readonly gaps: readonly LogGap[];
}

function scan(file: string, options: Partial<ScanOptions> = {}): Scanned {
  const lines: (readonly [number, RunLine])[] = [];
  const gaps: LogGap[] = [];
  const onLine = (line: RunLine, byte: number): void => void lines.push([byte, line]);
  return { ...scanRunLog(file, { ...options, onLine, onGap: (gap) => gaps.push(gap) }), lines, gaps };
}

const said = (n: number, text = "said"): string =>
  `{"t":1,"n":${n},"d":"in","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${text}"}}}}}\n`;
const call = (n: number): string =>
  `{"t":1,"n":${n},"d":"in","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call","toolCallId":"c"}}}}\n`;
const err = (n: number, text = "ready"): string => `{"t":1,"n":${n},"d":"err","text":"${text}"}\n`;

test("only what may be observed is told, with the byte that it begins at", () => {
  const file = newLog();
  writeFileSync(file, said(1, "é") + call(2) + said(3) + err(4));
  const { lines, gaps, bytes, n, endsTorn } = scan(file);
  const before = Buffer.byteLength(said(1, "é"));
  expect(lines.map(([byte, line]) => [byte, line.n, line.d])).toEqual([
    [before, 2, "in"],
    [before + call(2).length + said(3).length, 4, "err"],
  ]);
  expect(gaps).toEqual([]);
  expect({ bytes, n, endsTorn }).toEqual({
    bytes: before + (call(2) + said(3) + err(4)).length,
    n: 4,
    endsTorn: false,
  });
});

test("goes on behind what was read, and only that", () => {
  const file = newLog();
  writeFileSync(file, call(1));
  const first = scan(file);
  appendFileSync(file, said(2) + call(3));
  const second = scan(file, { fromByte: first.bytes, known: first.identity! });
  expect(second.lines.map(([byte, { n }]) => [byte, n])).toEqual([[(call(1) + said(2)).length, 3]]);
  expect(second.n).toBe(3);
  expect(second.gaps).toEqual([]);
});

test("a log of many buffers, its lines across their borders", () => {
  const file = newLog();
  const text = "x".repeat(1000);
  writeFileSync(
    file,
    Array.from({ length: 5000 }, (_, index) => (index % 500 === 0 ? err(index, text) : said(index, text))).join(""),
  );
  const { lines, gaps, n } = scan(file);
  expect(lines.map(([, line]) => line.n)).toEqual([0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500]);
  expect(gaps).toEqual([]);
  expect(n).toBe(4999);
});

test.each([
  { from: "failure observations, case 65: a line of 3 MiB", chars: 3 * 1024 * 1024, gaps: ["line-too-long"] },
  { from: "a line of 9 MiB", chars: 9 * 1024 * 1024, gaps: ["line-too-long"] },
  { from: "a line just over 2 MiB", chars: 2 * 1024 * 1024, gaps: ["line-too-long"] },
  { from: "a line just under 2 MiB", chars: 2 * 1024 * 1024 - 100, gaps: [] },
])("$from", ({ chars, gaps: names }) => {
  const file = newLog();
  writeFileSync(file, call(1) + err(2, "x".repeat(chars)) + call(3));
  const { lines, gaps, endsTorn } = scan(file);
  expect(lines.map(([, { n }]) => n)).toEqual(names.length === 0 ? [1, 2, 3] : [1, 3]);
  expect(gaps.map(({ name }) => name)).toEqual(names);
  expect(gaps.map(({ byte }) => byte)).toEqual(names.map(() => call(1).length));
  expect(endsTorn).toBe(false);
});

test("a long line costs no memory of its length", () => {
  const file = newLog();
  for (let index = 0; index < 64; index += 1) appendFileSync(file, "x".repeat(1024 * 1024));
  appendFileSync(file, `\n${call(2)}`);
  const before = process.memoryUsage.rss();
  const { lines, gaps } = scan(file);
  expect(process.memoryUsage.rss() - before).toBeLessThan(32 * 1024 * 1024);
  expect([lines.length, gaps.length]).toEqual([1, 1]);
});

test.each([
  { isOver: false, gaps: [] },
  {
    isOver: true,
    gaps: [{ name: "torn-end", operation: "scan", permanent: true, text: "The run's log ends in half a line" }],
  },
])("half a line at the end, isOver: $isOver", ({ isOver, gaps: expected }) => {
  const file = newLog();
  writeFileSync(file, call(1) + call(2).slice(0, 60));
  const { lines, gaps, bytes, n, endsTorn } = scan(file, { isOver });
  expect(lines).toHaveLength(1);
  expect({ bytes, n, endsTorn }).toEqual({ bytes: call(1).length, n: 1, endsTorn: true });
  expect(gaps).toEqual(expected.map((gap) => ({ ...gap, byte: call(1).length })));
});

test("an unfinished line over 2 MiB is read again when it has its end", () => {
  const file = newLog();
  writeFileSync(file, call(1) + "x".repeat(5 * 1024 * 1024));
  const first = scan(file);
  expect(first).toMatchObject({ bytes: call(1).length, endsTorn: true, gaps: [] });
  appendFileSync(file, `\n${call(3)}`);
  const second = scan(file, { fromByte: first.bytes });
  expect(second.gaps.map(({ name, byte }) => [name, byte])).toEqual([["line-too-long", call(1).length]]);
  expect(second.lines.map(([, { n }]) => n)).toEqual([3]);
});

test.each([
  { from: "cut before its kind", line: call(2).slice(0, 90) },
  { from: "cut behind its kind", line: call(2).slice(0, 150) },
  { from: "no JSON", line: "Killed" },
  { from: "no line of a log", line: '{"method":"session/update"}' },
  { from: "without a frame", line: '{"t":1,"n":2,"d":"in"}' },
  { from: "an event without a type", line: '{"t":1,"n":2,"d":"ev","ev":{}}' },
])("a line that cannot be read is a gap: $from", ({ line }) => {
  const file = newLog();
  writeFileSync(file, `${call(1)}${line}\n${call(3)}`);
  const { lines, gaps } = scan(file);
  expect(lines.map(([, { n }]) => n)).toEqual([1, 3]);
  expect(gaps).toEqual([
    {
      name: "unreadable-line",
      operation: "scan",
      byte: call(1).length,
      permanent: true,
      text: "A line of the run's log cannot be read: it was cut, or written over",
    },
  ]);
});

test("lines that a full disk took are a gap where they are missing", () => {
  const file = newLog();
  writeFileSync(file, `${call(1)}{"t":1,"n":2,"d":"ev","ev":{"type":"lost","lines":7}}\n`);
  expect(scan(file).gaps).toEqual([
    {
      name: "lost-lines",
      operation: "scan",
      byte: call(1).length,
      permanent: true,
      text: "7 lines of the run's log could not be written",
    },
  ]);
});

test.each([
  {
    from: "replaced",
    change: (file: string) => {
      copyFileSync(file, `${file}.2`);
      renameSync(`${file}.2`, file);
    },
    gap: { name: "log-replaced", byte: 0 },
    told: [1, 2],
  },
  {
    from: "truncated",
    change: (file: string) => truncateSync(file, call(1).length),
    gap: { name: "log-truncated", byte: call(1).length },
    told: [1],
  },
  {
    from: "written over",
    change: (file: string) => writeFileSync(file, call(7) + call(8) + call(9)),
    gap: { name: "log-head-changed", byte: 0 },
    told: [7, 8, 9],
  },
])("a log that was $from since is read from its beginning", ({ change, gap, told }) => {
  const file = newLog();
  writeFileSync(file, call(1) + call(2));
  const first = scan(file);
  change(file);
  const second = scan(file, { fromByte: first.bytes, known: first.identity! });
  expect(second.gaps).toMatchObject([{ ...gap, operation: "scan", permanent: true }]);
  expect(second.lines.map(([, { n }]) => n)).toEqual(told);
});

test("no log at all is a gap that ends", () => {
  const missing = scan(newLog(), { fromByte: 10 });
  expect(missing).toMatchObject({ bytes: 10, n: 0, endsTorn: false, identity: undefined });
  expect(missing.gaps).toEqual([
    { name: "log-missing", operation: "log-access", byte: 0, permanent: false, text: "The run's log is not there" },
  ]);
  expect(scan(tmpdir()).gaps).toEqual([
    {
      name: "log-unreadable",
      operation: "log-access",
      byte: 0,
      permanent: false,
      text: "The run's log cannot be read (EISDIR)",
    },
  ]);
});

test("what a callback throws is not a gap", () => {
  const file = newLog();
  writeFileSync(file, call(1));
  expect(() => scanRunLog(file, { onLine: fail, onGap: fail })).toThrow("a bug of ours");
});

function fail(): never {
  throw new Error("a bug of ours");
}
