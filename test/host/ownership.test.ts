/** One owner at a time, with real processes: dead ones are taken over, sleeping ones change nothing when they wake. */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTimeOf } from "../../src/acp/processes.ts";
import { LeaseLost, Owned } from "../../src/host/ownership.ts";
import { ostlerPaths } from "../../src/host/paths.ts";
import { StoreError } from "../../src/host/store-file.ts";
import { openStore } from "../../src/host/store.ts";
import type { Store, StoreOptions } from "../../src/host/store.ts";
import { takeTicket, waitingBefore } from "../../src/host/tickets.ts";
import { thisSystem } from "../../src/acp/this-process.ts";
import { startActor } from "./actors.ts";
import type { Actor } from "./actors.ts";

let home: string;
let store: Store;
let id: string;

const open = (options: StoreOptions = {}): Store => openStore(ostlerPaths({ OSTLER_HOME: home }), options);

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ostler-ownership-"));
  store = open();
  ({ id } = store.create({ name: "fix", cwd: "/work", backend: "demo" }));
});
afterEach(() => {
  store.close();
  rmSync(home, { recursive: true, force: true });
});

function claimed(from: Store = store): Owned {
  const owned = from.claim(id);
  if (owned instanceof Owned) return owned;
  throw new Error(`Busy: ${owned.busy.pid}`);
}

const journal = (): string[] => readFileSync(join(home, "journal"), "utf8").trimEnd().split("\n");

test("a claim is the right to write, and what was written is there for everybody", () => {
  const owned = claimed();
  owned.bindSession("one");
  owned.beginTurn("t1");
  expect(open().get(id)).toMatchObject({
    sessionId: "one",
    turns: 1,
    running: { turnId: "t1" },
    owner: { pid: process.pid },
  });
  owned.endTurn("t1", "refused");
  owned.bindSession("two", "the agent does not know it");
  owned.configure({ model: "big" });
  owned.release();
  const record = open().get(id);
  expect(record).toEqual({
    id,
    name: "fix",
    cwd: "/work",
    backend: "demo",
    model: "big",
    sessionId: "two",
    pastSessionIds: [{ sessionId: "one", at: expect.any(Number), why: "the agent does not know it" }],
    createdAt: expect.any(Number),
    usedAt: expect.any(Number),
    turns: 1,
    lastOutcome: "refused",
  });
});

test("a second claim says who has it and since when, also within one process", async () => {
  const other = await startActor({ home });
  const before = Date.now();
  using owned = claimed();
  const { result } = await other.tell("claim", { id });
  expect(result?.busy).toEqual({
    pid: process.pid,
    startedAt: startTimeOf(process.pid),
    system: thisSystem(),
    since: expect.any(Number),
    elsewhere: false,
  });
  expect(result?.busy?.since).toBeGreaterThanOrEqual(before);
  expect(store.claim(id)).toEqual({ busy: expect.objectContaining({ pid: process.pid }) });
  expect(owned.fence).toBe(1);
});

test("a release gives it to the next, with the fence one higher", async () => {
  const other = await startActor({ home });
  claimed().release();
  expect((await other.tell("claim", { id })).result?.fence).toBe(2);
});

test("an owner that was killed is taken over, and the cut turn is told until the next one begins", async () => {
  const owner = await startActor({ home });
  await owner.tell("claim", { id });
  await owner.tell("begin", { turnId: "t7" });
  expect(store.get(id)).toMatchObject({ running: { turnId: "t7" }, owner: { pid: owner.pid } });
  expect(store.get(id)).not.toHaveProperty("cut");
  await owner.kill();
  expect(store.get(id)).toMatchObject({ cut: { turnId: "t7", startedAt: expect.any(Number) } });
  expect(store.get(id)).not.toHaveProperty("owner");
  const owned = claimed();
  expect(owned.fence).toBe(2);
  expect(owned.record.cut?.turnId).toBe("t7");
  owned.release();
  const again = claimed();
  expect(again.record.cut?.turnId).toBe("t7");
  again.beginTurn("t8");
  expect(again.record).not.toHaveProperty("cut");
});

test("an owner that ended between turns left nothing cut", async () => {
  const owner = await startActor({ home });
  await owner.tell("claim", { id });
  await owner.tell("begin", { turnId: "t1" });
  await owner.tell("end", { turnId: "t1" });
  await owner.kill();
  const owned = claimed();
  expect(owned.record).not.toHaveProperty("cut");
  expect(owned.record).toMatchObject({ turns: 1, lastOutcome: "completed" });
});

test("a release in the middle of a turn cuts it", () => {
  const owned = claimed();
  owned.beginTurn("t1");
  owned.release();
  expect(store.get(id)).toMatchObject({ cut: { turnId: "t1" } });
});

