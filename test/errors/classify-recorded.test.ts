import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { classifyError, classifyRecord, classifyText } from "../../src/errors/classify.ts";
import { readRawError } from "../../src/errors/raw.ts";
import type { Verdict } from "../../src/errors/verdict.ts";
import { mask, RECORDS, RPC_ERRORS, SENTENCES } from "./recorded.ts";

test.each(RECORDS)("$from: $category «$title» is $expected.kind", ({ expected, profile, ...record }) => {
  expect(withoutRule(classifyRecord(record, { profile }))).toEqual(expected);
});

test.each(RPC_ERRORS)("$from: $error.code «$error.message» is $expected.kind", ({ error, profile, expected }) => {
  expect(withoutRule(classifyError(readRawError(error), { profile }))).toEqual(expected);
});

test.each(SENTENCES)("$from: sentence «$title» is $expected.kind", ({ title, expected }) => {
  expect(withoutRule(classifyText(`${title}\n\n`, { profile: "codex" }))).toEqual(expected);
});

test("a record or error that reports the death of the harness's child says so, and no other does", () => {
  const verdicts = [
    ...RECORDS.map((record) => classifyRecord(record)),
    ...RPC_ERRORS.map(({ error }) => classifyError(readRawError(error))),
  ];
  expect(verdicts.filter(({ childDied }) => childDied)).toEqual(verdicts.filter(({ kind }) => kind === "agent_died"));
});

test("every error record and JSON-RPC error of the recordings has a row", () => {
  const files = globSync("test/fixtures/recordings/**/*.jsonl");
  const titles = new Set(RECORDS.map(({ title }) => mask(title)));
  const errors = new Set(RPC_ERRORS.map(({ error }) => mask(JSON.stringify(error))));
  const missing = files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.startsWith('{"dir":"in"'))
      .flatMap((line) => unknownFailures(JSON.parse(line).frame, titles, errors).map((what) => `${file}: ${what}`)),
  );
  expect(files.length).toBeGreaterThan(300);
  expect(missing).toEqual([]);
});

interface Frame {
  readonly error?: unknown;
  readonly result?: { readonly _meta?: AirMeta } | null;
  readonly params?: { readonly update?: { readonly _meta?: AirMeta } };
}
interface AirMeta {
  readonly jetbrains?: {
    readonly air?: { readonly sessionFailure?: { readonly severity: string; readonly title: string } };
  };
}

function unknownFailures(frame: Frame, titles: ReadonlySet<string>, errors: ReadonlySet<string>): string[] {
  const error = frame.error === undefined ? [] : [mask(JSON.stringify(frame.error))];
  const records = [frame.result?._meta, frame.params?.update?._meta].flatMap(
    (meta) => meta?.jetbrains?.air?.sessionFailure ?? [],
  );
  return [
    ...error.filter((text) => !errors.has(text)),
    ...records
      .filter(({ severity }) => severity === "error")
      .map(({ title }) => mask(title))
      .filter((title) => !titles.has(title)),
  ];
}

function withoutRule({ rule, childDied: _childDied, ...rest }: Verdict): Omit<Verdict, "rule" | "childDied"> {
  expect(rule).not.toBe("");
  return rest;
}
