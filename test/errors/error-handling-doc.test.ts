import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as acpErrors from "../../src/errors/acp-error.ts";
import { EXIT, KINDS } from "../../src/errors/kinds.ts";
import * as runtimeErrors from "../../src/errors/runtime-error.ts";
import * as toolGate from "../../src/errors/tool-gate.ts";
import { ALL_KINDS } from "./failures.ts";

const DOC = readFileSync("docs/error-handling.md", "utf8");
const HEADINGS = [...DOC.matchAll(/^### (\w+)$/gm)].map(([, name]) => name ?? "");
const CLASSES = [acpErrors, runtimeErrors, toolGate].flatMap((module) => Object.keys(module)).sort();

/** Cells of the table under a heading, without backticks and without the two head lines. */
function table(heading: string): string[][] {
  const section = DOC.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .replaceAll("`", "")
        .split("|")
        .map((cell) => cell.trim()),
    );
}

test("every exported error class has one heading, and no heading is left over", () => {
  expect([...HEADINGS].sort()).toEqual(CLASSES);
});

describe.each(CLASSES)("%s", (name) => {
  test("says when it is raised, its verdict, what the user sees and what to do", () => {
    const section = DOC.split(/^##+ /m).find((part) => part.startsWith(`${name}\n`)) ?? "";
    const points = [...section.matchAll(/^- ([A-Za-z ]+): \S/gm)].map(([, point]) => point);
    expect(points).toEqual(["Raised when", "Verdict", "The user sees", "What to do"]);
  });
});

test("every kind has a row with its verdict, need and exit code", () => {
  const rows = table("Kinds").map(([kind, retry, needs, exit]) => [kind, retry, needs, exit]);
  expect(rows).toEqual(
    ALL_KINDS.map((kind) => [kind, KINDS[kind].retry, KINDS[kind].needs ?? "–", String(KINDS[kind].exit)]),
  );
  expect(ALL_KINDS).toEqual(Object.keys(KINDS));
});

test("every exit code has a row", () => {
  const codes = new Set([...Object.values(EXIT), ...Object.values(KINDS).map(({ exit }) => exit)]);
  expect(table("Exit codes").map(([code]) => Number(code))).toEqual([...codes].sort((a, b) => a - b));
});

test("every boundary has a strategy", () => {
  expect(table("Boundaries").map(([boundary]) => boundary)).toEqual([
    "ACP to CLI",
    "JSON-RPC read",
    "Config load",
    "Process spawn",
    "Event loop",
    "Text that leaves the process",
  ]);
});