test("an owner that is only stopped keeps what it owns", async () => {
  const owner = await startActor({ home });
  await owner.tell("claim", { id });
  owner.child.kill("SIGSTOP");
  expect(store.claim(id)).toEqual({ busy: expect.objectContaining({ pid: owner.pid }) });
});

test("an owner that slept while another took over changes nothing when it wakes", async () => {
  // To be taken over while it lives, it must be one that cannot be looked at: of another system, silent for long.
  const sleeper = await startActor({ home, system: "00000000-1" });
  await sleeper.tell("claim", { id });
  await sleeper.tell("begin", { turnId: "t1" });
  sleeper.child.kill("SIGSTOP");
  expect(store.claim(id)).toEqual({ busy: expect.objectContaining({ pid: sleeper.pid, elsewhere: true }) });
  let aheadMs = 121_000;
  using later = open({ now: () => Date.now() + aheadMs });
  using owned = claimed(later);
  aheadMs = 0;
  expect(owned.record.cut?.turnId).toBe("t1");
  owned.bindSession("ours");
  owned.beginTurn("t2");
  const before = later.get(id);
  const late = [
    sleeper.tell("end", { turnId: "t1" }),
    sleeper.tell("bind", { sessionId: "theirs" }),
    sleeper.tell("begin", { turnId: "t3" }),
  ];
  sleeper.child.kill("SIGCONT");
  const lost = {
    name: "LeaseLost",
    kind: "busy",
    message: `This session was taken over by another Ostler (process ${process.pid})`,
  };
  expect((await Promise.all(late)).map(({ error }) => error)).toEqual([lost, lost, lost]);
  expect(await sleeper.tell("release")).toMatchObject({ result: null });
  expect(later.get(id)).toEqual(before);
  expect(owned.fence).toBe(2);
});

test("an owner of another system is believed while it gives signs of life", async () => {
  const elsewhere = await startActor({ home, system: "00000000-1" });
  await elsewhere.tell("claim", { id });
  using soon = open({ now: () => Date.now() + 100_000 });
  expect(soon.claim(id)).toEqual({ busy: expect.objectContaining({ elsewhere: true }) });
  using late = open({ now: () => Date.now() + 121_000 });
  expect(late.claim(id)).toBeInstanceOf(Owned);
});

test.each<{ from: string; behindMs: number; counts: boolean }>([
  { from: "a clock that differs a little", behindMs: 50_000, counts: true },
  { from: "a clock that was set back by an hour", behindMs: 3_600_000, counts: false },
])("signs of life from the future, $from: owner and waiter of another system", ({ behindMs, counts }) => {
  using elsewhere = open({ self: { pid: process.pid, startedAt: "1", system: "00000000-1" } });
  claimed(elsewhere);
  elsewhere.use((context) => takeTicket(context, id, 20));
  using here = open({ now: () => Date.now() - behindMs });
  expect(here.use((context) => waitingBefore(context, id))).toHaveLength(counts ? 1 : 0);
  expect(here.claim(id) instanceof Owned).toBe(!counts);
});

test.each<{ from: string; unlocks: boolean }>([
  { from: "for a moment", unlocks: true },
  { from: "for good", unlocks: false },
])(
  "the end of a turn is written without a wait while another program has the store locked $from",
  async ({ unlocks }) => {
    using owned = claimed();
    owned.beginTurn("t1");
    using other = new DatabaseSync(join(home, "state/store.sqlite"));
    other.exec("BEGIN IMMEDIATE");
    const begin = performance.now();
    const ended = owned.endTurnUnhurried("t1", "completed").then(
      () => "written",
      (error: unknown) => (error instanceof StoreError ? error.kind : "another error"),
    );
    expect(performance.now() - begin).toBeLessThan(500);
    if (unlocks) other.exec("ROLLBACK");
    expect(await ended).toBe(unlocks ? "written" : "busy");
    if (!unlocks) other.exec("ROLLBACK");
    expect(owned.record.lastOutcome).toBe(unlocks ? "completed" : undefined);
  },
);

test("the number of a dead owner that another process has now does not keep the conversation", () => {
  using past = open({ self: { pid: process.pid, startedAt: "1", system: thisSystem() } });
  claimed(past);
  expect(store.claim(id)).toBeInstanceOf(Owned);
});

test("a conversation that was closed is lost to its owner, and cannot be claimed", () => {
  const owned = claimed();
  expect(store.remove(id)).toBe(true);
  expect(() => owned.beginTurn("t1")).toThrow(new LeaseLost("This session was closed by another Ostler"));
  owned.release();
  expect(() => store.claim(id)).toThrow(expect.objectContaining({ kind: "session_not_found" }));
  expect(store.remove(id)).toBe(false);
});

