/** No secret gets through anything that writes or shows text, wherever it stands and whatever escapes stand around and in it. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { array, assert, constantFrom, nat, oneof, property, record, string } from "fast-check";
import { expect, test } from "vitest";
import { cleanBlock, cleanLine, redact, redactKept } from "../../src/errors/redact.ts";
import { LogWriter } from "../../src/host/log-writer.ts";
import { mayHoldSecret } from "../../src/errors/secret-signs.ts";
import { scrubJson } from "../../src/errors/scrub-json.ts";
import { scrubEntry } from "../../src/host/trace.ts";
import { cpuMs } from "../cpu-time.ts";
import { SEQUENCES, TOKENS } from "../errors/secrets.ts";

const folder = mkdtempSync(join(tmpdir(), "ostler-scrubbing-"));
const log = new LogWriter(folder);
const lastLogLine = (): string => readFileSync(join(folder, "ostler.log"), "utf8").trimEnd().split("\n").at(-1) ?? "";

const sequences = array(constantFrom(...Object.values(SEQUENCES)), { maxLength: 3 }).map((some) => some.join(""));
const someSequences = array(constantFrom(...Object.values(SEQUENCES)), { minLength: 1, maxLength: 3 }).map((some) =>
  some.join(""),
);
const words = oneof(
  string({ unit: "binary", maxLength: 40 }),
  array(constantFrom("word", " ", "\n", "a-b", ": ", "=", '"', "/x", "4"), { maxLength: 8 }).map((some) =>
    some.join(""),
  ),
);

/** Words, a secret with sequences at one place of it, words. Behind a letter it stands only where a sequence tells them apart. */
const hidden = record({
  before: words,
  apart: sequences,
  always: someSequences,
  token: constantFrom(...Object.values(TOKENS)),
  at: nat(200),
  inside: sequences,
  behind: sequences,
  after: words,
}).map(({ before, apart, always, token, at, inside, behind, after }) => {
  const middle = at % token.length;
  const split = `${token.slice(0, middle)}${inside}${token.slice(middle)}`;
  const gap = /\w$/.test(before) ? always : apart;
  return {
    token,
    text: `${before.replace(/[\p{Cc}\\]/gu, "")}${gap}${split}${behind}${/^\w/.test(after) ? " " : ""}${after}`,
  };
});

const forms: Readonly<Record<string, (text: string) => string>> = {
  cleanLine: (text) => cleanLine(text, 4000),
  cleanBlock: (text) => cleanBlock(text, 4000),
  "cleanBlock, its end": (text) => cleanBlock(text, 4000, "end"),
  redactKept,
  scrubJson: (text) => JSON.stringify(scrubJson({ [`a ${text}`]: 1, list: [{ text }] })),
  "trace, a frame": (text) => JSON.stringify(scrubEntry({ dir: "in", frame: { params: { content: text } } }, 1)),
  "trace, stderr": (text) => JSON.stringify(scrubEntry({ dir: "stderr", line: text }, 1)),
  log: (text) => {
    log.write({ atMs: 0, level: "warn", event: "e", fields: { text } });
    return lastLogLine();
  },
};

const withoutSequences = (text: string): string =>
  Object.values(SEQUENCES)
    .toSorted((a, b) => b.length - a.length)
    .reduce(
      (rest, sequence) => rest.replaceAll(sequence, "").replaceAll(JSON.stringify(sequence).slice(1, -1), ""),
      text,
    );

test.each(Object.entries(forms))("%s lets no secret through", (_, form) => {
  assert(
    property(hidden, ({ token, text }) => {
      const shown = withoutSequences(form(text));
      expect(shown).not.toContain(token);
      expect(shown).not.toContain(token.slice(-12));
    }),
    { numRuns: 300, seed: 7 },
  );
});

test("scrubbing twice changes nothing more", () => {
  assert(
    property(hidden, ({ text }) => {
      for (const scrub of [redact, redactKept, (line: string) => cleanLine(line, 4000)]) {
        const once = scrub(text);
        expect(scrub(once)).toBe(once);
      }
    }),
    { numRuns: 500, seed: 7 },
  );
});

/** A megabyte of what begins something and never ends it. */
test.each([
  "\u001B",
  "\u001B[",
  "\u001B[1;",
  "\u001B(",
  "\u001B]",
  "\u001B]0;x",
  "\u001BP",
  "\u009B",
  "\u009D",
  "\u009B1",
  "\u0000",
  "\u200B",
  "\r",
  "a\u0000",
  "\u001B[m",
  "a\u001B[m",
  "e\u001B[msk-ant-",
])("a megabyte of %j costs linear time", (piece) => {
  const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
  const startedAt = cpuMs();
  cleanLine(text, 400);
  cleanBlock(text, 400, "end");
  cleanLine(`\u001B]${"y".repeat(1_000_000)}`, 400);
  expect(cpuMs() - startedAt).toBeLessThan(4000);
});

test.each([
  { from: "a list of arguments", argv: ["mysql", "--password", "hunter2Correct7Horse", "db"], kept: ["mysql", "db"] },
  { from: "one dash", argv: ["-token", "hunter2Correct7Horse"], kept: [] },
  { from: "a longer flag", argv: ["curl", "--proxy-password", "hunter2Correct7Horse"], kept: ["curl"] },
  { from: "a user and a password", argv: ["curl", "-u", "alice:hunter2Correct7Horse", "x"], kept: ["curl", "x"] },
  { from: "a flag without a value", argv: ["x", "--password", "--verbose"], kept: ["x", "--verbose"] },
])("$from: what stands behind the name of a secret is hidden", ({ argv, kept }) => {
  const scrubbed = JSON.stringify(scrubJson({ rawInput: { argv } }));
  expect(scrubbed).not.toContain("hunter2");
  for (const word of kept) expect(scrubbed).toContain(`"${word}"`);
  expect(mayHoldSecret(JSON.stringify({ argv }))).toBe(true);
  // Once more inside of a text.
  expect(mayHoldSecret(JSON.stringify(JSON.stringify({ argv })))).toBe(true);
});
