/** What a command says, on its way into the log: the same bytes, without secrets, however the pipe cuts them. */
import { array, assert, integer, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { ScrubbedLines } from "../../src/host/command-run-lines.ts";

const SECRET = "sk-ant-api03-aB3dE6gH9aB3dE6gH9aB3dE6gH9aB3dE6gH9aB3dE6gH9";

/** Everything that comes out when it goes in so. */
function through(...chunks: readonly (Buffer | string)[]): Buffer {
  const lines = new ScrubbedLines();
  return Buffer.concat([...chunks.map((chunk) => lines.push(Buffer.from(chunk))), lines.end()]);
}

test.each([
  { from: "plain lines", bytes: "one\ntwo\n" },
  { from: "a last line without an end", bytes: "one\ntwo" },
  { from: "UTF-8", bytes: "größe – 大 🎉\n" },
  { from: "bytes that are no UTF-8", bytes: Buffer.from([0x80, 0xff, 0x0a, 0xc3, 0x28, 0x0a, 0x00]) },
  { from: "colours", bytes: "\u001B[31mred\u001B[0m\nplain\n" },
  { from: "a progress bar", bytes: "10 %\r20 %\r100 %\r\n" },
  { from: "nothing", bytes: "" },
])("$from pass as they came", ({ bytes }) => {
  expect(through(bytes)).toEqual(Buffer.from(bytes));
});

test.each([
  { from: "a key", text: `before\nkey ${SECRET} here\nafter\n`, scrubbed: "before\nkey [redacted] here\nafter\n" },
  {
    from: "a key among colours, which that line alone loses",
    text: `\u001B[31mred\u001B[0m\n\u001B[1m${SECRET}\u001B[0m\n`,
    scrubbed: "\u001B[31mred\u001B[0m\n[redacted]\n",
  },
  {
    from: "a key beside bytes that are no UTF-8",
    text: Buffer.concat([Buffer.from([0xe9, 0x20]), Buffer.from(`${SECRET}\n`)]),
    scrubbed: Buffer.concat([Buffer.from([0xe9, 0x20]), Buffer.from("[redacted]\n")]),
  },
  {
    from: "a key block",
    text: "a\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ\n-----END PRIVATE KEY-----\nb\n",
    scrubbed: "a\n[redacted]\nb\n",
  },
  {
    from: "a key block in one line",
    text: "-----BEGIN RSA PRIVATE KEY-----MIIE-----END RSA PRIVATE KEY-----\nb\n",
    scrubbed: "[redacted]\nb\n",
  },
])("$from is hidden", ({ text, scrubbed }) => {
  expect(through(text).toString("latin1")).toBe(Buffer.from(scrubbed).toString("latin1"));
});

test("a key block without an end hides 500 lines and no more", () => {
  const shown = through(`-----BEGIN PRIVATE KEY-----\n${"MIIE\n".repeat(500)}after\n`);
  expect(shown.toString()).toBe("[redacted]\nafter\n");
});

test("the pipe may cut anywhere", () => {
  const text = Buffer.from(
    `größe\n\u001B[31m${SECRET}\u001B[0m\r\n-----BEGIN A KEY-----\nabc\n-----END A KEY-----\nend`,
  );
  const whole = through(text);
  expect(whole.toString()).toBe("größe\n[redacted]\n[redacted]\nend");
  assert(
    property(array(integer({ min: 0, max: text.length }), { maxLength: 8 }), (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      const chunks = places.slice(1).map((to, at) => text.subarray(places[at], to));
      expect(through(...chunks)).toEqual(whole);
    }),
  );
});

describe("a line without an end", () => {
  test("passes on in pieces, and nothing of it is lost", () => {
    const lines = new ScrubbedLines();
    const chunk = Buffer.alloc(64 * 1024, "x");
    let passed = 0;
    for (let at = 0; at < 160; at += 1) passed += lines.push(chunk).length;
    const kept = 160 * chunk.length - passed;
    expect(kept).toBeLessThan(128 * 1024);
    expect(lines.end()).toHaveLength(kept);
  });

  test.each([{ filler: "x" }, { filler: "é" }, { filler: "word " }, { filler: "," }])(
    "of $filler hides a secret wherever it stands",
    ({ filler }) => {
      const before = filler.repeat(Math.floor((64 * 1024 - 200) / Buffer.byteLength(filler)));
      for (let offset = 0; offset < 400; offset += 13) {
        const text = `${before}${filler.repeat(offset)} ${SECRET} ${before}`;
        const chunks = text.match(/[^]{1,16000}/g) ?? [];
        const shown = through(...chunks).toString();
        expect(shown).not.toContain("sk-ant");
        expect(shown).toBe(text.replace(SECRET, "[redacted]"));
      }
    },
  );
});