test("what another process owns cannot be closed, until that process is dead", async () => {
  const owner = await startActor({ home });
  await owner.tell("claim", { id });
  expect(() => store.remove(id)).toThrow(
    expect.objectContaining({
      name: "AcpPromptBusy",
      kind: "busy",
      message: expect.stringMatching(
        new RegExp(`^This session is in use by another Ostler \\(process ${owner.pid}, since \\d\\d:\\d\\d:\\d\\d\\)$`),
      ),
    }),
  );
  await owner.kill();
  expect(store.remove(id)).toBe(true);
});

test("a claim that comes between the look and the write of another is seen", () => {
  let between: (() => void) | undefined;
  using slow = open({
    now: () => {
      const act = between;
      between = undefined;
      act?.();
      return Date.now();
    },
  });
  between = () => void claimed();
  expect(slow.claim(id)).toEqual({ busy: expect.objectContaining({ pid: process.pid }) });
  expect(store.get(id)).toHaveProperty("owner");
});

test("writing after the release is an error, a second release is none", () => {
  const owned = claimed();
  owned.release();
  owned.release();
  expect(() => owned.beginTurn("t1")).toThrow("This session was given away by this Ostler");
  expect(claimed().fence).toBe(2);
});

test("20 processes at once: one owner at a time, and no turn is lost", async () => {
  const actors = await Promise.all(Array.from({ length: 20 }, () => startActor({ home })));
  const worked = await Promise.all(
    actors.map((actor, index) => actor.tell("work", { id, rounds: 2, seed: index + 1 })),
  );
  expect(worked.map(({ error }) => error)).toEqual(actors.map(() => undefined));
  const lines = journal();
  expect(lines.filter((line) => line.includes("TWO OWNERS"))).toEqual([]);
  expect(fencesOf(lines)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  expect(lines.filter((line) => / cut (?!-)/.test(line))).toEqual([]);
  const record = store.get(id);
  expect(record?.turns).toBe(lines.filter((line) => line.includes(" ended ")).length);
  expect(record).not.toHaveProperty("owner");
  expect(record?.sessionId).toBe(`session-${lines.findLast((line) => line.includes(" ended "))?.split(" ")[2]}`);
}, 60_000);

test.each([1, 2])(
  "owners killed at random points, seed %i: the next takes over and says which turn was cut",
  async (seed) => {
    const kills = 8;
    let random = seed;
    const draw = (below: number): number => {
      random = (random * 48_271) % 2_147_483_647;
      return random % below;
    };
    const crew: Actor[] = [];
    const hire = async (): Promise<void> => {
      const actor = await startActor({ home });
      actor.begin("work", { id, rounds: 1_000_000, seed: draw(1_000_000) });
      crew.push(actor);
    };
    await Promise.all(Array.from({ length: 3 }, hire));
    for (let kill = 0; kill < kills; kill += 1) {
      await journalGrows(journal().length + 1 + draw(40));
      const owner = crew.findIndex(({ pid }) => pid === store.get(id)?.owner?.pid);
      const [victim] = crew.splice(owner === -1 ? 0 : owner, 1);
      await Promise.all([victim?.kill(), hire()]);
    }
    await Promise.all(crew.map((actor) => actor.kill()));
    const owned = claimed();
    const lines = [...journal(), `${owned.fence} claimed by ${process.pid} cut ${owned.record.cut?.turnId ?? "-"}`];
    expect(lines.filter((line) => line.includes("TWO OWNERS"))).toEqual([]);
    checkFences(fencesOf(lines), kills + 3);
    expect(lines.filter((line) => line.includes("claimed")).map((line) => cutIsTrue(lines, line))).not.toContain(false);
  },
  60_000,
);

function fencesOf(lines: readonly string[]): number[] {
  return lines.filter((line) => line.includes("claimed")).map((line) => Number.parseInt(line, 10));
}

/** Each is higher than the one before; a claim whose process died before it could write a line is a gap. */
function checkFences(fences: readonly number[], mostGaps: number): void {
  expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  expect((fences.at(-1) ?? 0) - fences.length).toBeLessThanOrEqual(mostGaps);
}

/** Compares what a claim said was cut with the journal of the owner before. */
function cutIsTrue(lines: readonly string[], claim: string): boolean {
  const before = lines.slice(0, lines.indexOf(claim)).filter((line) => !line.includes("claimed"));
  const [, , told = ""] = /^(\d+) .* cut (\S+)$/.exec(claim) ?? [];
  const last = before.at(-1)?.split(" ");
  if (last === undefined) return told === "-";
  const [, step, turnId] = last;
  // Between the line before a step and the one after it, the step may be done or not.
  if (step === "ended") return told === "-";
  if (step === "began") return told === turnId;
  return told === "-" || told === turnId;
}

/** Until the journal has so many lines. */
async function journalGrows(count: number): Promise<void> {
  const watcher = watch(join(home, "journal"));
  try {
    while (journal().length < count) await once(watcher, "change");
  } finally {
    watcher.close();
  }
}
