import { expect, test } from "vitest";
import type { RunEntry } from "../../src/failures/run-lines.ts";
import { HeldEntries } from "../../src/host/held-entries.ts";

const frame = (text: string) => ({
  method: "session/update",
  params: { update: { sessionUpdate: "agent_message_chunk", content: { text } } },
});
const piece = (text: string): RunEntry => ({ d: "in", frame: frame(text) });
const other = (id: number): RunEntry => ({ d: "out", frame: { id, method: "session/prompt" } });

test("of a long answer the newest pieces are held, between everything else in its order", () => {
  const held = new HeldEntries();
  held.add(other(1), 40);
  for (let n = 0; n < 10_000; n += 1) held.addPiece(frame(String(n)), 100);
  held.add(other(2), 40);
  const taken = held.take().map(({ entry }) => entry);
  expect(taken.length).toBeLessThan(600);
  expect(taken.at(0)).toEqual(other(1));
  expect(taken.at(-1)).toEqual(other(2));
  expect(taken.at(-2)).toEqual(piece("9999"));
  expect(held.dropped + taken.length).toBe(10_002);
  expect(held.take()).toEqual([]);
});

test("a piece of 64 KiB is not held: nothing is observed from it", () => {
  const held = new HeldEntries();
  held.addPiece(frame("x".repeat(65_536)), 65_600);
  expect(held.take()).toEqual([]);
  expect(held.dropped).toBe(1);
});

test("what is no piece is bounded too, the oldest first", () => {
  const held = new HeldEntries();
  for (let n = 0; n < 100_000; n += 1) held.add(other(n), 40);
  const taken = held.take().map(({ entry }) => entry);
  expect(taken.length).toBeLessThan(10_000);
  expect(taken.at(-1)).toEqual(other(99_999));
});
