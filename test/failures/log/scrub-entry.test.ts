import { globSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { scrubJson } from "../../../src/errors/scrub-json.ts";
import { EntryScrubber, scrubEntry } from "../../../src/failures/log/scrub-entry.ts";
import type { RunEntry } from "../../../src/failures/run-lines.ts";
import { PIECES } from "../../errors/secret-pieces.ts";
import { fill, SEQUENCES, TOKENS } from "../../errors/secrets.ts";

const writtenOf = (frame: unknown): unknown => JSON.parse(`{${scrubEntry({ d: "in", frame }).json}`).frame;

const text = fc
  .array(fc.constantFrom(...PIECES, ...Object.values(SEQUENCES)), { maxLength: 5 })
  .map((pieces) => pieces.join(""));
const name = fc.oneof(text, fc.constantFrom("env", "headers", "name", "value", "text", "rawInput", "command"));
const frame = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    text.map((inner) => JSON.stringify({ [inner]: inner })),
    fc.integer(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3 }),
    fc.array(fc.record({ name, value: tie("value") }), { maxLength: 2 }),
  ),
})).value;

test("whatever a frame holds, the quick look and the scrubbing of every value write the same", () => {
  fc.assert(
    fc.property(frame, (value) => {
      const { entry } = scrubEntry({ d: "in", frame: value });
      const slow = JSON.stringify(scrubJson(value));
      expect(JSON.stringify(writtenOf(value))).toBe(slow);
      expect(JSON.stringify("frame" in entry ? entry.frame : undefined)).toBe(slow);
    }),
    { numRuns: 3000 },
  );
});

const recordings = globSync("test/fixtures/recordings/**/*.jsonl");
test("the frames of every recording too", () => {
  const frames = recordings.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.includes('"frame":'))
      .map((line): unknown => JSON.parse(line).frame),
  );
  expect(frames.length).toBeGreaterThan(5000);
  for (const recorded of frames) expect(writtenOf(recorded)).toEqual(scrubJson(recorded));
});

const AROUND: Readonly<Record<string, (secret: string) => unknown>> = {
  "a text": (secret) => `word ${secret}`,
  "a name with it": (secret) => ({ [secret]: 1 }),
  "JSON in a text": (secret) => JSON.stringify({ command: `curl -d ${secret}` }),
  "JSON in JSON in a text": (secret) => JSON.stringify({ body: JSON.stringify({ a: secret }) }),
  "a line behind a newline": (secret) => `one\n${secret}`,
  "a written escape": (secret) => `one\\n${secret}\\u001b[0m`,
  "an env map": (secret) => ({ mcpServers: [{ name: "db", env: { DATABASE_URL: secret, PLAIN: "x" } }] }),
  "an env list": (secret) => ({ env: [{ name: "DATABASE_URL", value: secret }] }),
  headers: (secret) => ({ headers: [{ name: "X", value: secret }] }),
  "a list of pairs": (secret) => ({ anything: [{ name: "A", value: secret }] }),
};
const SECRETS: Readonly<Record<string, string>> = {
  ...TOKENS,
  jwt: `eyJ${fill(20)}.eyJ${fill(40, "kL4mN")}.${fill(43, "pQ7rS")}`,
  "case C25, a database": `postgres://u:${fill(12)}@h`,
  "case C25, a header": `Authorization: Bearer ${fill(20)}`,
  "case C25, a PEM block": `-----BEGIN PRIVATE KEY-----\n${fill(64)}\n${fill(64)}\n-----END PRIVATE KEY-----`,
};
test.each(
  Object.entries(AROUND).flatMap(([where, around]) =>
    Object.entries(SECRETS).map(([what, secret]) => ({ where, what, secret, around })),
  ),
)("case C25: no secret is written ($what in $where)", ({ secret, around }) => {
  const line = JSON.stringify(writtenOf({ method: "x", params: around(secret) }));
  const value = secret.replace(/^\w+:\/\/u:|^Authorization: Bearer |@h$|^-----BEGIN.*-----\n|\n-----END.*$/g, "");
  expect(line).not.toContain(value.slice(-12));
  expect(line).toContain("[redacted]");
});

test.each(Object.entries(SEQUENCES))("a secret that is split by %s is not written", (_, sequence) => {
  const token = TOKENS["github"]!;
  const line = JSON.stringify(writtenOf({ text: `${token.slice(0, 12)}${sequence}${token.slice(12)}` }));
  expect(line).not.toContain(token.slice(12, 24));
});

test("a text over 256 KiB is its length and its hash, one of 256 KiB is itself", () => {
  const long = "é".repeat(128 * 1024);
  expect(writtenOf({ a: long, b: [`${long}é`] })).toEqual({
    a: long,
    b: [{ elided: 262_146, sha256: "f255f6867867b3951d82413e5cebf5973f140cbce4a0ea963630b38bcf6325ba" }],
  });
});

test("of an event nothing is written that is a secret, and of a line of stderr neither", () => {
  const secret = TOKENS["openai"]!;
  const event = scrubEntry({
    d: "ev",
    ev: { type: "disposition", callId: "c", sessionId: "s", request: { reason: secret }, accepted: true },
  });
  expect(event.json).toBe(
    '"d":"ev","ev":{"type":"disposition","callId":"c","sessionId":"s","request":{"reason":"[redacted]"},"accepted":true}}',
  );
  expect(scrubEntry({ d: "err", text: `\u001B[31mkey ${secret}` }).json).toBe('"d":"err","text":"key [redacted]"}');
});

test("what stands around a piece of text is looked at whenever it is another", () => {
  const scrubber = new EntryScrubber();
  const json = (entry: RunEntry): string => scrubber.scrub(entry).json;
  const head =
    '"d":"in","frame":{"params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":';
  expect(json(piece("one "))).toBe(`${head}"one "}}}}}`);
  expect(json(piece("two "))).toBe(`${head}"two "}}}}}`);
  expect(json(piece("three ", { _meta: { at: TOKENS["github"] } }))).toBe(
    `${head}"three "},"_meta":{"at":"[redacted]"}}}}}`,
  );
  expect(json(piece(`four ${TOKENS["github"]} `))).toBe(`${head}"four [redacted] "}}}}}`);
  expect(json(piece("x".repeat(256 * 1024 + 1)))).toContain(`${head}{"elided":262145,"sha256":"`);
});

function piece(text: string, more: object = {}): RunEntry {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...more };
  return { d: "in", frame: { params: { update } } };
}
