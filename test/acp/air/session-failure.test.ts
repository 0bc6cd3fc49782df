import { describe, expect, test } from "vitest";
import {
  TYPED_SESSION_FAILURE_CLIENT_CAPABILITY,
  readSessionFailure,
  readTypedSessionFailure,
  supersedesTypedSessionFailure,
} from "../../../src/acp/air/session-failure.ts";
import type { TypedSessionFailure } from "../../../src/acp/air/session-failure.ts";
import { initializeParams } from "../../../src/acp/negotiate.ts";
import { backendFor } from "../../../src/backends/registry.ts";

const RECORD = {
  id: "t1:error",
  revision: 1,
  category: "service",
  severity: "error",
  title: "x",
  actions: ["retry"],
};
const M = (sessionFailure: unknown, version: unknown = 1): unknown => ({
  jetbrains: { air: { version, sessionFailure } },
});
const without = (key: string): unknown => Object.fromEntries(Object.entries(RECORD).filter(([name]) => name !== key));
const kindOf = (meta: unknown): string => readSessionFailure(meta).kind;

/** A copy with a getter that throws. */
function trap(target: object, key: string): object {
  return Object.defineProperty({ ...target }, key, {
    enumerable: true,
    get: () => {
      throw new Error("no");
    },
  });
}

function read(fields: object): TypedSessionFailure {
  const record = readTypedSessionFailure(M({ ...RECORD, ...fields }));
  if (record === undefined) throw new Error("The record was not read");
  return record;
}

describe("the envelope", () => {
  test.each<{ from: string; meta: unknown; kind: string }>([
    { from: "row 1, undefined", meta: undefined, kind: "none" },
    { from: "row 1, null", meta: null, kind: "none" },
    { from: "row 1, empty", meta: {}, kind: "none" },
    { from: "row 1, another namespace", meta: { quota: {} }, kind: "none" },
    { from: "row 1, an empty vendor", meta: { jetbrains: {} }, kind: "none" },
    { from: "row 1, a list for air", meta: { jetbrains: { air: [] } }, kind: "none" },
    { from: "row 1, a list for the vendor", meta: { jetbrains: [{ air: {} }] }, kind: "none" },
    { from: "a text for the vendor", meta: { jetbrains: "air" }, kind: "none" },
    { from: "a list for the whole", meta: [M(RECORD)], kind: "none" },
    { from: "air without a record", meta: { jetbrains: { air: { version: 1 } } }, kind: "none" },
    { from: "air of a newer version without a record", meta: { jetbrains: { air: { version: 9 } } }, kind: "none" },
    { from: "row 2, undefined", meta: M(undefined), kind: "none" },
    { from: "row 2, null", meta: M(null), kind: "none" },
    { from: "row 3, a text", meta: M("text"), kind: "unusable" },
    { from: "row 3, a list", meta: M([]), kind: "unusable" },
    { from: "a number", meta: M(0), kind: "unusable" },
    { from: "false", meta: M(false), kind: "unusable" },
    { from: "row 4", meta: M(RECORD), kind: "ok" },
    { from: "row 5, version 0", meta: M(RECORD, 0), kind: "unusable" },
    { from: "row 5, version 1.5", meta: M(RECORD, 1.5), kind: "unusable" },
    { from: 'row 5, version "1"', meta: M(RECORD, "1"), kind: "unusable" },
    { from: "row 5, version NaN", meta: M(RECORD, Number.NaN), kind: "unusable" },
    { from: "row 5, no version", meta: { jetbrains: { air: { sessionFailure: RECORD } } }, kind: "unusable" },
    { from: "a negative version", meta: M(RECORD, -1), kind: "unusable" },
    { from: "row 6", meta: M(RECORD, 2), kind: "unusable" },
    { from: "an inherited namespace", meta: Object.create({ jetbrains: { air: {} } }), kind: "none" },
  ])("$from is $kind", ({ meta, kind }) => {
    expect(kindOf(meta)).toBe(kind);
  });
});

