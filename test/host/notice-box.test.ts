/** Notifications that wait for a terminal: kept until shown, shown by one of several Ostlers, and by one alone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { currentOwnerName, thisSystem } from "../../src/acp/this-process.ts";
import type { Notification } from "../../src/failures/notification.ts";
import { NoticeBox } from "../../src/host/notice-box.ts";

const BOX = fileURLToPath(new URL("../../src/host/notice-box.ts", import.meta.url));
let state: string;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ostler-notices-"));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const notice = (words: string, runId = "cm_mx3jkhdqwzf3_1"): Notification => ({
  runId,
  moment: "completion",
  incidents: [],
  text: words,
});
const names = (): string[] => readdirSync(join(state, "notices"));

async function shownBy(box: NoticeBox): Promise<string[]> {
  const shown: string[] = [];
  await box.empty(async (words) => void shown.push(words));
  return shown;
}

test("what was put in is shown once, the oldest first, by whichever Ostler looks next", async () => {
  const box = new NoticeBox(state);
  expect(box.isFilled).toBe(false);
  await box.deliver(notice("first"));
  await box.deliver(notice("second"));
  expect(new NoticeBox(state).isFilled).toBe(true);
  expect(await shownBy(new NoticeBox(state))).toEqual(["first", "second"]);
  expect(names()).toEqual([]);
  expect(await shownBy(box)).toEqual([]);
});

test("only their owner may read them", async () => {
  await new NoticeBox(state).deliver(notice("secret"));
  const [name = ""] = names();
  expect(statSync(join(state, "notices")).mode & 0o777).toBe(0o700);
  expect(statSync(join(state, "notices", name)).mode & 0o777).toBe(0o600);
});

test("a box that takes nothing says so, and one that is not there holds nothing", async () => {
  writeFileSync(join(state, "notices"), "in the way");
  await expect(new NoticeBox(state).deliver(notice("lost"))).rejects.toThrow("EEXIST");
  expect(new NoticeBox(state).isFilled).toBe(false);
  expect(await shownBy(new NoticeBox(state))).toEqual([]);
});

test("20 are shown at a time, the others next time", async () => {
  const box = new NoticeBox(state);
  for (let count = 1; count <= 21; count += 1) await box.deliver(notice(String(count)));
  expect(await shownBy(box)).toHaveLength(20);
  expect(await shownBy(box)).toHaveLength(1);
});

test("of Ostlers that look at the same time each shows its own", async () => {
  const box = new NoticeBox(state);
  for (let count = 1; count <= 20; count += 1) await box.deliver(notice(`notice ${count}`));
  const script = `
    import { NoticeBox } from ${JSON.stringify(BOX)};
    await new NoticeBox(${JSON.stringify(state)}).empty(async (text) => console.log(text));
  `;
  const said = await Promise.all(
    [1, 2, 3].map(async () => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [words] = await Promise.all([text(child.stdout), once(child, "close")]);
      return words.trim().split("\n").filter(Boolean);
    }),
  );
  const all = Array.from({ length: 20 }, (_, at) => `notice ${at + 1}`);
  expect(said.flat().toSorted()).toEqual(all.toSorted());
});

test("what an Ostler claimed that is gone is shown again; what one is showing is left alone", async () => {
  const box = new NoticeBox(state);
  await box.deliver(notice("claimed by the dead"));
  await box.deliver(notice("claimed by the living"));
  const [dead = "", living = ""] = names().toSorted();
  const claim = (name: string, owner: string, system: string): void =>
    renameSync(join(state, "notices", name), join(state, "notices", `${name}.claimed-by-${owner}@${system}`));
  claim(dead, "999999999-1", thisSystem());
  claim(living, currentOwnerName(process.ppid), thisSystem());
  expect(await shownBy(box)).toEqual(["claimed by the dead"]);
  expect(names()).toEqual([expect.stringContaining("claimed-by")]);
});

test("a claim of another system is believed for a day", async () => {
  const box = new NoticeBox(state);
  await box.deliver(notice("elsewhere"));
  const [name = ""] = names();
  renameSync(join(state, "notices", name), join(state, "notices", `${name}.claimed-by-17-1@another-system`));
  expect(await shownBy(box)).toEqual([]);
});

test("what cannot be shown stays claimed by us, and is shown when we are gone", async () => {
  const box = new NoticeBox(state);
  await box.deliver(notice("unheard"));
  await expect(box.empty(() => Promise.reject(new Error("nobody reads")))).rejects.toThrow("nobody reads");
  expect(names()).toEqual([expect.stringContaining(`.claimed-by-${currentOwnerName(process.pid)}@`)]);
});
