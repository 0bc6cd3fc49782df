/** The file of the store with real disks and damage, and what its rows say. */
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkSessionName } from "../../src/host/conversation-records.ts";
import { inspectStore } from "../../src/host/inspect-store.ts";
import { Owned } from "../../src/host/ownership.ts";
import { ostlerPaths } from "../../src/host/paths.ts";
import { StoreError } from "../../src/host/store-file.ts";
import { STORE_VERSION } from "../../src/host/store-schema.ts";
import { openStore } from "../../src/host/store.ts";
import type { Store } from "../../src/host/store.ts";
import { Actor, startActor } from "./actors.ts";

const CAN_MOUNT = canMount();
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ostler-store-"));
});
afterEach(() => {
  chmodSync(home, 0o700);
  rmSync(home, { recursive: true, force: true });
});

const state = (...names: string[]): string => join(home, "state", ...names);
const file = (): string => state("store.sqlite");
const cannot = (why: string): string => `The session store ${file()} cannot be used: ${why}`;
const open = (now?: () => number): Store =>
  openStore(ostlerPaths({ OSTLER_HOME: home }), now === undefined ? {} : { now });

/** Whether a process has a file open. */
function holdsOpen(pid: number, path: string): boolean {
  const fds = `/proc/${pid}/fd`;
  try {
    return readdirSync(fds).some((fd) => readlinkSync(join(fds, fd)) === path);
  } catch {
    return false;
  }
}

/** A disk of its own; throws where nothing may be mounted, as in most containers. */
function smallDisk(options: string): Disposable & { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "ostler-disk-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "none", folder], { encoding: "utf8" });
  if (status !== 0) {
    remove();
    throw new Error(`Cannot mount: ${stderr}`);
  }
  return {
    folder,
    [Symbol.dispose]: () => {
      spawnSync("umount", [folder]);
      remove();
    },
  };
}

function canMount(): boolean {
  try {
    using disk = smallDisk("size=64k");
    return disk.folder !== "";
  } catch {
    return false;
  }
}

/** A store with one conversation, closed again. */
function filled(): string {
  using store = open();
  return store.create({ name: "kept", cwd: "/work", backend: "demo" }).id;
}

function sentenceOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof StoreError) return error.message;
    throw error;
  }
  return "";
}

