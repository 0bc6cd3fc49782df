import { execFileSync } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readBounded } from "../../src/host/read-bounded.ts";

const folder = mkdtempSync(join(tmpdir(), "ostler-read-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function pipe(name: string): string {
  const file = join(folder, name);
  execFileSync("mkfifo", [file]);
  return file;
}

function fileOf(content: string): string {
  const file = join(folder, "file");
  writeFileSync(file, content);
  return file;
}

test.each([
  { from: "nothing", content: "" },
  { from: "as much as fits", content: "x".repeat(100_000) },
])("a file: $from", async ({ content }) => {
  expect((await readBounded(fileOf(content), { maxBytes: 100_000 })).toString()).toBe(content);
});

test("a pipe is read to its end", async () => {
  const file = pipe("written");
  createWriteStream(file).end("from a pipe");
  expect((await readBounded(file, { maxBytes: 100 })).toString()).toBe("from a pipe");
});

test.each([
  { from: "a file", file: () => fileOf("12345"), code: "ERR_FS_FILE_TOO_LARGE" },
  { from: "a device without end", file: () => "/dev/zero", code: "ERR_FS_FILE_TOO_LARGE" },
  { from: "a folder", file: () => folder, code: "EISDIR" },
  { from: "nothing there", file: () => join(folder, "none"), code: "ENOENT" },
])("refused: $from ($code)", async ({ file, code }) => {
  await expect(readBounded(file(), { maxBytes: 4 })).rejects.toMatchObject({ code });
});

test("a pipe that nobody writes to is given up with the reason of the signal", async () => {
  const stop = new AbortController();
  const reading = readBounded(pipe("silent"), { maxBytes: 100, signal: stop.signal });
  stop.abort(new Error("given up"));
  await expect(reading).rejects.toThrow("given up");
});
