/**
 * One process that uses the store as Ostler does, told what to do by JSON lines on stdin: `{"call": 1, "do": "claim", …}`
 * is answered by `{"call": 1, "result": …}` or `{"call": 1, "error": {name, message, kind}}`.
 */
import { appendFileSync, closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startTimeOf } from "../../src/acp/processes.ts";
import { OwnerServer } from "../../src/host/owner-server.ts";
import { Owned } from "../../src/host/ownership.ts";
import { ostlerPaths } from "../../src/host/paths.ts";
import { waitForOwnership } from "../../src/host/session-queue.ts";
import { openStore } from "../../src/host/store.ts";
import { thisProcess } from "../../src/acp/this-process.ts";

/** How an actor is made: `system` = what it takes for its own, `aheadMs` = how far its clock is ahead. */
export interface ActorOptions {
  readonly home: string;
  readonly system?: string;
  readonly aheadMs?: number;
}

export interface Order {
  readonly call: number;
  readonly do: "open" | "claim" | "wait" | "begin" | "end" | "bind" | "release" | "serve" | "work" | "leave";
  readonly id?: string;
  readonly turnId?: string;
  readonly sessionId?: string;
  readonly noWait?: boolean;
  readonly queueLimit?: number;
  readonly rounds?: number;
  readonly seed?: number;
}

const options: ActorOptions = JSON.parse(process.argv[2] ?? "{}");
const paths = ostlerPaths({ OSTLER_HOME: options.home });
const self = { ...thisProcess(), ...(options.system === undefined ? {} : { system: options.system }) };
const store = openStore(paths, { self, now: () => Date.now() + (options.aheadMs ?? 0) });
let owned: Owned | undefined;
let leave = new AbortController();

const say = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
const seen = (claimed: Owned) => ({ fence: claimed.fence, record: claimed.record });
const mine = (): Owned => {
  if (owned === undefined) throw new Error("This actor owns nothing");
  return owned;
};

async function obey(order: Order): Promise<unknown> {
  const id = order.id ?? "";
  switch (order.do) {
    case "open":
      return { notice: store.notice ?? null };
    case "claim": {
      const claimed = store.claim(id);
      if (!(claimed instanceof Owned)) return claimed;
      owned = claimed;
      return seen(claimed);
    }
    case "wait": {
      leave = new AbortController();
      const { call, noWait, queueLimit } = order;
      const onWaiting = (waiting: object): void => say({ call, waiting });
      owned = await waitForOwnership(store, id, { signal: leave.signal, noWait, queueLimit, onWaiting });
      return seen(owned);
    }
    case "leave":
      return leave.abort(new Error("left the queue"));
    case "begin":
      return mine().beginTurn(order.turnId ?? "");
    case "end":
      return mine().endTurn(order.turnId ?? "", "completed");
    case "bind":
      return mine().bindSession(order.sessionId ?? null);
    case "release":
      return mine().release();
    case "serve":
      return (await OwnerServer.open(store)).path;
    case "work":
      return work(id, order.rounds ?? 1, order.seed ?? 1);
  }
}

/**
 * Claims, runs turns and releases, with every step in a journal before and after it is done. `owner.lock` is made and
 * removed by plain file calls: a second owner cannot make it.
 */
async function work(id: string, rounds: number, seed: number): Promise<number> {
  const random = mulberry32(seed);
  const lock = join(options.home, "owner.lock");
  const note = (words: string): void => appendFileSync(join(options.home, "journal"), `${words}\n`);
  await OwnerServer.open(store);
  for (let round = 0; round < rounds; round += 1) {
    using claimed = await waitForOwnership(store, id, { queueLimit: 1000 });
    const { fence, record } = claimed;
    note(`${fence} claimed by ${process.pid} cut ${record.cut?.turnId ?? "-"}`);
    takeLock(lock, note);
    for (let turn = 0; turn < 1 + Math.floor(random() * 3); turn += 1) {
      const turnId = `${fence}.${turn}`;
      note(`${fence} begins ${turnId}`);
      claimed.beginTurn(turnId);
      note(`${fence} began ${turnId}`);
      claimed.bindSession(`session-${turnId}`);
      if (random() < 0.5) await new Promise((resolve) => setImmediate(resolve));
      note(`${fence} ends ${turnId}`);
      claimed.endTurn(turnId, "completed");
      note(`${fence} ended ${turnId}`);
    }
    rmSync(lock);
  }
  return rounds;
}

function takeLock(lock: string, note: (words: string) => void): void {
  const me = `${process.pid} ${startTimeOf(process.pid)}`;
  try {
    writeFileSync(lock, me, { flag: "wx" });
  } catch {
    const [pid, startedAt] = readFileSync(lock, "utf8").split(" ");
    if (startTimeOf(Number(pid)) === startedAt) note(`0 TWO OWNERS ${pid} ${process.pid}`);
    writeFileSync(lock, me);
  }
}

/** A small generator of repeatable numbers between 0 and 1. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

closeSync(openSync(join(options.home, "journal"), "a"));
// An actor that is killed writes no cache.
flushCompileCache();
say({ call: 0, result: { pid: process.pid, notice: store.notice ?? null } });
createInterface({ input: process.stdin }).on("line", (line) => {
  const order: Order = JSON.parse(line);
  obey(order).then(
    (result) => say({ call: order.call, result: result ?? null }),
    (error: Error & { kind?: string }) =>
      say({ call: order.call, error: { name: error.name, message: error.message, kind: error.kind } }),
  );
});