describe("the file", () => {
  test("is made with its folder, for this user alone, and so are the files beside it", () => {
    using store = open();
    store.create({ name: "a", cwd: "/work", backend: "demo" });
    const modes = readdirSync(state()).map((name) => [name, (statSync(state(name)).mode & 0o777).toString(8)]);
    expect(Object.fromEntries(modes)).toEqual({
      "store.sqlite": "600",
      "store.sqlite-shm": "600",
      "store.sqlite-wal": "600",
    });
    expect(statSync(state()).mode & 0o777).toBe(0o700);
  });

  test("that others could read is closed to them", () => {
    filled();
    chmodSync(file(), 0o644);
    chmodSync(state(), 0o755);
    open().close();
    expect([file(), state()].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700]);
  });

  test("keeps what was written, and says nothing", () => {
    const id = filled();
    using store = open();
    expect(store.notice).toBeUndefined();
    expect(store.list().map((record) => record.id)).toEqual([id]);
  });

  test("of a newer Ostler is refused and left as it is", () => {
    filled();
    const db = new DatabaseSync(file());
    db.exec(`PRAGMA user_version = ${STORE_VERSION + 3}`);
    db.close();
    const before = readFileSync(file());
    expect(sentenceOf(open)).toBe(
      `The session store ${file()} was written by a newer Ostler (version ${STORE_VERSION + 3}, this one knows ${STORE_VERSION}); update Ostler, or set OSTLER_HOME to another folder`,
    );
    expect(readFileSync(file()).equals(before)).toBe(true);
    expect(readdirSync(state())).toEqual(["store.sqlite"]);
  });

  test.each([
    { from: "nothing, as a full disk leaves it", content: "" },
    { from: "less than any database has", content: "x" },
  ])("of $from is a new store", ({ content }) => {
    mkdirSync(state());
    writeFileSync(file(), content);
    using store = open();
    expect({ notice: store.notice, list: store.list() }).toEqual({ notice: undefined, list: [] });
  });

  test.each<{ from: string; damage: () => void }>([
    { from: "no database", damage: () => writeFileSync(file(), "These are my notes.\n".repeat(100)) },
    { from: "cut in the middle", damage: () => truncateSync(file(), 4096 * 2) },
    { from: "pages of zeros", damage: () => overwrite(4096, Buffer.alloc(4096 * 3)) },
    { from: "pages of noise", damage: () => overwrite(4096, Buffer.alloc(4096 * 3, "noise")) },
  ])("that is damaged is set aside and said: $from", ({ damage }) => {
    filled();
    damage();
    const damaged = readFileSync(file());
    using store = open();
    const aside = readdirSync(state()).find((name) => name.includes("corrupt")) ?? "";
    expect(aside).toMatch(/^store\.sqlite\.corrupt-\d{4}-\d\d-\d\dT[\d-]+Z$/);
    expect(store.notice).toBe(`The session store was damaged and is kept as ${state(aside)}; a new one was begun`);
    expect(readFileSync(state(aside)).equals(damaged)).toBe(true);
    expect(store.list()).toEqual([]);
    store.create({ name: "new", cwd: "/work", backend: "demo" });
    using again = open();
    expect({ notice: again.notice, names: again.list().map(({ name }) => name) }).toEqual({
      notice: undefined,
      names: ["new"],
    });
  });

  test.each<{ from: string; statements: string }>([
    { from: "no version, and a table with the name of ours", statements: "CREATE TABLE conversations (a, b)" },
    { from: "no version, and tables of another name", statements: "CREATE TABLE notes (text)" },
    { from: "our version, and no table", statements: `PRAGMA user_version = ${STORE_VERSION}` },
    {
      from: "our version, and a table of another shape",
      statements: `CREATE TABLE conversations (id, name); CREATE TABLE tickets (id); PRAGMA user_version = ${STORE_VERSION}`,
    },
  ])("of another program is set aside and said: $from", async ({ statements }) => {
    mkdirSync(state());
    using another = new DatabaseSync(file());
    another.exec(statements);
    another.close();
    const before = readFileSync(file());
    expect(await inspectStore({ state: state() }, {})).toEqual([
      expect.objectContaining({
        ok: false,
        problem: expect.stringContaining("has tables that are not Ostler's: the next session sets it aside"),
      }),
    ]);
    using store = open();
    const aside = readdirSync(state()).find((name) => name.includes("foreign")) ?? "";
    expect(readFileSync(state(aside)).equals(before)).toBe(true);
    expect(store.notice).toBe(
      `The session store has tables that are not Ostler's and is kept as ${state(aside)}; a new one was begun`,
    );
    expect(store.create({ name: "new", cwd: "/work", backend: "demo" }).name).toBe("new");
    using again = open();
    expect({ notice: again.notice, names: again.list().map(({ name }) => name) }).toEqual({
      notice: undefined,
      names: ["new"],
    });
  });

  test("that is damaged is set aside once by four processes that find it so together", async () => {
    mkdirSync(state());
    writeFileSync(file(), "These are my notes.\n".repeat(100));
    const gate = new DatabaseSync(`${file()}-lock`);
    gate.exec("BEGIN EXCLUSIVE");
    const actors = Array.from({ length: 4 }, () => new Actor({ home }));
    for (const actor of actors) while (!holdsOpen(actor.pid, `${file()}-lock`)) await nextTurn();
    gate.close();
    const answers = await Promise.all(actors.map((actor) => actor.ready));
    expect(answers.filter(({ result }) => result?.notice !== null)).toHaveLength(1);
    expect(readdirSync(state()).filter((name) => name.includes("corrupt"))).toHaveLength(1);
    using store = open();
    const { id } = store.create({ name: "shared", cwd: "/work", backend: "demo" });
    const claims = await Promise.all(actors.map((actor) => actor.tell("claim", { id })));
    expect(claims.filter(({ result }) => result?.busy !== undefined)).toHaveLength(3);
    expect(claims.filter(({ result }) => result?.fence === 1)).toHaveLength(1);
  });

  test("is made once by four processes that start together", async () => {
    const actors = await Promise.all(Array.from({ length: 4 }, () => startActor({ home })));
    const notices = await Promise.all(actors.map(async (actor) => (await actor.tell("open")).result?.notice));
    expect(notices).toEqual(actors.map(() => null));
  });

  test("that another process is just making is waited for", () => {
    mkdirSync(state());
    using maker = new DatabaseSync(file());
    maker.exec("CREATE TABLE another (id); BEGIN IMMEDIATE");
    const begin = performance.now();
    expect(sentenceOf(() => openStore(ostlerPaths({ OSTLER_HOME: home }), { busyTimeoutMs: 200 }))).toContain(
      "is locked by another program; try again",
    );
    expect(performance.now() - begin).toBeGreaterThan(150);
  });
});

