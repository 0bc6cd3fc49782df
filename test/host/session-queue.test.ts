/** Waiting for a conversation, with real processes: in order, past the dead, at most so many, and gone on a signal. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { OwnerServer } from "../../src/host/owner-server.ts";
import { Owned } from "../../src/host/ownership.ts";
import { ostlerPaths } from "../../src/host/paths.ts";
import { waitForOwnership } from "../../src/host/session-queue.ts";
import type { Waiting } from "../../src/host/session-queue.ts";
import { openStore } from "../../src/host/store.ts";
import type { Store } from "../../src/host/store.ts";
import { startActor } from "./actors.ts";
import type { Actor } from "./actors.ts";

let home: string;
let store: Store;
let id: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ostler-queue-"));
  store = openStore(ostlerPaths({ OSTLER_HOME: home }));
  ({ id } = store.create({ name: "fix", cwd: "/work", backend: "demo" }));
});
afterEach(() => {
  store.close();
  rmSync(home, { recursive: true, force: true });
});

function claimed(): Owned {
  const owned = store.claim(id);
  if (owned instanceof Owned) return owned;
  throw new Error(`Busy: ${owned.busy.pid}`);
}

async function serve(): Promise<void> {
  const server = await OwnerServer.open(store);
  onTestFinished(() => server.close());
}

/** Waits in the queue and has been told so. */
async function queued(actor: Actor, order: { readonly queueLimit?: number } = {}): Promise<number> {
  const call = actor.begin("wait", { id, ...order });
  await actor.hear((answer) => answer.call === call);
  return call;
}

/** Until the actor has the conversation, or cannot. */
const settled = (actor: Actor, call: number) =>
  actor.hear((answer) => answer.call === call && answer.waiting === undefined);
const positions = (actor: Actor, call: number) => actor.waitings(call).map((waiting) => waiting?.position);

test("what nobody owns is ours without waiting", async () => {
  const told: Waiting[] = [];
  using owned = await waitForOwnership(store, id, { onWaiting: (waiting) => told.push(waiting) });
  expect({ fence: owned.fence, told }).toEqual({ fence: 1, told: [] });
});

test("three processes get it in the order they came, and hear their place", async () => {
  await serve();
  const owned = claimed();
  const [first, second, third] = await Promise.all([startActor({ home }), startActor({ home }), startActor({ home })]);
  const actors = [first, second, third];
  const calls = [await queued(first), await queued(second), await queued(third)] as const;
  expect(third.waitings(calls[2])[0]).toMatchObject({ position: 3, owner: { pid: process.pid, elsewhere: false } });
  owned.release();
  for (const [index, actor] of actors.entries()) {
    const answer = await settled(actor, calls[index] ?? 0);
    expect(answer.result?.fence).toBe(index + 2);
    expect(positions(actor, calls[index] ?? 0)[0]).toBe(index + 1);
    // The next ones see that they moved up before they move again.
    for (const [before, behind] of actors.slice(index + 1).entries()) {
      await behind.hear(({ waiting }) => waiting?.owner.pid === actor.pid && waiting.position === before + 1);
    }
    await actor.tell("release");
  }
  // Who is next counts as the owner already before it has taken it: a place may be told twice.
  const places = positions(third, calls[2]);
  expect(places.filter((place, index) => place !== places[index - 1])).toEqual([3, 2, 1]);
});

test("a release is heard at once, not at the next look", async () => {
  await serve();
  const owned = claimed();
  const waiting = waitForOwnership(store, id);
  // Milliseconds in which this process had the processor: a look comes after 500.
  let awakeMs = 0;
  setImmediate(() => {
    owned.release();
    const clock = setInterval(() => (awakeMs += 1), 1);
    onTestFinished(() => clearInterval(clock));
  });
  using next = await waiting;
  expect(next.fence).toBe(2);
  expect(awakeMs).toBeLessThan(300);
});

test("an owner without a socket is found gone by a look", async () => {
  const owner = await startActor({ home });
  await owner.tell("claim", { id });
  await owner.tell("begin", { turnId: "t1" });
  const told: Waiting[] = [];
  const waiting = waitForOwnership(store, id, {
    onWaiting: (now) => {
      told.push(now);
      void owner.kill();
    },
  });
  using owned = await waiting;
  expect(owned.record.cut?.turnId).toBe("t1");
  expect(told).toEqual([{ position: 1, owner: expect.objectContaining({ pid: owner.pid }) }]);
});

test("the death of an owner with a socket is heard", async () => {
  const owner = await startActor({ home });
  await owner.tell("serve");
  await owner.tell("claim", { id });
  const waiter = await startActor({ home });
  const call = await queued(waiter);
  await owner.kill();
  expect((await settled(waiter, call)).result?.fence).toBe(2);
});

test("a waiter that died holds nobody up", async () => {
  const owned = claimed();
  const dead = await startActor({ home });
  await queued(dead);
  await dead.kill();
  owned.release();
  using next = await waitForOwnership(store, id, { noWait: true });
  expect(next.fence).toBe(2);
});

