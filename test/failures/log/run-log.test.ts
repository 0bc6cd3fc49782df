import { appendFileSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunLog } from "../../../src/failures/log/run-log.ts";
import type { RunEntry } from "../../../src/failures/run-lines.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "ostler-run-log-"));
const textOf = (folder: string): string => readFileSync(join(folder, "output.log"), "utf8");
const linesOf = (folder: string): unknown[] =>
  textOf(folder)
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
const chunk = (text: string): RunEntry => ({
  d: "in",
  frame: { method: "session/update", params: { update: { sessionUpdate: "plan", text } } },
});

test("a line is its time, its ordinal and the entry, in this order, and the file is its owner's alone", () => {
  const folder = newFolder();
  const log = RunLog.open(folder);
  log.append({ d: "out", frame: { id: 1, method: "initialize" } }, { t: 1_700_000_000_123 });
  log.append({ d: "err", text: "ready" }, { t: 1_700_000_000_124 });
  log.close();
  expect(textOf(folder)).toBe(
    '{"t":1700000000123,"n":1,"d":"out","frame":{"id":1,"method":"initialize"}}\n' +
      '{"t":1700000000124,"n":2,"d":"err","text":"ready"}\n',
  );
  expect(statSync(join(folder, "output.log")).mode & 0o777).toBe(0o600);
});

test("what is appended is returned as it is written, with the byte that it begins at", () => {
  const folder = newFolder();
  const log = RunLog.open(folder);
  const secret = `ghp_${"aB3dE6gH9".repeat(4)}`;
  const first = log.append({ d: "err", text: `é ${secret}` }, { t: 1 });
  const second = log.append({ d: "err", text: "two" }, { t: 2 });
  log.close();
  expect(first).toEqual({ line: { t: 1, n: 1, d: "err", text: "é [redacted]" }, byte: 0 });
  expect(
    textOf(folder)
      .slice(0, -1)
      .split("\n")
      .map((line): unknown => JSON.parse(line)),
  ).toEqual([first.line, second.line]);
  expect(Buffer.from(textOf(folder)).subarray(second.byte).toString()).toBe('{"t":2,"n":2,"d":"err","text":"two"}\n');
});

test("goes on behind what another process wrote", () => {
  const folder = newFolder();
  const first = RunLog.open(folder);
  first.append(chunk("one"));
  first.append(chunk("two"));
  first.close();
  const second = RunLog.open(folder);
  const size = Buffer.byteLength(textOf(folder));
  expect(second.append(chunk("three"))).toMatchObject({ line: { n: 3 }, byte: size });
  second.close();
  expect(linesOf(folder)).toMatchObject([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test.each([
  { from: "cut in its frame", torn: '{"t":5,"n":2,"d":"in","frame":{"jsonrpc":"2.0","meth', n: 3 },
  { from: "cut in its ordinal", torn: '{"t":5,"n":2', n: 2 },
  {
    from: "case C25, cut inside of a UTF-8 character",
    torn: Buffer.from('{"t":5,"n":2,"d":"in","frame":{"x":"é').subarray(0, -1),
    n: 3,
  },
])("half a line of a killed writer is a line of its own: $from", ({ torn, n }) => {
  const folder = newFolder();
  const first = RunLog.open(folder);
  first.append(chunk("one"), { t: 4 });
  first.close();
  const whole = textOf(folder);
  appendFileSync(join(folder, "output.log"), torn);
  const second = RunLog.open(folder);
  second.append(chunk("two"), { t: 6 });
  second.close();
  const [kept, cut, next, end] = readFileSync(join(folder, "output.log"), "latin1").split("\n");
  expect(`${kept}\n`).toBe(whole);
  expect(cut).toBe(Buffer.from(torn).toString("latin1"));
  expect(JSON.parse(next!)).toMatchObject({ n, d: "in" });
  expect(end).toBe("");
});

test("in memory nothing is written; then what is held is, scrubbed, and goes on in the file", () => {
  const folder = newFolder();
  const log = RunLog.inMemory();
  expect(log.append({ d: "err", text: `key ghp_${"aB3dE6gH9".repeat(4)}` }, { t: 1 }).byte).toBeUndefined();
  log.append({ d: "err", text: "two" }, { t: 2 });
  log.persist(folder);
  const third = log.append({ d: "err", text: "three" }, { t: 3 });
  log.close();
  expect(linesOf(folder)).toEqual([
    { t: 1, n: 1, d: "err", text: "key [redacted]" },
    { t: 2, n: 2, d: "err", text: "two" },
    { t: 3, n: 3, d: "err", text: "three" },
  ]);
  const bytes = Buffer.from(textOf(folder));
  expect(bytes.subarray(log.byteOf(2), third.byte).toString()).toBe('{"t":2,"n":2,"d":"err","text":"two"}\n');
  expect([log.byteOf(1), log.byteOf(4)]).toEqual([0, undefined]);
});

test("memory keeps the newest 2,000 lines, and no more than a mebibyte", () => {
  const many = RunLog.inMemory();
  for (let index = 0; index < 2500; index += 1) many.append(chunk("x"), { chars: 10 });
  const folder = newFolder();
  many.persist(folder);
  many.close();
  expect(linesOf(folder)).toHaveLength(2000);
  expect(linesOf(folder)[0]).toMatchObject({ n: 501 });
  expect(many.dropped).toBe(500);
  const large = RunLog.inMemory();
  for (let index = 0; index < 20; index += 1) large.append(chunk("x"), { chars: 100_000 });
  const other = newFolder();
  large.persist(other);
  large.close();
  expect(linesOf(other)).toHaveLength(10);
  expect(linesOf(other).at(-1)).toMatchObject({ n: 20 });
});

test("a folder that is not there is a problem in words, and the log goes on when it comes", () => {
  const folder = join(newFolder(), "later");
  const log = RunLog.open(folder);
  expect(log.append(chunk("lost"))).toMatchObject({ line: { n: 1 }, byte: undefined });
  expect(log.problem).toBe(`The log of the run cannot be opened (ENOENT): ${join(folder, "output.log")}`);
  log.close();
});

test("what lies elsewhere is not written to through a link", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "elsewhere"), "kept");
  symlinkSync(join(folder, "elsewhere"), join(folder, "output.log"));
  const log = RunLog.open(folder);
  log.append(chunk("lost"));
  log.close();
  expect(log.problem).toContain("(ELOOP)");
  expect(readFileSync(join(folder, "elsewhere"), "utf8")).toBe("kept");
});