describe("what the disk refuses is one sentence", () => {
  test("a folder in place of the file", () => {
    mkdirSync(file(), { recursive: true });
    expect(sentenceOf(open)).toBe(cannot("a folder is in its place; move it away"));
  });

  test("a pipe in place of the file", async () => {
    mkdirSync(state());
    spawnSync("mkfifo", [file()]);
    expect(sentenceOf(open)).toBe(cannot("something that is no file is in its place; move it away"));
    expect(await inspectStore({ state: state() }, {})).toHaveLength(1);
  });

  test("tables that another program dropped while it was open", () => {
    using store = open();
    new DatabaseSync(file()).exec("DROP TABLE conversations");
    expect(sentenceOf(() => store.list())).toBe(
      `The session store ${file()} was changed by another program (no such table: conversations); start again`,
    );
  });

  test("a file in place of the state folder", () => {
    writeFileSync(state(), "");
    expect(sentenceOf(open)).toBe(
      cannot(
        "the folder or the file cannot be written (EEXIST); make it writable, or set OSTLER_HOME to another folder",
      ),
    );
  });

  test("a path that is too long", () => {
    const deep = join(home, ...Array.from({ length: 6 }, () => "x".repeat(100)));
    expect(sentenceOf(() => openStore(ostlerPaths({ OSTLER_HOME: deep })))).toBe(
      `The session store ${join(deep, "state/store.sqlite")} cannot be used: its path is too long; set OSTLER_HOME to a shorter one`,
    );
  });

  test("another process that writes for longer than we wait", () => {
    filled();
    using writer = new DatabaseSync(file());
    using store = openStore(ostlerPaths({ OSTLER_HOME: home }), { busyTimeoutMs: 50 });
    writer.exec("BEGIN IMMEDIATE");
    expect(sentenceOf(() => store.create({ name: "a", cwd: "/work", backend: "demo" }))).toBe(
      `The session store ${file()} is locked by another program; try again`,
    );
    writer.exec("ROLLBACK");
    expect(store.create({ name: "a", cwd: "/work", backend: "demo" }).name).toBe("a");
  });

  test("damage that happens while it is open", () => {
    using store = open();
    for (let index = 0; index < 200; index += 1) store.create({ name: `n${index}`, cwd: "/work", backend: "demo" });
    new DatabaseSync(file()).exec("PRAGMA wal_checkpoint(TRUNCATE)");
    overwrite(4096, Buffer.alloc(4096 * 10, "noise"));
    expect(sentenceOf(() => store.list())).toBe(
      `The session store ${file()} is damaged; the next start sets it aside and begins a new one`,
    );
  });
});

