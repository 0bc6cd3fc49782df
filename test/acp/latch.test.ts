import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TypedSessionFailure } from "../../src/acp/air/session-failure.ts";
import { RecordLatch } from "../../src/acp/latch.ts";

/** `A1` is revision 1 of id A, an error; `A1w` a warning. */
function record(name: string, category = "service"): TypedSessionFailure {
  const [, id = "", revision = "", warning = ""] = /^([A-Z]+)(\d+)(w?)$/.exec(name) ?? [];
  return {
    id,
    revision: Number(revision),
    category,
    severity: warning === "" ? "error" : "warning",
    title: name,
    actions: [],
    unknownActions: [],
  };
}

describe("a sequence of records", () => {
  test.each<{ from: string; records: string; told: string; active: string | undefined }>([
    {
      from: "row 15: a duplicate does not bring an older incident back",
      records: "A1 B1 A1",
      told: "new new stale",
      active: "B1",
    },
    { from: "row 16", records: "A2 A1", told: "new stale", active: "A2" },
    { from: "row 17", records: "A1w A2 A3w", told: "new updated updated", active: undefined },
    { from: "row 18: reordered", records: "A2w A1", told: "new stale", active: undefined },
    { from: "a warning and its error share an id", records: "A1w A2", told: "new updated", active: "A2" },
    { from: "the same state twice", records: "A1 A1", told: "new stale", active: "A1" },
    { from: "a newer state of an older incident", records: "A1 B1 A2", told: "new new updated", active: "A2" },
    {
      from: "a downgrade of an incident that is not active",
      records: "A1 B1 A2w",
      told: "new new updated",
      active: "B1",
    },
    {
      from: "a downgrade leaves nothing, not the one before",
      records: "A1 B1 B2w",
      told: "new new updated",
      active: undefined,
    },
    { from: "a warning of its own", records: "A1 B1w", told: "new new", active: "A1" },
    { from: "an error again after its downgrade", records: "A1 A2w A3", told: "new updated updated", active: "A3" },
  ])("$from", ({ records, told, active }) => {
    const latch = new RecordLatch();
    expect(
      records
        .split(" ")
        .map((name) => latch.accept(record(name)))
        .join(" "),
    ).toBe(told);
    expect(latch.active?.title).toBe(active);
  });
});

describe("turns", () => {
  test("what was known before cannot fail the turn that begins", () => {
    const latch = new RecordLatch();
    latch.accept(record("A1"));
    latch.beginTurn();
    expect(latch.active?.title).toBe("A1");
    expect(latch.raisedError).toBeUndefined();
    latch.accept(record("A1"));
    expect(latch.raisedError).toBeUndefined();
  });

  test("row 36: a higher revision is raised again", () => {
    const latch = new RecordLatch();
    latch.accept(record("A1"));
    latch.beginTurn();
    latch.accept(record("A2"));
    expect(latch.raisedError?.title).toBe("A2");
  });

  test("a warning raised in the turn is no error of it", () => {
    const latch = new RecordLatch();
    latch.beginTurn();
    latch.accept(record("A1w"));
    expect(latch.raisedError).toBeUndefined();
    expect(latch.raised.map(({ title }) => title)).toEqual(["A1w"]);
  });

  test("an older active error is not the turn's, though the turn raised another that was downgraded", () => {
    const latch = new RecordLatch();
    latch.accept(record("A1"));
    latch.beginTurn();
    latch.accept(record("B1"));
    latch.accept(record("B2w"));
    expect(latch.raisedError).toBeUndefined();
  });

  test.each([
    { category: "service", left: undefined },
    { category: "limit", left: undefined },
    { category: "connection", left: undefined },
    { category: "access", left: "A1" },
  ])("success with output ends $category, but no missing login", ({ category, left }) => {
    const latch = new RecordLatch();
    latch.accept(record("A1", category));
    latch.succeed();
    expect(latch.active?.title).toBe(left);
  });

  test("a success does not make an old state new", () => {
    const latch = new RecordLatch();
    latch.accept(record("A1"));
    latch.succeed();
    expect(latch.accept(record("A1"))).toBe("stale");
    expect(latch.active).toBeUndefined();
  });
});

/** Letters only, so that `record` reads it: A, B, ..., BA, BB, ... */
function idOf(n: number): string {
  const last = String.fromCharCode(65 + (n % 26));
  return n < 26 ? last : idOf(Math.floor(n / 26)) + last;
}

describe("row 55: 10,000 ids", () => {
  test("the map stays bounded and keeps the ids of the running turn", () => {
    const latch = new RecordLatch();
    for (let n = 0; n < 10_000; n += 1) latch.accept(record(`${idOf(n)}1`));
    latch.beginTurn();
    const mine = ["MINEA3", "MINEB3", "MINEC3"];
    for (const name of mine) latch.accept(record(name));
    for (let n = 10_000; n < 10_200; n += 1) latch.accept(record(`${idOf(n)}1`));
    expect(latch.size).toBeLessThanOrEqual(256);
    for (const name of mine) expect(latch.accept(record(name.replace("3", "2")))).toBe("stale");
  });

  test("also when one turn raises them all; the newest error stays active", () => {
    const latch = new RecordLatch();
    latch.beginTurn();
    for (let n = 0; n < 10_000; n += 1) latch.accept(record(`${idOf(n)}1`));
    expect(latch.size).toBeLessThanOrEqual(256);
    expect(latch.active?.id).toBe(idOf(9999));
    expect(latch.raisedError?.id).toBe(idOf(9999));
  });

  test("an active error survives thousands of warnings", () => {
    const latch = new RecordLatch();
    latch.accept(record("A1"));
    for (let n = 1; n < 1000; n += 1) latch.accept(record(`${idOf(n)}1w`));
    expect(latch.active?.title).toBe("A1");
    expect(latch.size).toBeLessThanOrEqual(256);
  });
});

test("whatever arrives: the newest state of each id wins, in any order (fast-check)", () => {
  const states = fc.array(
    fc.record({ id: fc.constantFrom("A", "B", "C"), revision: fc.integer({ min: 1, max: 5 }), warning: fc.boolean() }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(states, (sequence) => {
      const latch = new RecordLatch();
      const newest = new Map<string, number>();
      for (const { id, revision, warning } of sequence) {
        const isStale = revision <= (newest.get(id) ?? 0);
        const told = latch.accept(record(`${id}${revision}${warning ? "w" : ""}`));
        expect(told === "stale").toBe(isStale);
        if (!isStale) newest.set(id, revision);
        const { active } = latch;
        expect(active === undefined || active.revision === newest.get(active.id)).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});
