import { describe, expect, test } from "vitest";
import { NotificationBatch } from "../../../src/failures/notify/batch.ts";
import type { Notification } from "../../../src/failures/notification.ts";
import { broke } from "../incidents/records.ts";
import { TestClock, turns } from "./clock.ts";
import { ToldRun } from "./told-run.ts";

const MINUTE_MS = 60_000;

function newBatch({ refuse = false } = {}) {
  const clock = new TestClock();
  const messages: { runs: readonly string[]; text: string }[] = [];
  const batch = new NotificationBatch({
    setTimer: clock.setTimer,
    async deliver(notifications, text) {
      if (refuse) throw new Error("502");
      messages.push({ runs: notifications.map(({ runId }) => runId), text });
    },
  });
  return { clock, batch, messages };
}

const notification = (runId: string): Notification => ({
  runId,
  moment: "completion",
  incidents: [],
  text: `run=${runId}`,
});

describe("several runs (failure observations, section 8, rule 9)", () => {
  test("what comes within two seconds is one message", async () => {
    const { clock, batch, messages } = newBatch();
    const offers = [batch.offer(() => notification("a"))];
    await clock.advance(1999, turns);
    offers.push(batch.offer(() => notification("b")));
    expect(messages).toEqual([]);
    await clock.advance(1, turns);
    expect(messages).toEqual([{ runs: ["a", "b"], text: "run=a\n\nrun=b" }]);
    expect((await Promise.all(offers)).map((each) => each?.runId)).toEqual(["a", "b"]);
    void batch.offer(() => notification("c"));
    await clock.advance(2000, turns);
    expect(messages[1]?.runs).toEqual(["c"]);
  });

  test("ten runs do not wait, and the eleventh comes with the next message", async () => {
    const { clock, batch, messages } = newBatch();
    for (let i = 0; i < 11; i += 1) void batch.offer(() => notification(`r${i}`));
    await turns();
    expect(messages.map(({ runs }) => runs.length)).toEqual([10]);
    await clock.advance(2000, turns);
    expect(messages.map(({ runs }) => runs.length)).toEqual([10, 1]);
  });

  test("what is not to be told any more, or cannot be told now, leaves the others alone", async () => {
    const { clock, batch, messages } = newBatch();
    const gone = batch.offer(() => undefined);
    const unknown = batch.offer(() => {
      throw new Error("unreadable");
    });
    const refused = Promise.allSettled([unknown]);
    const told = batch.offer(() => notification("b"));
    await clock.advance(2000, turns);
    expect(messages.map(({ runs }) => runs)).toEqual([["b"]]);
    expect(await gone).toBeUndefined();
    expect((await told)?.runId).toBe("b");
    expect(await refused).toEqual([{ status: "rejected", reason: new Error("unreadable") }]);
  });

  test("nothing to tell: no message", async () => {
    const { clock, batch, messages } = newBatch();
    const gone = batch.offer(() => undefined);
    await clock.advance(2000, turns);
    expect([await gone, messages]).toEqual([undefined, []]);
  });

  test("a message that is not taken: nobody gets a receipt", async () => {
    const { clock, batch } = newBatch({ refuse: true });
    const refused = [batch.offer(() => notification("a")), batch.offer(() => notification("b"))];
    const all = Promise.allSettled(refused);
    await clock.advance(2000, turns);
    expect((await all).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  test("a run says what is true when the message goes, and has its receipt then", async () => {
    const { clock, batch, messages } = newBatch();
    const run = new ToldRun({ clock, handOff: batch });
    await run.observe(broke("exit", "x"));
    await run.advance(MINUTE_MS);
    expect([run.receipts, messages]).toEqual([[], []]);
    await run.journal.append([broke("exit", "y")], { durable: false });
    await run.advance(2000);
    await run.idle();
    expect(messages.map(({ text }) => text)).toEqual([expect.stringContaining("exit broke (2 occurrences)")]);
    expect(run.receipts).toEqual(["x"]);
  });
});
