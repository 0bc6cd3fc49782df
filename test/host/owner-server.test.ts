/** The socket of an owner, with real sockets and processes: what it answers, who may ask, and that nobody can hurt it. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startTimeOf } from "../../src/acp/processes.ts";
import { callOwner } from "../../src/host/owner-client.ts";
import { InvalidParams, requiredText } from "../../src/host/owner-protocol.ts";
import { OwnerServer } from "../../src/host/owner-server.ts";
import { listOwners, removeStaleSockets, socketPathOf } from "../../src/host/owner-socket.ts";
import { Owned } from "../../src/host/ownership.ts";
import { ostlerPaths } from "../../src/host/paths.ts";
import { openStore } from "../../src/host/store.ts";
import type { Store } from "../../src/host/store.ts";
import { thisProcess } from "../../src/acp/this-process.ts";
import { startActor } from "./actors.ts";

let home: string;
let store: Store;
let server: OwnerServer;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "ostler-owner-"));
  store = openStore(ostlerPaths({ OSTLER_HOME: home }));
  server = await OwnerServer.open(store);
});
afterEach(async () => {
  await server.close();
  store.close();
  rmSync(home, { recursive: true, force: true });
});

function claimNew(): Owned {
  const owned = store.claim(store.create({ name: null, cwd: "/work", backend: "demo" }).id);
  if (owned instanceof Owned) return owned;
  throw new Error("Busy");
}

const identityOf = (pid: number) => ({ ...thisProcess(), pid, startedAt: startTimeOf(pid) ?? "" });
const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Descriptors of this process that hold a folder of sockets open. */
function openSocketFolders(below: string): string[] {
  return readdirSync("/proc/self/fd")
    .map((fd) => join("/proc/self/fd", fd))
    .flatMap((link) => (existsSync(link) ? [readlinkSync(link)] : []))
    .filter((target) => target.startsWith(join(below, "state", "sockets")));
}