describe.runIf(process.getuid?.() === 0)("what the disk refuses to somebody who is not root", () => {
  const script = `
    import { openStore } from ${JSON.stringify(join(import.meta.dirname, "../../src/host/store.ts"))};
    try {
      const store = openStore({ state: process.argv[1] });
      for (let n = 0; ; n += 1) store.create({ name: "n" + n, cwd: "/" + "x".repeat(4000), backend: "demo" });
    } catch (error) {
      console.log(error.name + ": " + error.message);
    }`;

  /** The sentence that another user, or this one on a small disk, gets. */
  function attempt(folder: string, uid: number): string {
    const run = spawnSync(process.execPath, ["--input-type=module", "-e", script, folder], {
      uid,
      gid: uid,
      encoding: "utf8",
    });
    return run.stdout + run.stderr;
  }
  const unwritable = "make it writable, or set OSTLER_HOME to another folder\n";

  test("a file of another user", () => {
    chmodSync(home, 0o777);
    mkdirSync(state());
    const mine = spawnSync("chown", ["65534", state()]);
    expect(mine.status).toBe(0);
    writeFileSync(file(), "");
    expect(attempt(state(), 65_534)).toBe(
      `StoreError: The session store ${file()} cannot be used: it belongs to another user; set OSTLER_HOME to a folder of yours\n`,
    );
  });

  test("a folder that nobody may write", () => {
    chmodSync(home, 0o555);
    expect(attempt(state(), 65_534)).toBe(
      `StoreError: The session store ${file()} cannot be used: the folder or the file cannot be written (EACCES); ${unwritable}`,
    );
  });

  test.runIf(CAN_MOUNT)("a disk that is full", () => {
    using disk = smallDisk("size=256k");
    expect(attempt(disk.folder, 0)).toBe(
      `StoreError: The session store ${join(disk.folder, "store.sqlite")} cannot be written: the disk is full\n`,
    );
  });

  test.runIf(CAN_MOUNT)("a disk that is full for the files beside the store", () => {
    using disk = smallDisk("size=256k");
    writeFileSync(join(disk.folder, "ballast"), Buffer.alloc(248 * 1024));
    expect(attempt(disk.folder, 0)).toBe(
      `StoreError: The session store ${join(disk.folder, "store.sqlite")} cannot be written: the disk is full\n`,
    );
  });

  test.runIf(CAN_MOUNT)("a disk that is read only", () => {
    using disk = smallDisk("size=256k,ro");
    expect(attempt(disk.folder, 0)).toBe(
      `StoreError: The session store ${join(disk.folder, "store.sqlite")} cannot be used: the folder or the file cannot be written (EROFS); ${unwritable}`,
    );
  });
});

