import { expect, test } from "vitest";
import { readRawError } from "../../src/errors/raw.ts";

test.each([
  { from: "nothing", value: undefined, expected: { message: "", text: "" } },
  { from: "null", value: null, expected: { message: "", text: "" } },
  { from: "a number", value: 7, expected: { message: "", text: "" } },
  { from: "a string", value: "It failed", expected: { message: "It failed", text: "It failed" } },
  { from: "an Error", value: new Error("It failed"), expected: { message: "It failed", text: "It failed" } },
  {
    from: "a JSON-RPC error",
    value: { code: -32603, message: "Internal error", data: "The reason" },
    expected: { code: -32603, message: "Internal error", data: "The reason", text: "The reason" },
  },
  {
    from: "a whole JSON-RPC response",
    value: { jsonrpc: "2.0", id: 3, error: { code: -32000, message: "Authentication required" } },
    expected: { code: -32000, message: "Authentication required", text: "Authentication required" },
  },
  {
    from: "fetch: the reason stands in the cause",
    value: new TypeError("fetch failed", {
      cause: Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" }),
    }),
    expected: {
      message: "fetch failed: connect ECONNREFUSED 127.0.0.1:1",
      text: "fetch failed: connect ECONNREFUSED 127.0.0.1:1",
    },
  },
  {
    from: "an errno that the message does not name",
    value: Object.assign(new Error("write failed"), { code: "EPIPE" }),
    expected: { message: "write failed: EPIPE", text: "write failed: EPIPE" },
  },
  {
    from: "an HTTP status as code",
    value: { code: 429, message: "Slow down" },
    expected: { message: "Slow down", status: 429, text: "Slow down" },
  },
  {
    from: "an HTTP client's error",
    value: Object.assign(new Error("Bad"), { status: 503 }),
    expected: { message: "Bad", status: 503, text: "Bad" },
  },
])("$from", ({ value, expected }) => {
  expect(readRawError(value)).toEqual(expected);
});

test.each([
  [
    "codex, data.message",
    { code: -32603, message: "Internal error", data: { message: "Quota exceeded." } },
    "Quota exceeded.",
  ],
  [
    "kiro, envelope",
    { code: -32603, message: "Internal error", data: "Encountered an error in the response stream: Gone" },
    "Gone",
  ],
  [
    "claude, prefix",
    { code: -32603, message: "Internal error: API Error: 500 Oops", data: { errorKind: "server_error" } },
    "API Error: 500 Oops",
  ],
  [
    "both say something",
    { code: -32603, message: "Internal error: rate limit", data: { details: "resets 8pm" } },
    "rate limit: resets 8pm",
  ],
  [
    "a whole sentence needs no details",
    { code: -32600, message: "In use. Close it.", data: { details: "thread x" } },
    "In use. Close it.",
  ],
  [
    "a JSON body",
    { code: -32603, message: '{"error":{"message":"Bad value.","type":"invalid_request_error"}}' },
    "Bad value.",
  ],
  [
    "words before a JSON body",
    { code: -32603, message: 'Request failed: {"message":"Bad value."}' },
    "Request failed: Bad value.",
  ],
  [
    "words before a JSON body without words",
    { code: -32603, message: 'Request failed {"type":"x"}' },
    "Request failed",
  ],
  [
    "a structure without words",
    { code: -32603, message: "Internal error", data: { codexErrorInfo: "other" } },
    "Internal error",
  ],
  [
    "a list of checks",
    { code: -32602, message: "Invalid params", data: { _errors: [], cwd: { _errors: ["expected string"] } } },
    "Invalid params",
  ],
  [
    "codex, coloured stderr of its child",
    { code: 1001, message: "The Codex app-server was killed.\n\u001B[2m2026\u001B[0m ERROR noise" },
    "The Codex app-server was killed.",
  ],
])("text to show: %s", (_from, value, text) => {
  expect(readRawError(value).text).toBe(text);
});

test("what it reads may be hostile", () => {
  const cycle: Record<string, unknown> = { message: "round" };
  cycle["cause"] = cycle;
  cycle["data"] = cycle;
  expect(readRawError(cycle).text).toBe("round");

  const throwing = Object.defineProperty({ code: -32603 }, "message", {
    enumerable: true,
    get: () => {
      throw new Error("no");
    },
  });
  expect(readRawError(throwing)).toMatchObject({ code: -32603, message: "" });
  const inData = { code: -32603, message: "Internal error", data: throwing };
  expect(readRawError(inData).text).toBe("Internal error");

  let deep: Record<string, unknown> = { message: "the bottom" };
  for (let depth = 0; depth < 100; depth++) deep = { cause: deep };
  expect(readRawError(deep).message).toBe("");
  expect(readRawError({ message: "x", data: new Proxy({}, { ownKeys: () => ["a"] }) }).text).toBe("x");
  expect(readRawError({ message: "y".repeat(1_000_000) }).message.length).toBeLessThan(20_000);
});