describe("the record", () => {
  test.each<{ from: string; fields: object; kind: string }>([
    { from: "row 7, an empty id", fields: { id: "" }, kind: "unusable" },
    { from: "row 7, a number for an id", fields: { id: 7 }, kind: "unusable" },
    { from: "row 7, 257 characters", fields: { id: "i".repeat(257) }, kind: "unusable" },
    { from: "256 characters", fields: { id: "i".repeat(256) }, kind: "ok" },
    { from: "a newline in the id", fields: { id: "a\nb" }, kind: "unusable" },
    { from: "DEL in the id", fields: { id: "a\u007F" }, kind: "unusable" },
    { from: 'row 8, "3"', fields: { revision: "3" }, kind: "unusable" },
    { from: "row 8, 1.5", fields: { revision: 1.5 }, kind: "unusable" },
    { from: "row 8, 0", fields: { revision: 0 }, kind: "unusable" },
    { from: "row 8, -1", fields: { revision: -1 }, kind: "unusable" },
    { from: "row 8, 2^53", fields: { revision: 2 ** 53 }, kind: "unusable" },
    { from: "2^53 - 1", fields: { revision: 2 ** 53 - 1 }, kind: "ok" },
    { from: "row 9, an empty category", fields: { category: "" }, kind: "unusable" },
    { from: "row 9, a number for a category", fields: { category: 5 }, kind: "unusable" },
    { from: "65 characters of category", fields: { category: "c".repeat(65) }, kind: "unusable" },
    { from: "row 11, title null", fields: { title: null }, kind: "unusable" },
    { from: "row 11, title 7", fields: { title: 7 }, kind: "unusable" },
    { from: "row 11, an empty title", fields: { title: "" }, kind: "ok" },
    { from: "row 12, details 5", fields: { details: 5 }, kind: "unusable" },
    { from: "details that are a list", fields: { details: [] }, kind: "unusable" },
    { from: 'row 13, actions "retry"', fields: { actions: "retry" }, kind: "unusable" },
    { from: "actions that are an object", fields: { actions: { 0: "retry" } }, kind: "unusable" },
    { from: "actions null", fields: { actions: null }, kind: "unusable" },
    { from: "fields of tomorrow", fields: { phase: "run", nested: { deep: [1] } }, kind: "ok" },
  ])("$from is $kind", ({ fields, kind }) => {
    expect(kindOf(M({ ...RECORD, ...fields }))).toBe(kind);
  });

  test.each(["id", "revision", "category", "title", "actions"])("rows 7-13: without %s it is unusable", (key) => {
    expect(kindOf(M(without(key)))).toBe("unusable");
  });

  test.each([
    { from: "row 9, a category of tomorrow", category: "sandbox_revoked" },
    { from: "row 9, other letters", category: "Service" },
    { from: "row 19, a name of every object", category: "constructor" },
    { from: "blanks", category: " limit " },
  ])("$from is kept verbatim", ({ category }) => {
    expect(read({ category }).category).toBe(category);
  });

  test.each<{ from: string; severity: unknown; expected: string }>([
    { from: "row 10, absent", severity: undefined, expected: "error" },
    { from: "row 10, fatal", severity: "fatal", expected: "error" },
    { from: "row 10, 5", severity: 5, expected: "error" },
    { from: "row 10, warning", severity: "warning", expected: "warning" },
    { from: "other letters", severity: "Warning", expected: "error" },
    { from: "null", severity: null, expected: "error" },
  ])("severity: $from is $expected", ({ severity, expected }) => {
    expect(read({ severity }).severity).toBe(expected);
  });

  test("row 12: details null counts as absent, a text is kept", () => {
    expect("details" in read({ details: null })).toBe(false);
    expect("details" in read({})).toBe(false);
    expect(read({ details: "why" }).details).toBe("why");
  });

  test.each<{ from: string; reason: unknown; expected: string | undefined }>([
    { from: "a word", reason: "billing_error", expected: "billing_error" },
    { from: "128 characters", reason: "r".repeat(128), expected: "r".repeat(128) },
    { from: "129 characters", reason: "r".repeat(129), expected: undefined },
    { from: "a number", reason: 4, expected: undefined },
  ])("reason: $from", ({ reason, expected }) => {
    expect(read({ reason }).reason).toBe(expected);
  });

  test.each<{ from: string; actions: readonly unknown[]; known: readonly string[]; unknown: readonly string[] }>([
    {
      from: "row 14",
      actions: ["retry", "teleport", "retry", "login"],
      known: ["retry", "login"],
      unknown: ["teleport"],
    },
    { from: "none", actions: [], known: [], unknown: [] },
    {
      from: "the order of the harness",
      actions: ["new_session", "retry"],
      known: ["new_session", "retry"],
      unknown: [],
    },
    { from: "things that are no words", actions: [null, 1, {}, "login"], known: ["login"], unknown: [] },
    { from: "other letters", actions: ["Retry"], known: [], unknown: ["Retry"] },
    {
      from: "more unknown ones than are kept",
      actions: ["a", "b", "c", "d", "e", "f", "g", "h", "i", "retry"],
      known: ["retry"],
      unknown: ["a", "b", "c", "d", "e", "f", "g", "h"],
    },
  ])("actions: $from", ({ actions, known, unknown }) => {
    const record = read({ actions });
    expect(record.actions).toEqual(known);
    expect(record.unknownActions).toEqual(unknown);
  });

  test("row 19: names of every object are plain strings and pollute nothing", () => {
    const parsed: unknown = JSON.parse(
      '{"jetbrains":{"air":{"version":1,"sessionFailure":{"id":"__proto__","revision":1,"category":"constructor","severity":"error","title":"x","actions":[],"__proto__":{"polluted":true}}}}}',
    );
    const record = readTypedSessionFailure(parsed);
    expect(record).toMatchObject({ id: "__proto__", category: "constructor" });
    expect("polluted" in {}).toBe(false);
    expect(record !== undefined && "polluted" in record).toBe(false);
  });

  test.each<{ of: string; meta: unknown }>([
    { of: "the vendor", meta: trap({}, "jetbrains") },
    { of: "the namespace", meta: { jetbrains: trap({}, "air") } },
    { of: "the version", meta: { jetbrains: { air: trap({ sessionFailure: RECORD }, "version") } } },
    { of: "the record", meta: { jetbrains: { air: trap({ version: 1 }, "sessionFailure") } } },
    { of: "a field", meta: M(trap(RECORD, "title")) },
  ])("row 20: a getter of $of that throws is unusable", ({ meta }) => {
    expect(kindOf(meta)).toBe("unusable");
  });

  test("inherited fields are not read", () => {
    expect(kindOf(M(Object.create(RECORD)))).toBe("unusable");
  });

  test("a getter is run once: what was checked is what is kept", () => {
    let runs = 0;
    const meta = M(
      Object.defineProperty({ ...RECORD }, "title", {
        enumerable: true,
        get: () => ((runs += 1) === 1 ? "x" : 7),
      }),
    );
    expect(readTypedSessionFailure(meta)?.title).toBe("x");
    expect(runs).toBe(1);
  });

  test("what is returned is frozen and independent of the frame", () => {
    const frame = { ...RECORD, actions: ["retry"] };
    const record = readTypedSessionFailure(M(frame));
    frame.actions.push("login");
    expect(record?.actions).toEqual(["retry"]);
    expect(Object.isFrozen(record)).toBe(true);
    expect(Object.isFrozen(record?.actions)).toBe(true);
  });

  test("the reading says why it failed, without the content", () => {
    const reading = readSessionFailure(M({ ...RECORD, title: "sk-ant-SECRETSECRET", actions: "x" }));
    expect(reading).toEqual({ kind: "unusable", why: "actions is not a list" });
  });
});