describe("conversations", () => {
  let now = 1000;
  let store: Store;
  beforeEach(() => {
    now = 1000;
    store = open(() => now);
  });
  afterEach(() => store.close());
  const make = (name: string | null, cwd = "/work", backend = "demo") => {
    now += 1;
    return store.create({ name, cwd, backend });
  };
  const use = (id: string): void => {
    now += 1;
    const owned = store.claim(id);
    if (!(owned instanceof Owned)) throw new Error("Busy");
    owned.beginTurn("t");
    owned.endTurn("t", "completed");
    owned.release();
  };

  test("a new one", () => {
    const record = store.create({
      name: "  fix login ",
      cwd: "/work",
      backend: "kiro",
      model: "m",
      profile: "kiro",
    });
    expect(record).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      name: "fix login",
      cwd: "/work",
      backend: "kiro",
      model: "m",
      profile: "kiro",
      sessionId: null,
      pastSessionIds: [],
      createdAt: 1000,
      usedAt: 1000,
      turns: 0,
    });
    expect(store.get(record.id)).toEqual(record);
    expect(store.find({ name: "fix login", cwd: "/work" })).toEqual(record);
    expect(store.find({ name: " fix login", cwd: "/other" })).toBeUndefined();
  });

  test("the same name in the same folder is the same one, elsewhere another; those without a name are all different", () => {
    const first = make("a");
    expect(make("a", "/work", "kiro")).toEqual(first);
    expect(make("a", "/other").id).not.toBe(first.id);
    expect(make(null).id).not.toBe(make(null).id);
    expect(store.list()).toHaveLength(4);
  });

  test("the list begins with the one used last", () => {
    const [a, b, c] = [make("a"), make("b"), make("c")];
    use(a.id);
    expect(store.list().map(({ name }) => name)).toEqual(["a", "c", "b"]);
    use(b.id);
    expect(store.list().map(({ id }) => id)).toEqual([b.id, a.id, c.id]);
  });

  test("the latest of a folder, named or not, of one backend or any", () => {
    const bound = (name: string | null, cwd = "/work", backend = "demo") => {
      now += 1;
      return store.create({ name, cwd, backend, sessionId: `s${now}` });
    };
    const named = bound("a");
    const unnamed = bound(null, "/work", "kiro");
    bound("z", "/other");
    make("no session yet");
    expect(store.latest({ cwd: "/work" })?.id).toBe(unnamed.id);
    expect(store.latest({ cwd: "/work", backend: "demo" })?.id).toBe(named.id);
    use(named.id);
    expect(store.latest({ cwd: "/work" })?.id).toBe(named.id);
    expect(store.latest({ cwd: "/work", backend: "codex" })).toBeUndefined();
    expect(store.latest({ cwd: "/nowhere" })).toBeUndefined();
  });

  test("earlier sessions are kept, the newest fifty, and a session bound twice is no change", () => {
    const owned = store.claim(make("a").id);
    if (!(owned instanceof Owned)) throw new Error("Busy");
    for (let index = 0; index < 60; index += 1) owned.bindSession(`s${index}`);
    owned.bindSession("s59");
    expect(owned.record.pastSessionIds).toHaveLength(50);
    expect(owned.record.pastSessionIds.at(-1)).toEqual({ sessionId: "s58", at: now, why: "replaced" });
    owned.bindSession(null, "closed");
    expect(owned.record).toMatchObject({ sessionId: null });
    expect(owned.record.pastSessionIds.at(-1)).toEqual({ sessionId: "s59", at: now, why: "closed" });
  });

  test("what people are shown is scrubbed before it is stored", () => {
    const secret = "sk-1234567890abcdefghijkl";
    const created = store.create({
      name: "a",
      cwd: "/work",
      backend: "mine",
      agent: `node /home/joe/agent.mjs --api-key ${secret}`,
      model: `m\u001B[31m\n${secret}`,
    });
    expect(created).toMatchObject({
      agent: "node ~/agent.mjs --api-key [redacted]",
      model: "m\u001B[31m\n[redacted]",
    });
    const owned = store.claim(created.id);
    if (!(owned instanceof Owned)) throw new Error("Busy");
    owned.bindSession("s1");
    owned.bindSession("s2", `password=${secret}\u0007 in /home/joe/x`);
    owned.beginTurn("t");
    owned.endTurn("t", `failed ${secret}`);
    owned.configure({ model: `x ${secret}`, agent: "node /home/joe/agent.mjs" });
    expect(owned.record).toMatchObject({
      pastSessionIds: [{ why: "password=[redacted] in ~/x" }],
      lastOutcome: "failed [redacted]",
      agent: "node /home/joe/agent.mjs",
      model: "x [redacted]",
    });
    store.close();
    const bytes = readdirSync(state()).map((name) => readFileSync(state(name), "latin1"));
    expect(bytes.filter((content) => content.includes(secret))).toEqual([]);
  });

  test("ten thousand are listed, found and used without a wait", () => {
    const db = new DatabaseSync(file());
    db.exec("BEGIN");
    const insert = db.prepare(
      "INSERT INTO conversations (id, name, cwd, backend, session_id, created_at, used_at) VALUES (?, ?, ?, 'demo', 's', ?, ?)",
    );
    for (let index = 0; index < 10_000; index += 1)
      insert.run(`id${index}`, `n${index}`, `/w${index % 10}`, index, index);
    db.exec("COMMIT");
    db.close();
    expect(store.list()).toHaveLength(10_000);
    expect(store.list()[0]?.id).toBe("id9999");
    expect(timed(() => store.list())).toBeLessThan(500);
    expect(timed(() => use("id5000"))).toBeLessThan(100);
    expect(store.latest({ cwd: "/w0" })?.id).toBe("id9990");
    const plan = new DatabaseSync(file()).prepare(
      "EXPLAIN QUERY PLAN SELECT * FROM conversations WHERE cwd = ? ORDER BY used_at DESC, rowid DESC LIMIT 1",
    );
    expect(plan.all("/w0").map(({ detail }) => detail)).toEqual([
      "SEARCH conversations USING INDEX conversations_by_folder (cwd=?)",
    ]);
    expect(timed(() => open().close())).toBeLessThan(500);
  });
});

