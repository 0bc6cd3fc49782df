/** Whatever pieces the words come in, however sessions are mixed and records repeated: the same transcript. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { SessionEvent, SessionEventBody } from "../../../src/acp/events.ts";
import { isObject } from "../../../src/acp/frames.ts";
import type { WireEntry } from "../../../src/acp/ports.ts";
import { emptyTranscript } from "../../../src/acp/transcript/placement.ts";
import { reduceTranscript } from "../../../src/acp/transcript/reduce.ts";
import { replayWire } from "../../../src/acp/transcript/replay-wire.ts";
import type { Transcript } from "../../../src/acp/transcript/transcript.ts";
import { backendFor } from "../../../src/backends/registry.ts";
import { linesOf } from "./describe.ts";
import { wireOf } from "./replayed.ts";
import { diff, ended, failure, prints, reduced, started, superseded, text, thought, told, tool, user } from "./told.ts";

const RUNS = { numRuns: 200 };
const id = fc.constantFrom("a", "b", "c");
const words = fc.string({ maxLength: 12 });
const own: fc.Arbitrary<SessionEventBody> = fc.oneof(
  fc.tuple(words, fc.option(id, { nil: undefined })).map(([said, messageId]) => text(said, messageId)),
  words.map(thought),
  fc
    .tuple(id, fc.constantFrom("pending", "in_progress", "completed", "failed"), fc.option(id, { nil: undefined }))
    .map(([toolCallId, status, parent]) =>
      tool(toolCallId, { status, ...(parent !== undefined && parent !== toolCallId && { parentToolCallId: parent }) }),
    ),
  fc.tuple(id, words).map(([toolCallId, data]) => prints(toolCallId, data)),
  fc.tuple(id, id, words).map(([toolCallId, path, now]) => diff(toolCallId, path, now)),
  fc.tuple(id, fc.integer({ min: 1, max: 4 })).map(([failureId, revision]) => failure(failureId, revision)),
  id.map(superseded),
  fc.constant<SessionEventBody>({ type: "plan", entries: [{ content: "x", status: "pending" }] }),
);
const inSubagent: fc.Arbitrary<SessionEventBody> = fc.tuple(id, own).map(([subagentId, event]) => {
  if (event.type === "user" || event.type === "turn") throw new Error("A subagent tells neither");
  return { type: "subagent", subagentId: `s-${subagentId}`, event };
});
const bodies = fc.array(fc.oneof({ weight: 4, arbitrary: own }, inSubagent), { maxLength: 40 });
const turn: fc.Arbitrary<SessionEvent[]> = fc
  .tuple(fc.constantFrom("t1", "t2", "t3"), bodies)
  .map(([turnId, events]) => [started, user("Go"), ...events, ended()].map((event) => told(event, turnId)));
const session = fc.array(turn, { maxLength: 4 }).map((turns) => turns.flat());

/** Without how many events it took. */
function seen(transcript: Transcript): unknown {
  return { lines: linesOf(transcript), state: transcript.state, size: transcript.book.size };
}

/** The same words in pieces of these lengths. */
function inPieces(event: SessionEvent, lengths: readonly number[]): SessionEvent[] {
  const { event: body, ...source } = event;
  if (body.type === "subagent" && "event" in body) {
    return inPieces({ ...source, event: body.event }, lengths).map(({ event: piece }) => {
      if (piece.type === "user" || piece.type === "turn") throw new Error("A subagent tells neither");
      return { ...source, event: { ...body, event: piece } };
    });
  }
  if (body.type === "terminal") return cut(body.data, lengths).map((data) => ({ ...source, event: { ...body, data } }));
  const isWords = (body.type === "text" && !("superseded" in body)) || body.type === "thought";
  if (!isWords) return [event];
  return cut(body.text, lengths).map((piece) => ({ ...source, event: { ...body, text: piece } }));
}

function cut(whole: string, lengths: readonly number[]): string[] {
  const pieces: string[] = [];
  let left = whole;
  for (const length of lengths) {
    pieces.push(left.slice(0, length));
    left = left.slice(length);
  }
  return [...pieces, left];
}

