/**
 * Seed document 004, promise by promise: docs/failures.md has a row for every one of them that names what keeps it and what
 * proves it, and those are there. Rows may be added; one that goes would be a promise that nobody keeps any more.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** The parts of the table in their order, and how many promises each has at least. */
const PROMISES: Readonly<Record<string, number>> = {
  "Four facts, one state": 6,
  Labels: 10,
  "What is seen by default": 8,
  Notifications: 14,
  Recovery: 5,
  Trust: 12,
  "Declared intent": 12,
  Dispositions: 9,
  "Permission blockers": 12,
  "Evidence health": 7,
};

interface Row {
  readonly part: string;
  readonly promise: string;
  readonly files: readonly string[];
  readonly proofs: readonly { readonly file: string; readonly name: string }[];
}

const ROWS = readRows(readFileSync(join(ROOT, "docs/failures.md"), "utf8"));

test("the parts are those of the document, in its order", () => {
  expect([...new Set(ROWS.map(({ part }) => part))]).toEqual(Object.keys(PROMISES));
});

test.each(Object.entries(PROMISES))("no promise was dropped: %s", (part, count) => {
  expect(ROWS.filter((row) => row.part === part).length).toBeGreaterThanOrEqual(count);
});

test("no promise is named twice", () => {
  const promises = ROWS.map(({ part, promise }) => `${part}: ${promise}`);
  expect(promises.filter((promise, at) => promises.indexOf(promise) !== at)).toEqual([]);
});

test.each(ROWS)("what is named is there: $part: $promise", ({ files, proofs }) => {
  expect(files.filter((file) => !existsSync(join(ROOT, "src", file)))).toEqual([]);
  expect(proofs.filter(({ file, name }) => !hasRow(file, name))).toEqual([]);
  expect(files.length).toBeGreaterThan(0);
  expect(proofs.length).toBeGreaterThan(0);
});

/** Whether the test file holds the name as a whole, and not as a part of another. */
function hasRow(file: string, name: string): boolean {
  const path = join(ROOT, "test", file);
  if (!existsSync(path)) return false;
  const source = readFileSync(path, "utf8");
  return ['"', "'", "`"].some((quote) => source.includes(`${quote}${name}${quote}`));
}

function readRows(markdown: string): Row[] {
  const [, table = ""] = markdown.split("\n## Every promise and its proof\n");
  const [, ...parts] = table.split(/^### /m);
  return parts.flatMap((text) => {
    const [part = "", ...lines] = text.split("\n");
    const rows = lines.filter((line) => line.startsWith("|")).slice(2);
    return rows.map((line): Row => {
      const [promise = "", files = "", proofs = ""] = line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim());
      return {
        part,
        promise,
        files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file),
        proofs: proofs.split("<br>").map(readProof),
      };
    });
  });
}

/** A proof without a name is of no row. */
function readProof(proof: string): Row["proofs"][number] {
  const [, file = "", name = "no row is named"] = /^`([^`]+)` › (.+)$/.exec(proof) ?? [];
  return { file, name };
}
