import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { setImmediate as delivered } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Connection, DeadlineExceeded, RpcError } from "../../src/acp/connection.ts";
import type { RpcAnswer } from "../../src/acp/connection.ts";
import { rejectionOf } from "./drive.ts";

/** A connection whose other side is the test: what it wrote, and a way to answer. */
function connect() {
  let written = "";
  const stdin = new Writable({
    write: (chunk, _encoding, done) => {
      written += String(chunk);
      done();
    },
  });
  const stdout = new PassThrough();
  stdin.on("error", () => {});
  const heard: string[] = [];
  const connection: Connection = new Connection({
    stdin,
    stdout,
    lineBytes: 4096,
    onNotification: (method, params) => heard.push(`notification ${method} ${JSON.stringify(params)}`),
    onRequest: (id, method) => {
      heard.push(`request ${JSON.stringify(id)} ${method}`);
      if (method === "known") connection.respond(id, { fine: true });
      else connection.refuse(id, -32601, `Method not found: ${method}`);
    },
    onEnd: (reason) => heard.push(`end ${reason}`),
    onWriteFailed: () => heard.push("write failed"),
  });
  return {
    connection,
    stdin,
    stdout,
    heard,
    /** What the agent says. */
    say: (frame: object) => stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`),
    /** What it was told since the last look. */
    told: (): unknown[] => {
      const lines = written.split("\n").filter(Boolean);
      written = "";
      return lines.map((line): unknown => JSON.parse(line));
    },
  };
}

describe("requests", () => {
  test("ids count up, and each answer settles its own", async () => {
    const { connection, say, told } = connect();
    const one = connection.request("a", { x: 1 });
    const two = connection.request("b", {});
    expect(told()).toEqual([
      { jsonrpc: "2.0", id: 1, method: "a", params: { x: 1 } },
      { jsonrpc: "2.0", id: 2, method: "b", params: {} },
    ]);
    say({ id: 2, result: "second" });
    say({ id: 1, result: "first" });
    expect(await Promise.all([one, two])).toEqual(["first", "second"]);
  });

  test.each<{ from: string; answer: object; expected: object }>([
    {
      from: "an error with data",
      answer: { error: { code: -32603, message: "Internal error", data: { why: 1 } } },
      expected: { code: -32603, message: "Internal error", data: { why: 1 } },
    },
    { from: "an error that is a text", answer: { error: "boom" }, expected: { code: undefined } },
    {
      from: "an error with a code that is a text",
      answer: { error: { code: "E1", message: 5 } },
      expected: { code: undefined, message: "" },
    },
    {
      from: "an error and a result",
      answer: { result: {}, error: { code: 1, message: "m" } },
      expected: { code: 1, message: "m" },
    },
  ])("$from rejects", async ({ answer, expected }) => {
    const { connection, say } = connect();
    const asked = rejectionOf(connection.request("a", {}));
    say({ id: 1, ...answer });
    const error = await asked;
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject(expected);
  });

  test.each<{ from: string; answer: object; expected: unknown }>([
    { from: "null beside a null error", answer: { result: null, error: null }, expected: null },
    { from: "no result at all", answer: {}, expected: undefined },
    { from: "false", answer: { result: false }, expected: false },
  ])("$from is a result", async ({ answer, expected }) => {
    const { connection, say } = connect();
    const asked = connection.request("a", {});
    say({ id: 1, ...answer });
    expect(await asked).toBe(expected);
  });

  test("the answer is delivered with its frame, before the frame behind it", async () => {
    const { connection, stdout, heard } = connect();
    connection.send("a", {}, {}, () => heard.push("answered"));
    stdout.write(
      '{"jsonrpc":"2.0","method":"before"}\n{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","method":"after"}\n',
    );
    await delivered();
    expect(heard).toEqual(["notification before {}", "answered", "notification after {}"]);
  });

  test.each([{ id: "1" }, { id: 7 }, { id: null }, { id: 1.5 }])(
    "an answer with id $id is nobody's",
    async ({ id }) => {
      const { connection, say } = connect();
      const answers: RpcAnswer[] = [];
      connection.send("a", {}, {}, (answer) => answers.push(answer));
      say({ id, result: {} });
      await delivered();
      expect(answers).toEqual([]);
      expect(connection.strayFrames).toBe(1);
    },
  );

  test("the hand-over is told once the line has left", async () => {
    const { connection, told } = connect();
    const { promise, resolve } = Promise.withResolvers<void>();
    connection.send("a", {}, { onHandedOver: resolve }, () => {});
    await promise;
    expect(told()).toHaveLength(1);
  });
});

describe("deadlines", () => {
  test("a request that is not answered in time", async () => {
    const { connection } = connect();
    const error = await rejectionOf(connection.request("session/new", {}, { deadlineMs: 10 }));
    expect(error).toBeInstanceOf(DeadlineExceeded);
    expect(error).toMatchObject({ method: "session/new", budgetMs: 10 });
    expect(error.message).toBe("session/new was not answered within 0.01 s");
  });

  test("the late answer goes to whoever still wants it, once", async () => {
    const { connection, say } = connect();
    const late: unknown[] = [];
    await rejectionOf(connection.request("a", {}, { deadlineMs: 5, onLate: (result) => late.push(result) }));
    say({ id: 1, result: { sessionId: "s1" } });
    say({ id: 1, result: { sessionId: "s1" } });
    await delivered();
    expect(late).toEqual([{ sessionId: "s1" }]);
    expect(connection.strayFrames).toBe(1);
  });

  test.each([
    { from: "an error", frame: { id: 1, error: { code: 1, message: "no" } }, stray: 0 },
    { from: "an answer nobody wants", frame: { id: 2, result: {} }, stray: 1 },
  ])("$from that comes late is dropped", async ({ frame, stray }) => {
    const { connection, say } = connect();
    const late: unknown[] = [];
    const asked = [
      rejectionOf(connection.request("a", {}, { deadlineMs: 5, onLate: (result) => late.push(result) })),
      rejectionOf(connection.request("b", {}, { deadlineMs: 5 })),
    ];
    await Promise.all(asked);
    say(frame);
    await delivered();
    expect({ late, stray: connection.strayFrames }).toEqual({ late: [], stray });
  });

  test("an answer in time stops the clock", async () => {
    const { connection, say } = connect();
    const first = connection.request("a", {}, { deadlineMs: 300 });
    say({ id: 1, result: "in time" });
    expect(await first).toBe("in time");
    const second = await rejectionOf(connection.request("b", {}, { deadlineMs: 350 }));
    expect(second).toMatchObject({ method: "b" });
  });
});

describe("the end", () => {
  test("rejects everything pending and everything after, with the first reason", async () => {
    const { connection, told } = connect();
    const reason = new Error("gone");
    const pending = [1, 2, 3].map((n) => rejectionOf(connection.request(`m${n}`, {}, { deadlineMs: 60_000 })));
    connection.close(reason);
    connection.close(new Error("later"));
    expect(await Promise.all(pending)).toEqual([reason, reason, reason]);
    told();
    expect(await rejectionOf(connection.request("after", {}))).toBe(reason);
    expect(told()).toEqual([]);
  });

  test("a last line without a newline is read before the end is told (case C13 b)", async () => {
    const { connection, stdout, heard } = connect();
    connection.send("a", {}, {}, (answer) => heard.push(JSON.stringify(answer)));
    stdout.end('{"jsonrpc":"2.0","id":1,"result":"last"}');
    await once(stdout, "close");
    expect(heard).toEqual(['{"result":"last"}', "end end"]);
  });

  test("a line over the bound is told", async () => {
    const { stdout, heard } = connect();
    stdout.write("x".repeat(5000));
    await delivered();
    expect(heard).toEqual(["end oversize"]);
  });

  test("a write that fails is told and throws nothing; later ones are dropped", async () => {
    const { connection, stdin, heard, told } = connect();
    stdin._write = (_chunk, _encoding, done) => done(new Error("EPIPE"));
    connection.notify("a", {});
    await delivered();
    connection.notify("b", {});
    connection.respond(1, {});
    expect({ heard, told: told() }).toEqual({ heard: ["write failed"], told: [] });
  });
});

describe("requests of the agent", () => {
  test.each<{ from: string; id: string | number }>([
    { from: "a UUID (kiro v2)", id: "6f0f1f52-0000-4000-8000-000000000001" },
    { from: "zero (kiro V3)", id: 0 },
    { from: "a number that we use too", id: 1 },
    { from: "a fraction", id: 1.5 },
    { from: "an empty text", id: "" },
  ])("$from: the id goes back as it came", async ({ id }) => {
    const { connection, say, told } = connect();
    const ours = connection.request("ours", {});
    told();
    say({ id, method: "known", params: {} });
    say({ id, method: "_foo/bar" });
    await delivered();
    expect(told()).toEqual([
      { jsonrpc: "2.0", id, result: { fine: true } },
      { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found: _foo/bar" } },
    ]);
    say({ id: 1, result: "still ours" });
    expect(await ours).toBe("still ours");
  });

  test("without an id, or with null, it is a notification; params that are no object are none", async () => {
    const { say, heard } = connect();
    say({ method: "a" });
    say({ method: "b", id: null, params: [1] });
    say({ method: "c", params: { x: 1 } });
    await delivered();
    expect(heard).toEqual(["notification a {}", "notification b {}", 'notification c {"x":1}']);
  });
});

test.each([{ id: { n: 1 } }, { id: [1] }, { id: true }])(
  "a request whose id is none is answered as JSON-RPC says: $id",
  async ({ id }) => {
    const { say, told, heard } = connect();
    say({ method: "a", id });
    await delivered();
    expect(heard).toEqual([]);
    expect(told()).toEqual([expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32600 }) })]);
  },
);

test("noise is counted, never answered", async () => {
  const { connection, stdout, told, heard } = connect();
  stdout.write("hello\n42\n{}\n");
  await delivered();
  expect({ noise: connection.noiseLines, told: told(), heard }).toEqual({ noise: 3, told: [], heard: [] });
});