describe("names", () => {
  test.each([
    { from: "a word", name: "fix", kept: "fix" },
    { from: "blanks around it", name: "  fix it  ", kept: "fix it" },
    { from: "other scripts and emoji", name: "修复 登录 🐴", kept: "修复 登录 🐴" },
    { from: "a path in the project", name: "src/host", kept: "src/host" },
    { from: "a hundred letters that are two units each", name: "🐴".repeat(100), kept: "🐴".repeat(100) },
  ])("good: $from", ({ name, kept }) => expect(checkSessionName(name)).toBe(kept));

  const invisible = "A session name must not hold line breaks, tabs or invisible characters";
  test.each([
    { from: "nothing", name: "", message: "A session name must not be empty" },
    { from: "blanks", name: " \t\n", message: "A session name must not be empty" },
    {
      from: "101 characters",
      name: "x".repeat(101),
      message: "A session name has at most 100 characters; this one has 101",
    },
    { from: "a line break", name: "a\nb", message: invisible },
    { from: "a tab", name: "a\tb", message: invisible },
    { from: "an escape sequence", name: "a\u001B[31mb", message: invisible },
    { from: "a null character", name: "a\0b", message: invisible },
    { from: "text that runs backwards", name: "a\u202Eb", message: invisible },
    { from: "half of a character", name: "a\uD83Db", message: invisible },
    {
      from: "a key",
      name: "sk-1234567890abcdefghijkl",
      message: "A session name must not hold a secret or a private path; it is shown in lists and logs",
    },
    {
      from: "a home folder",
      name: "/home/joe/x",
      message: "A session name must not hold a secret or a private path; it is shown in lists and logs",
    },
  ])("bad: $from", ({ name, message }) => {
    expect(() => checkSessionName(name)).toThrow(expect.objectContaining({ name: "UsageError", message }));
    using store = open();
    expect(() => store.create({ name, cwd: "/", backend: "demo" })).toThrow(message);
    expect(() => store.find({ name, cwd: "/" })).toThrow(message);
  });
});

/** Milliseconds of work; not of waiting, as other tests run at the same time. */
function timed(act: () => unknown): number {
  const begin = process.cpuUsage();
  act();
  return process.cpuUsage(begin).user / 1000;
}

function overwrite(at: number, bytes: Buffer): void {
  const fd = openSync(file(), "r+");
  writeSync(fd, bytes, 0, bytes.length, at);
  closeSync(fd);
}

test("a session without a name is one conversation, whoever finds it first", () => {
  using store = open();
  const made = { name: null, cwd: "/a", backend: "claude", sessionId: "s1" };
  const first = store.create(made);
  expect(first.sessionId).toBe("s1");
  expect(store.create(made).id).toBe(first.id);
  expect(store.create({ ...made, cwd: "/b" }).id).not.toBe(first.id);
  expect(store.create({ ...made, sessionId: "s2" }).id).not.toBe(first.id);
  expect(store.create({ name: null, cwd: "/a", backend: "claude" }).sessionId).toBeNull();
});