describe("supersedes, with the meaning of seed document 001", () => {
  test.each([
    { from: "nothing latched", latched: undefined, incoming: { id: "a", revision: 1 }, expected: true },
    { from: "the same again", latched: { id: "a", revision: 1 }, incoming: { id: "a", revision: 1 }, expected: false },
    {
      from: "a higher revision",
      latched: { id: "a", revision: 1 },
      incoming: { id: "a", revision: 2 },
      expected: true,
    },
    {
      from: "a lower revision",
      latched: { id: "a", revision: 2 },
      incoming: { id: "a", revision: 1 },
      expected: false,
    },
    { from: "another id", latched: { id: "a", revision: 9 }, incoming: { id: "b", revision: 1 }, expected: true },
  ])("$from: $expected", ({ latched, incoming, expected }) => {
    const record = latched === undefined ? undefined : read(latched);
    expect(supersedesTypedSessionFailure(record, read(incoming))).toBe(expected);
  });
});

describe("row 57: the capability stands beside other keys", () => {
  test("as a constant, frozen through and through", () => {
    expect(TYPED_SESSION_FAILURE_CLIENT_CAPABILITY).toEqual({
      jetbrains: { air: { version: 1, capabilities: ["sessionFailure"] } },
    });
    expect(Object.isFrozen(TYPED_SESSION_FAILURE_CLIENT_CAPABILITY)).toBe(true);
  });

  test.each<{ from: string; backend: ReturnType<typeof backendFor>; meta: object | undefined }>([
    {
      from: "another key of the backend",
      backend: { ...backendFor("agent"), capabilityMeta: { "terminal-auth": true } },
      meta: {
        jetbrains: { air: { version: 1, capabilities: expect.arrayContaining(["sessionFailure"]) } },
        "terminal-auth": true,
      },
    },
    {
      from: "air off in the config",
      backend: { ...backendFor("agent", { air: false }), capabilityMeta: { "terminal-auth": true } },
      meta: { "terminal-auth": true },
    },
    { from: "nothing to declare", backend: backendFor("agent", { air: false }), meta: undefined },
  ])("$from", ({ backend, meta }) => {
    const params = initializeParams(backend, "1.2.3");
    expect(params).toMatchObject({
      protocolVersion: 1,
      clientInfo: { name: "ostler", version: "1.2.3" },
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    expect(JSON.parse(JSON.stringify(params)).clientCapabilities._meta).toEqual(meta);
  });
});