/** A connection that has been accepted. */
async function connected(): Promise<Socket> {
  const socket = connect(server.path);
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** What the server answers to these bytes until it hangs up or the client has nothing more to say. */
async function answersTo(bytes: string | Buffer): Promise<unknown[]> {
  const socket = await connected();
  socket.end(bytes);
  const lines = (await text(socket)).split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

const alive = () => callOwner(server.path, "ping");
const errorOf = (code: number, message: string, id: string | number | null = null) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

test("ping says who answers and what it owns", async () => {
  expect(await alive()).toEqual({
    pid: process.pid,
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    conversations: [],
  });
  using owned = claimNew();
  expect(await alive()).toMatchObject({ conversations: [owned.record.id] });
});

test("wait answers when the conversation is released, and at once for one that is not owned here", async () => {
  const owned = claimNew();
  const order: string[] = [];
  const waiting = callOwner(server.path, "wait", { conversation: owned.record.id }).then(() => order.push("waited"));
  expect(await callOwner(server.path, "wait", { conversation: "another" })).toEqual({});
  order.push("released");
  owned.release();
  await waiting;
  expect(order).toEqual(["released", "waited"]);
});

test("a command of later adds its method; what it throws is told without secrets", async () => {
  server.handle("cancel", (params) => ({ cancelled: requiredText(params, "conversation") }));
  server.handle("backends/resume", () => {
    throw new Error("No: OPENAI_API_KEY=sk-1234567890abcdefghijkl in /home/joe/x");
  });
  server.handle("nothing", () => undefined);
  expect(await callOwner(server.path, "cancel", { conversation: "c1" })).toEqual({ cancelled: "c1" });
  expect(await callOwner(server.path, "nothing")).toBeNull();
  await expect(callOwner(server.path, "backends/resume", { backend: "kiro" })).rejects.toMatchObject({
    reason: "refused",
    code: -32000,
    message: `Ostler process ${process.pid} says: No: OPENAI_API_KEY=[redacted] in ~/x`,
  });
  // It is scrubbed before it leaves the owner, not only by who reads it.
  expect(await answersTo('{"id":1,"method":"backends/resume"}\n')).toEqual([
    errorOf(-32000, "No: OPENAI_API_KEY=[redacted] in ~/x", 1),
  ]);
  await expect(callOwner(server.path, "cancel")).rejects.toMatchObject({
    code: -32602,
    message: `Ostler process ${process.pid} says: "conversation" must be a text that is not empty`,
  });
});

test("a handler hears that its caller went away", async () => {
  const began = Promise.withResolvers<AbortSignal>();
  server.handle("steer", (_, { signal }) => {
    began.resolve(signal);
    return once(signal, "abort");
  });
  const leave = new AbortController();
  const call = callOwner(server.path, "steer", {}, { signal: leave.signal });
  const signal = await began.promise;
  const aborted = once(signal, "abort");
  leave.abort(new Error("gone"));
  await expect(call).rejects.toThrow("gone");
  await aborted;
});

test("a second server of one process is an error that leaves the first one alone", async () => {
  await expect(OwnerServer.open(store)).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(await alive()).toMatchObject({ pid: process.pid });
});

test("a folder that cannot be made is the system's error", async () => {
  await server.close();
  rmSync(join(home, "state", "sockets"), { recursive: true });
  writeFileSync(join(home, "state", "sockets"), "");
  await expect(OwnerServer.open(store)).rejects.toMatchObject({ code: "ENOTDIR" });
});

test("closing hangs up on who waits, and removes the socket", async () => {
  using owned = claimNew();
  const waiting = callOwner(server.path, "wait", { conversation: owned.record.id });
  await alive();
  await Promise.all([expect(waiting).rejects.toMatchObject({ reason: "closed" }), server.close()]);
  expect(existsSync(server.path)).toBe(false);
  await expect(alive()).rejects.toMatchObject({
    reason: "gone",
    message: `Ostler process ${process.pid} does not listen any more`,
  });
});

describe("what is sent badly is answered and hurts nobody", () => {
  const unknown = errorOf(-32601, "Unknown method", 1);
  const notAnObject = errorOf(-32600, "A line must be one JSON object");
  test.each<{ from: string; bytes: string | Buffer; answers: unknown[] }>([
    { from: "no JSON", bytes: "GET / HTTP/1.1\r\n\r\n", answers: [errorOf(-32700, "A line must be one JSON object")] },
    {
      from: "binary",
      bytes: Buffer.from([0, 255, 254, 0, 10]),
      answers: [errorOf(-32700, "A line must be one JSON object")],
    },
    { from: "a number", bytes: "5\n", answers: [notAnObject] },
    { from: "null", bytes: "null\n", answers: [notAnObject] },
    { from: "a batch", bytes: '[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', answers: [notAnObject] },
    { from: "no id", bytes: '{"method":"ping"}\n', answers: [errorOf(-32600, "A request needs an id")] },
    {
      from: "an id of null",
      bytes: '{"id":null,"method":"ping"}\n',
      answers: [errorOf(-32600, "A request needs an id")],
    },
    {
      from: "an id that is an object",
      bytes: '{"id":{},"method":"ping"}\n',
      answers: [errorOf(-32600, "A request needs an id")],
    },
    { from: "no method", bytes: '{"id":1}\n', answers: [errorOf(-32600, "A request needs a method", 1)] },
    {
      from: "a method that is a list",
      bytes: '{"id":1,"method":[]}\n',
      answers: [errorOf(-32600, "A request needs a method", 1)],
    },
    {
      from: "params that are a list",
      bytes: '{"id":1,"method":"ping","params":[1]}\n',
      answers: [errorOf(-32602, "Params must be an object", 1)],
    },
    {
      from: "params that are null",
      bytes: '{"id":1,"method":"ping","params":null}\n',
      answers: [errorOf(-32602, "Params must be an object", 1)],
    },
    { from: "an unknown method", bytes: '{"id":1,"method":"nope"}\n', answers: [unknown] },
    {
      from: "the name of something every object has",
      bytes: '{"id":1,"method":"constructor"}\n{"id":1,"method":"__proto__"}\n',
      answers: [unknown, unknown],
    },
    {
      from: "a conversation that is a number",
      bytes: '{"id":1,"method":"wait","params":{"conversation":7}}\n',
      answers: [errorOf(-32602, '"conversation" must be a text that is not empty', 1)],
    },
    { from: "empty lines", bytes: "\n \r\n\n", answers: [] },
    { from: "a line without an end", bytes: '{"id":1,"method":"ping"}', answers: [] },
    {
      from: "a hundred mistakes: ten are answered",
      bytes: "x\n".repeat(100),
      answers: Array.from({ length: 10 }, () => errorOf(-32700, "A line must be one JSON object")),
    },
    {
      from: "an object as deep as a line allows",
      bytes: `${"[".repeat(100_000)}\n`,
      answers: [errorOf(-32700, "A line must be one JSON object")],
    },
  ])("$from", async ({ bytes, answers }) => {
    expect(await answersTo(bytes)).toEqual(answers);
    expect(await alive()).toMatchObject({ pid: process.pid });
  });

  test("a client that makes ten mistakes is hung up on", async () => {
    await server.close();
    server = await OwnerServer.open(store, { idleMs: 60_000 });
    const socket = await connected();
    const heard = text(socket);
    socket.write("x\n".repeat(9));
    expect(await alive()).toMatchObject({ pid: process.pid });
    expect(socket.readableEnded).toBe(false);
    socket.write("x\n");
    expect((await heard).split("\n").filter(Boolean)).toHaveLength(10);
  });

  test("two requests in one write, one request in two that cut a letter", async () => {
    server.handle("echo", (params) => params);
    const line = '{"id":"é","method":"echo","params":{"text":"ü😀"}}\n';
    expect(await answersTo(line + line.replace("é", "2"))).toMatchObject([
      { id: "é" },
      { id: "2", result: { text: "ü😀" } },
    ]);
    const socket = await connected();
    const bytes = Buffer.from(line);
    const middle = bytes.indexOf("é") + 1;
    socket.write(bytes.subarray(0, middle));
    // The server has read the first half when it answers somebody who came later.
    await alive();
    socket.write(bytes.subarray(middle));
    socket.end();
    expect(JSON.parse(await text(socket))).toMatchObject({ id: "é", result: { text: "ü😀" } });
  });

  test("a line without end: said once, then hung up", async () => {
    const socket = await connected();
    const heard = text(socket);
    const megabyte = Buffer.alloc(1024 * 1024, "x");
    while (!socket.destroyed && socket.writable) {
      const drained = Promise.race([once(socket, "drain"), once(socket, "close")]);
      if (!socket.write(megabyte)) await drained.catch(() => {});
    }
    expect(await heard.catch(() => "")).toMatch(/^($|\{.*A line has at most 1048576 characters.*\}\n$)/);
    expect(await alive()).toMatchObject({ pid: process.pid });
  });

  test("more requests at once than one connection may have", async () => {
    using owned = claimNew();
    const wait = JSON.stringify({ id: 1, method: "wait", params: { conversation: owned.record.id } });
    const socket = await connected();
    socket.write(`${wait}\n`.repeat(33));
    const [bytes] = await once(socket, "data");
    expect(JSON.parse(String(bytes))).toEqual(errorOf(-32001, "Too many requests at once", 1));
  });

  test("200 connections that say nothing leave room for one that asks", async () => {
    const silent = await Promise.all(Array.from({ length: 200 }, connected));
    expect(await alive()).toMatchObject({ pid: process.pid });
    for (const socket of silent) socket.destroy();
  });

  test("more connections than there is room for are hung up on, the first ones stay", async () => {
    const first = await connected();
    await Promise.all(Array.from({ length: 300 }, connected));
    first.write('{"id":1,"method":"ping"}\n');
    const [answer] = await once(first, "data");
    expect(JSON.parse(String(answer))).toMatchObject({ id: 1, result: { pid: process.pid } });
  });

  test("a client that does not read its answers does not make the owner keep them", async () => {
    const dropped = Promise.withResolvers<void>();
    server.handle("long", (_, { signal }) => {
      signal.addEventListener("abort", () => dropped.resolve());
      return "x".repeat(500_000);
    });
    const socket = await connected();
    socket.pause();
    socket.write('{"id":1,"method":"long"}\n'.repeat(30));
    await dropped.promise;
    expect(await alive()).toMatchObject({ pid: process.pid });
  });

  test("a connection that says nothing, or half a line, is closed after a while; one that waits is not", async () => {
    await server.close();
    // As long as a busy machine may take from a connection to its first line.
    server = await OwnerServer.open(store, { idleMs: 500 });
    using owned = claimNew();
    const waiting = await connected();
    waiting.write(`{"id":1,"method":"wait","params":{"conversation":"${owned.record.id}"}}\n`);
    const silent = await connected();
    const half = await connected();
    half.write('{"id":1,"meth');
    await Promise.all([once(silent, "close"), once(half, "close")]);
    owned.release();
    const [answer] = await once(waiting, "data");
    expect(JSON.parse(String(answer))).toMatchObject({ id: 1, result: {} });
  });

  test("clients that hang up in the middle of everything", async () => {
    using owned = claimNew();
    for (let round = 0; round < 50; round += 1) {
      const socket = await connected();
      socket.write(`{"id":1,"method":"wait","params":{"conversation":"${owned.record.id}"}}\n{"id":2,"met`);
      socket.destroy();
    }
    expect(await alive()).toMatchObject({ pid: process.pid });
  });
});

test("only this user may connect: the socket is 0600 in folders of 0700", () => {
  const folders = [dirname(server.path), dirname(dirname(server.path)), join(home, "state")];
  expect([server.path, ...folders].map(mode)).toEqual(["600", "700", "700", "700"]);
});

test.runIf(process.getuid?.() === 0)("another user is refused by the mode of the socket alone", () => {
  for (const folder of [home, join(home, "state"), dirname(dirname(server.path)), dirname(server.path)])
    chmodSync(folder, 0o755);
  const script = `require("node:net").connect(${JSON.stringify(server.path)}).on("error",(e)=>console.log(e.code)).on("connect",()=>process.exit(1))`;
  const attempt = (uid: number) =>
    spawnSync("/usr/bin/env", ["node", "-e", script], { uid, gid: uid, encoding: "utf8" });
  expect(attempt(65_534)).toMatchObject({ stdout: "EACCES\n", status: 0 });
  expect(attempt(0)).toMatchObject({ stdout: "", status: 1 });
});

test.each([
  { from: "an address with room to spare", depth: 0 },
  { from: "a state folder deeper than an address is long", depth: 150 },
  { from: "a state folder of 300 bytes, with letters of two bytes", depth: 300 },
])("$from", async ({ depth }) => {
  const deep = join(home, "deep", ...Array.from({ length: Math.ceil(depth / 100) }, () => "é".repeat(50)));
  const there = ostlerPaths({ OSTLER_HOME: deep });
  using deepStore = openStore(there);
  const deepServer = await OwnerServer.open(deepStore);
  expect(statSync(deepServer.path).mode & 0o777).toBe(0o600);
  expect(await callOwner(deepServer.path, "ping")).toMatchObject({ pid: process.pid });
  expect(openSocketFolders(deep)).toHaveLength(depth === 0 ? 0 : 1);
  expect(listOwners(there)).toEqual([{ pid: process.pid, path: deepServer.path }]);
  await deepServer.close();
  expect(listOwners(there)).toEqual([]);
  expect(openSocketFolders(deep)).toEqual([]);
});

test("an owner that is stopped makes a call end with a sentence", async () => {
  const owner = await startActor({ home });
  await owner.tell("serve");
  owner.child.kill("SIGSTOP");
  const [path = ""] = listOwners(store.paths).flatMap((socket) => (socket.pid === owner.pid ? [socket.path] : []));
  await expect(callOwner(path, "ping", {}, { timeoutMs: 200 })).rejects.toMatchObject({
    reason: "timeout",
    message: `Ostler process ${owner.pid} did not answer within 0.2 s; it may be stopped or very busy`,
  });
});

test.each<{ from: string; answer: string; reason: string; message: string }>([
  { from: "words", answer: "hello\n", reason: "unreadable", message: "answered in a form this version cannot read" },
  { from: "neither result nor error", answer: '{"id":1}\n', reason: "unreadable", message: "answered in a form" },
  {
    from: "an error without a code",
    answer: '{"id":1,"error":"no"}\n',
    reason: "unreadable",
    message: "answered in a form",
  },
  {
    from: "too much",
    answer: "x".repeat(1_100_000),
    reason: "unreadable",
    message: "answered with a line that is too long",
  },
  { from: "nothing", answer: "", reason: "closed", message: "hung up without an answer" },
])("a listener that answers with $from is no owner we can use", async ({ answer, reason, message }) => {
  const path = join(home, "7-1.sock");
  const other = createServer((socket) => socket.on("error", () => {}).end(answer)).listen(path);
  onTestFinished(() => void other.close());
  await once(other, "listening");
  await expect(callOwner(path, "ping")).rejects.toMatchObject({ reason, message: expect.stringContaining(message) });
});

test.each([
  { from: "no socket", make: () => {} },
  { from: "a file", make: (path: string) => writeFileSync(path, "") },
  { from: "a folder", make: (path: string) => mkdirSync(path) },
])("where an owner should listen is $from", async ({ make }) => {
  const path = join(home, "7-1.sock");
  make(path);
  await expect(callOwner(path, "ping")).rejects.toMatchObject({
    reason: "gone",
    message: "Ostler process 7 does not listen any more",
  });
});

test("sockets of the dead are removed by the next start, those of the living and of other systems stay", async () => {
  const owner = await startActor({ home });
  await owner.tell("serve");
  const living = await startActor({ home });
  await living.tell("serve");
  await owner.kill();
  const own = dirname(server.path);
  const foreign = join(dirname(own), "00000000-1", "4-4.sock");
  mkdirSync(dirname(foreign), { recursive: true });
  writeFileSync(foreign, "");
  writeFileSync(join(own, "notes.txt"), "");
  writeFileSync(join(own, `${process.pid}-1.sock`), "");
  expect(readdirSync(own)).toHaveLength(5);
  removeStaleSockets(store.paths);
  expect(new Set(readdirSync(own))).toEqual(
    new Set(["notes.txt", basename(server.path), basename(socketPathOf(store.paths, identityOf(living.pid)))]),
  );
  expect(lstatSync(foreign).isFile()).toBe(true);
  expect(new Set(listOwners(store.paths).map(({ pid }) => pid))).toEqual(new Set([process.pid, living.pid]));
});

test("a server, its waiters and an owned conversation keep no process alive", async () => {
  const script = `
    import { openStore } from "./src/host/store.ts";
    import { OwnerServer } from "./src/host/owner-server.ts";
    import { ostlerPaths } from "./src/host/paths.ts";
    const store = openStore(ostlerPaths({ OSTLER_HOME: process.argv[1] }));
    await OwnerServer.open(store);
    store.claim(store.create({ name: null, cwd: "/", backend: "demo" }).id);
    console.log("done");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, home], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await text(child.stdout)).toBe("done\n");
});

test("bad params can be told apart by their class", () => {
  expect(() => requiredText({ backend: "" }, "backend")).toThrow(InvalidParams);
  expect(socketPathOf(store.paths, thisProcess())).toBe(server.path);
});
