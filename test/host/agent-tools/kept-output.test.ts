import { expect, test } from "vitest";
import { KeptOutput } from "../../../src/host/agent-tools/kept-output.ts";

test.each([
  { from: "nothing", chunks: [], text: "" },
  { from: "less than a half", chunks: ["abc"], text: "abc" },
  { from: "just what is kept", chunks: ["abcd", "efgh"], text: "abcdefgh" },
  { from: "one byte more", chunks: ["abcdXefgh"], text: "abcd\n[1 bytes left out here]\nefgh" },
  { from: "in many pieces", chunks: "abcd0123456789efgh".split(""), text: "abcd\n[10 bytes left out here]\nefgh" },
  {
    from: "a long piece after short ones",
    chunks: ["ab", "c", "d0123456789efgh"],
    text: "abcd\n[10 bytes left out here]\nefgh",
  },
  {
    from: "characters of several bytes, cut at neither side",
    chunks: ["abcé", "0123456", "éxyz"],
    text: "abc\n[11 bytes left out here]\nxyz",
  },
])("$from", ({ chunks, text }) => {
  const output = new KeptOutput(4);
  for (const chunk of chunks) output.add(Buffer.from(chunk));
  expect(output.text()).toBe(text);
});

test("of 16 MB a model gets 32 KiB", () => {
  const output = new KeptOutput();
  output.add(Buffer.from("first"));
  for (let count = 0; count < 256; count += 1) output.add(Buffer.alloc(64 * 1024, 120));
  output.add(Buffer.from("last"));
  const text = output.text();
  expect(text).toMatch(/^firstx+\n\[16744457 bytes left out here\]\nx+last$/);
  expect(text.length).toBeLessThan(33_000);
});
