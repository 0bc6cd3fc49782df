import { Buffer } from "node:buffer";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FrameReader } from "../../src/acp/frames.ts";
import type { Frame } from "../../src/acp/frames.ts";
import { cpuMs } from "../cpu-time.ts";

const FRAME = '{"jsonrpc":"2.0","method":"m"}';
const READ: Frame = { jsonrpc: "2.0", method: "m" };

interface Reading {
  readonly frames: readonly Frame[];
  readonly noise: number;
  readonly sample: readonly string[];
  readonly oversize: number;
}

function read(chunks: readonly (string | Uint8Array)[], lineBytes = 1024): Reading {
  const frames: Frame[] = [];
  let oversize = 0;
  const reader = new FrameReader({
    lineBytes,
    onFrame: (frame) => frames.push(frame),
    onOversize: () => (oversize += 1),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return { frames, noise: reader.noiseLines, sample: reader.noiseSample, oversize };
}

describe("noise (case C12): dropped and counted, the frame beside it read", () => {
  test.each<{ from: string; text: string; noise: number; frames?: readonly Frame[] }>([
    { from: "a banner", text: `Welcome!\n${FRAME}\n`, noise: 1 },
    { from: "empty lines", text: `\n\n\r\n${FRAME}\n\n`, noise: 0 },
    { from: "a JSON text", text: `"a string"\n${FRAME}\n`, noise: 1 },
    { from: "a JSON list", text: `[1,2]\n${FRAME}\n`, noise: 1 },
    { from: "a batch: ACP has none", text: `[${FRAME}]\n${FRAME}\n`, noise: 1 },
    { from: "a number, null, true", text: `42\nnull\ntrue\n${FRAME}\n`, noise: 3 },
    { from: "an object that is no message", text: `{"level":"info"}\n${FRAME}\n`, noise: 1 },
    { from: "half a frame", text: `{"jsonrpc":"2.0","method":\n${FRAME}\n`, noise: 1 },
    { from: "two frames on one line", text: `${FRAME}${FRAME}\n${FRAME}\n`, noise: 1 },
    { from: "200 log lines", text: `${"log line\n".repeat(200)}${FRAME}\n`, noise: 200 },
    { from: "NUL bytes before the frame", text: `\0\0${FRAME}\n`, noise: 0 },
    { from: "a title sequence with BEL", text: `\u001B]0;ready\u0007${FRAME}\n`, noise: 0 },
    { from: "a title sequence with ESC \\", text: `\u001B]0;ready\u001B\\${FRAME}\n`, noise: 0 },
    { from: "a colour", text: `\u001B[32m${FRAME}\n`, noise: 0 },
    { from: "several escapes", text: `\u001B[?25l\u001B[1;38;5;12m\u001B]2;x\u0007 ${FRAME}\n`, noise: 0 },
    { from: "a byte order mark", text: `\uFEFF${FRAME}\n`, noise: 0 },
    { from: "blanks", text: ` \t${FRAME}\n`, noise: 0 },
    { from: "a banner without a line end", text: `ready> ${FRAME}\n`, noise: 0 },
    { from: "a colour and a banner", text: `\u001B[32mready\u001B[0m ${FRAME}\n`, noise: 0 },
    { from: "CRLF", text: `${FRAME}\r\n`, noise: 0 },
    { from: "blanks behind the frame", text: `${FRAME}  \t\r\n`, noise: 0 },
    { from: "no final newline (case C13 b)", text: FRAME, noise: 0 },
    { from: "no final newline, CR", text: `${FRAME}\r`, noise: 0 },
    { from: "an escape alone", text: `\u001B[0m\n${FRAME}\n`, noise: 1 },
    { from: "a cut line at the end", text: `${FRAME}\n{"jsonrpc":"2.0","id":1`, noise: 1 },
    { from: "nothing", text: "", noise: 0, frames: [] },
    { from: "a frame that a log line quotes", text: `sent ${FRAME} to the agent\n${FRAME}\n`, noise: 1 },
  ])("$from", ({ text, noise, frames = [READ] }) => {
    expect(read([text])).toMatchObject({ frames, noise, oversize: 0 });
  });
});

test("what counts as a message: a method, or an id that is there", () => {
  const lines = ['{"id":1}', '{"id":null}', '{"id":"a","result":{}}', '{"method":7}', '{"result":{}}', "{}"];
  expect(read([lines.join("\n")])).toMatchObject({
    frames: [{ id: 1 }, { id: null }, { id: "a", result: {} }],
    noise: 3,
  });
});

test("the first five noise lines are kept, cut", () => {
  const { sample, noise } = read([`${"n".repeat(1000)}\n2\n3\n4\n5\n6\n7\n`], 4096);
  expect(noise).toBe(7);
  expect(sample).toEqual(["n".repeat(200), "2", "3", "4", "5"]);
});

describe("split anywhere", () => {
  const text = "汉😀é\u2028";
  const line = Buffer.from(`{"jsonrpc":"2.0","method":"${text}"}\n`);

  test.each(Array.from({ length: line.length + 1 }, (_, at) => ({ at })))("two pieces, cut at byte $at", ({ at }) => {
    expect(read([line.subarray(0, at), line.subarray(at)]).frames).toEqual([{ jsonrpc: "2.0", method: text }]);
  });

  test("a byte at a time", () => {
    expect(read(Array.from(line, (byte) => Buffer.from([byte]))).frames).toEqual([{ jsonrpc: "2.0", method: text }]);
  });

  test("whatever the pieces are, the frames are the same (fast-check)", () => {
    const frame = fc.record({ method: fc.string({ unit: "binary" }), params: fc.jsonValue({ maxDepth: 2 }) });
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 6 }),
        fc.constantFrom("\n", "\r\n", "\n\n"),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 60 }),
        (frames, lineEnd, sizes) => {
          const bytes = Buffer.from(
            frames.map((body) => JSON.stringify({ jsonrpc: "2.0", ...body }) + lineEnd).join(""),
          );
          const chunks: Uint8Array[] = [];
          let at = 0;
          for (let n = 0; at < bytes.length; n += 1) {
            const size = sizes[n % sizes.length] ?? 1;
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          const expected: unknown = JSON.parse(JSON.stringify(frames.map((body) => ({ jsonrpc: "2.0", ...body }))));
          expect(read(chunks, 1 << 20)).toMatchObject({ frames: expected, noise: 0 });
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("a line over the bound", () => {
  const long = `{"jsonrpc":"2.0","method":"${"x".repeat(2000)}"}`;

  test.each<{ from: string; chunks: readonly string[]; frames: number; oversize: number }>([
    {
      from: "no line end, many pieces",
      chunks: ["y".repeat(600), "y".repeat(600), "y".repeat(600)],
      frames: 0,
      oversize: 1,
    },
    { from: "no line end, one piece", chunks: ["y".repeat(1025)], frames: 0, oversize: 1 },
    { from: "exactly at the bound", chunks: ["y".repeat(1024)], frames: 0, oversize: 0 },
    { from: "nothing is read afterwards", chunks: ["y".repeat(1025), `\n${FRAME}\n`], frames: 0, oversize: 1 },
    { from: "frames before it count", chunks: [`${FRAME}\n`, "y".repeat(1025)], frames: 1, oversize: 1 },
    {
      from: "many short lines in one large piece are fine",
      chunks: [`${FRAME}\n`.repeat(100)],
      frames: 100,
      oversize: 0,
    },
    {
      from: "a frame that comes in pieces",
      chunks: [long.slice(0, 900), long.slice(900, 1800), `${long.slice(1800)}\n`],
      frames: 0,
      oversize: 1,
    },
  ])("$from", ({ chunks, frames, oversize }) => {
    const reading = read(chunks);
    expect({ frames: reading.frames.length, oversize: reading.oversize }).toEqual({ frames, oversize });
  });
});

test("hostile lines cost linear time", () => {
  const lines = [
    "\u001B]".repeat(20_000),
    "\u001B[".repeat(20_000),
    "{".repeat(50_000),
    '{"jsonrpc"'.repeat(5_000),
    " ".repeat(100_000),
  ];
  const startedAt = cpuMs();
  const { noise } = read([lines.join("\n")], 1 << 24);
  expect(noise).toBe(lines.length);
  expect(cpuMs() - startedAt).toBeLessThan(1000);
});
