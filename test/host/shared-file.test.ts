/** One log for many processes: real ones, that append and rotate at once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SharedFile } from "../../src/host/shared-file.ts";

const MODULE = join(import.meta.dirname, "../../src/host/shared-file.ts");
const newFolder = () => mkdtempSync(join(tmpdir(), "ostler-shared-file-"));

test("no line of four processes is lost, doubled or mixed while all of them rotate", async () => {
  const folder = newFolder();
  const source = `
    import { SharedFile } from ${JSON.stringify(MODULE)};
    const file = new SharedFile(${JSON.stringify(join(folder, "o.log"))}, { maxBytes: 8192, keptFiles: 100000 });
    process.stdin.once("data", () => {
      for (let n = 0; n < 500; n += 1) file.append(JSON.stringify({ id: process.argv[1] + ":" + n, pad: "x".repeat(n % 200) }) + "\\n");
      process.exit(0);
    });
    console.log("up");
  `;
  const writers = ["a", "b", "c", "d"].map((name) =>
    spawn(process.execPath, ["--input-type=module", "-e", source, name], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  await Promise.all(writers.map(({ stdout }) => once(stdout, "data")));
  const ends = writers.map((writer) => once(writer, "exit"));
  for (const { stdin } of writers) stdin.write("go\n");
  expect((await Promise.all(ends)).map(([code]: unknown[]) => code)).toEqual([0, 0, 0, 0]);

  const files = readdirSync(folder);
  const lines = files.flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").filter(Boolean));
  const ids = lines.map((line): { id: string } => JSON.parse(line)).map(({ id }) => id);
  expect(ids).toHaveLength(2000);
  expect(new Set(ids).size).toBe(2000);
  expect(files.length).toBeGreaterThan(10);
});

test("old files go, the newest stay", () => {
  const folder = newFolder();
  const file = new SharedFile(join(folder, "o.log"), { maxBytes: 10, keptFiles: 2 });
  for (let n = 0; n < 6; n += 1) file.append(`line number ${n}\n`);
  const full = readdirSync(folder).filter((name) => name !== "o.log");
  expect(full.toSorted().map((name) => readFileSync(join(folder, name), "utf8"))).toEqual([
    "line number 3\n",
    "line number 4\n",
  ]);
  expect(readFileSync(join(folder, "o.log"), "utf8")).toBe("line number 5\n");
  expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
});

test("a file that somebody removed is made again", () => {
  const path = join(newFolder(), "sub", "o.log");
  const file = new SharedFile(path, { maxBytes: 1000, keptFiles: 2 });
  file.append("one\n");
  rmSync(path);
  file.append("two\n");
  expect(readFileSync(path, "utf8")).toBe("two\n");
});

test("a device is no log", () => {
  expect(() => new SharedFile("/dev/null", { maxBytes: 1000, keptFiles: 2 })).toThrow("/dev/null is not a plain file");
});