test("any chunking of words and output", () => {
  const lengths = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 6 });
  fc.assert(
    fc.property(session, lengths, (events, pieces) => {
      expect(seen(reduced(events.flatMap((event) => inPieces(event, pieces))))).toEqual(seen(reduced(events)));
    }),
    RUNS,
  );
});

test("any chunking of what is too long to be kept", () => {
  const limits = { entries: 5, chars: 600 };
  const long = fc.array(fc.tuple(id, fc.string({ minLength: 20, maxLength: 200 })), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(long, fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 8 }), (messages, pieces) => {
      const events = messages.map(([messageId, said]) => told(text(said, messageId)));
      const whole = reduced(events, limits);
      expect(
        seen(
          reduced(
            events.flatMap((event) => inPieces(event, pieces)),
            limits,
          ),
        ),
      ).toEqual(seen(whole));
    }),
    RUNS,
  );
});

test("records that come twice, or after a newer one", () => {
  fc.assert(
    fc.property(session, fc.array(fc.nat(), { maxLength: 10 }), (events, picks) => {
      const noisy: SessionEvent[] = [];
      let newest = new Map<string, SessionEvent>();
      for (const [at, event] of events.entries()) {
        noisy.push(event);
        if (event.event.type === "failure") newest = new Map([...newest, [event.event.failure.id, event]]);
        // Each of them is at or below a revision that was told.
        for (const pick of picks) if (pick % 7 === at % 7) noisy.push(...[...newest.values()].slice(0, 1));
      }
      expect(seen(reduced(noisy))).toEqual(seen(reduced(events)));
    }),
    RUNS,
  );
});

test("any interleaving of sessions", () => {
  fc.assert(
    fc.property(session, session, fc.array(fc.boolean(), { maxLength: 200 }), (one, other, order) => {
      const mixed = interleaved(one, other, order);
      const transcripts: [Transcript, Transcript] = [emptyTranscript(), emptyTranscript()];
      for (const [which, event] of mixed) transcripts[which] = reduceTranscript(transcripts[which], event);
      expect(transcripts.map(seen)).toEqual([one, other].map((events) => seen(reduced(events))));
    }),
    RUNS,
  );
});

function interleaved<Item>(one: readonly Item[], other: readonly Item[], order: readonly boolean[]): [0 | 1, Item][] {
  const rest: [Item[], Item[]] = [[...one], [...other]];
  const mixed: [0 | 1, Item][] = [];
  const take = (which: 0 | 1): void => {
    const item = rest[which].shift();
    if (item !== undefined) mixed.push([which, item]);
  };
  for (const isOther of order) take(isOther ? 1 : 0);
  for (const which of [0, 1] as const) while (rest[which].length > 0) take(which);
  return mixed;
}

test("any interleaving of the frames of two processes in one log each, and of their sessions", () => {
  const logs = (["bash-allow", "subagent-ok"] as const).map((name) => wireOf("claude", "air", name));
  const backend = backendFor("claude");
  const alone = logs.map((entries) => [...replayWire(entries, backend).values()].map(seen));
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 80 }), (order) => {
      // Requests of the two are told apart by their ids, as one process would.
      const [one = [], other = []] = logs.map((entries, index) => entries.flatMap((entry) => numbered(entry, index)));
      const mixed = interleaved(one, other, order).map(([, entry]) => entry);
      expect([...replayWire(mixed, backend).values()].map(seen)).toHaveLength(2);
      const both = [...replayWire(mixed, backend)].map(([, transcript]) => JSON.stringify(seen(transcript)));
      expect(both.toSorted()).toEqual(
        alone
          .flat()
          .map((one) => JSON.stringify(one))
          .toSorted(),
      );
    }),
    { numRuns: 30 },
  );
});

function numbered(entry: WireEntry, log: number): WireEntry[] {
  if (entry.dir === "exit") return [];
  if (entry.dir === "stderr") return [entry];
  const { frame } = entry;
  if (!isObject(frame) || frame["id"] === undefined) return [entry];
  return [{ ...entry, frame: { ...frame, id: `${log}-${JSON.stringify(frame["id"])}` } }];
}