test("a waiter that was stopped is passed over after a while, and comes later", async () => {
  const stopped = await startActor({ home });
  const owned = claimed();
  const call = await queued(stopped);
  stopped.child.kill("SIGSTOP");
  owned.release();
  expect(store.claim(id)).toEqual({ busy: expect.objectContaining({ pid: stopped.pid }) });
  using later = openStore(ostlerPaths({ OSTLER_HOME: home }), { now: () => Date.now() + 11_000 });
  const next = await waitForOwnership(later, id, { noWait: true });
  stopped.child.kill("SIGCONT");
  next.release();
  expect((await settled(stopped, call)).result?.fence).toBe(3);
});

test("nobody pushes in: who waits comes before who asks now", async () => {
  const waiter = await startActor({ home });
  const owned = claimed();
  const call = await queued(waiter);
  owned.release();
  const busy = store.claim(id);
  expect(busy).toEqual({ busy: expect.objectContaining({ pid: waiter.pid }) });
  expect((await settled(waiter, call)).result?.fence).toBe(2);
});

test("who does not want to wait is told who has it and since when", async () => {
  const owner = await startActor({ home });
  await owner.tell("claim", { id });
  const since = new Date(store.get(id)?.owner?.since ?? 0).toTimeString().slice(0, 8);
  await expect(waitForOwnership(store, id, { noWait: true })).rejects.toMatchObject({
    name: "AcpPromptBusy",
    kind: "busy",
    message: `This session is in use by another Ostler (process ${owner.pid}, since ${since})`,
  });
});

test("one prompt of this very process is said to be just that", async () => {
  using owned = claimed();
  expect(owned.fence).toBe(1);
  await expect(waitForOwnership(store, id, { noWait: true })).rejects.toThrow(
    `This session is in use by another prompt of this Ostler (process ${process.pid}, since `,
  );
});

test.each([
  { queueLimit: 0, ahead: 0, message: /since \d\d:\d\d:\d\d\)$/ },
  { queueLimit: 1, ahead: 1, message: /since \d\d:\d\d:\d\d\), and 1 prompt waits for it already$/ },
  { queueLimit: 2, ahead: 2, message: /since \d\d:\d\d:\d\d\), and 2 prompts wait for it already$/ },
])("a queue of $queueLimit is full with $ahead", async ({ queueLimit, ahead, message }) => {
  using owned = claimed();
  const leave = new AbortController();
  const waiters = Array.from({ length: ahead }, () =>
    waitForOwnership(store, owned.record.id, { signal: leave.signal }),
  );
  await expect(waitForOwnership(store, id, { queueLimit })).rejects.toMatchObject({
    name: "AcpPromptBusy",
    message: expect.stringMatching(message),
  });
  leave.abort(new Error("enough"));
  for (const waiter of waiters) await expect(waiter).rejects.toThrow("enough");
});

test("the usual queue takes 20", async () => {
  using owned = claimed();
  const leave = new AbortController();
  const waiters = Array.from({ length: 20 }, () => waitForOwnership(store, owned.record.id, { signal: leave.signal }));
  await expect(waitForOwnership(store, id)).rejects.toThrow("20 prompts wait for it already");
  leave.abort(new Error("enough"));
  expect((await Promise.allSettled(waiters)).map(({ status }) => status)).toEqual(waiters.map(() => "rejected"));
});

test("a signal leaves the queue at once, with its reason, and the next moves up", async () => {
  await serve();
  const owned = claimed();
  const leave = new AbortController();
  const reason = new Error("the person pressed Ctrl-C");
  const first = waitForOwnership(store, id, { signal: leave.signal });
  const second = await startActor({ home });
  const call = await queued(second);
  leave.abort(reason);
  await expect(first).rejects.toBe(reason);
  await second.hear((answer) => answer.waiting?.position === 1);
  owned.release();
  expect((await settled(second, call)).result?.fence).toBe(2);
  expect(positions(second, call)).toEqual([2, 1]);
});

test("a signal that was given before claims nothing", async () => {
  const reason = new Error("early");
  await expect(waitForOwnership(store, id, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(claimed().fence).toBe(1);
});

test("a conversation that somebody waits for is not closed", async () => {
  const owned = claimed();
  const waiting = waitForOwnership(store, id);
  owned.release();
  expect(() => store.remove(id)).toThrow(expect.objectContaining({ kind: "busy" }));
  using next = await waiting;
  expect(next.record.id).toBe(id);
});

test("a conversation that is gone while we wait is said to be gone", async () => {
  const owned = claimed();
  const drop = (): void => store.use(({ db }) => db.exec("DELETE FROM conversations"));
  const waiting = waitForOwnership(store, id, { onWaiting: drop });
  await expect(waiting).rejects.toMatchObject({ kind: "session_not_found" });
  owned.release();
});

test("what onWaiting throws is thrown, and the place in the queue is given up", async () => {
  const owned = claimed();
  const waiting = waitForOwnership(store, id, {
    onWaiting: () => {
      throw new Error("stdout is closed");
    },
  });
  await expect(waiting).rejects.toThrow("stdout is closed");
  owned.release();
  expect(store.claim(id)).toBeInstanceOf(Owned);
});
