import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

/** What a folder of `src` may import besides itself (docs/architecture.md). */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  acp: ["errors"],
  backends: ["acp", "errors"],
  failures: ["acp", "errors"],
  host: ["failures", "backends", "acp", "errors"],
  surfaces: ["host", "failures", "acp", "errors"],
  index: ["host", "failures", "backends", "acp", "errors"],
};
/** Pure data: tables that are read as a whole. */
const TABLES: ReadonlySet<string> = new Set(["src/errors/patterns.ts"]);
const MAX_LINES = 300;

const files = globSync("src/**/*.ts").toSorted();
const layerOf = (path: string) => relative("src", path).split(/[/.]/)[0]!;
const surfaceOf = (path: string) => /^src\/surfaces\/([^/]+)\//.exec(path)?.[1];

/** What a file imports, statically or not, as it is written. */
function specifiersOf(file: string): readonly string[] {
  const found = readFileSync(file, "utf8").matchAll(/(?:\bfrom|\bimport\(|^import)\s*"([^"]+)"/gm);
  return [...found].map(([, specifier]) => specifier!);
}

/** The files among them. */
function importsOf(file: string): readonly string[] {
  return specifiersOf(file).flatMap((specifier) => (specifier.startsWith(".") ? [join(dirname(file), specifier)] : []));
}

test("there are sources", () => {
  expect(files.length).toBeGreaterThan(50);
});

test.each(files)("%s imports only lower layers, and no sibling surface", (file) => {
  const allowed = new Set([layerOf(file), ...MAY_IMPORT[layerOf(file)]!]);
  expect(importsOf(file).filter((path) => !allowed.has(layerOf(path)))).toEqual([]);
  const surfaces = importsOf(file).flatMap((path) => surfaceOf(path) ?? []);
  expect(surfaces.filter((surface) => surface !== "shared" && surface !== surfaceOf(file))).toEqual([]);
});

test.each(files.filter((file) => layerOf(file) === "errors"))("%s is a leaf: no package, nothing of Node", (file) => {
  expect(specifiersOf(file).filter((specifier) => !specifier.startsWith("./"))).toEqual([]);
});

test.each(files.filter((file) => !TABLES.has(file)))("%s stays a page or two", (file) => {
  expect(readFileSync(file, "utf8").split("\n").length).toBeLessThanOrEqual(MAX_LINES);
});
