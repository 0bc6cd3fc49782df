/** What this process holds. Linux only. */
import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { descendantsOf } from "../../src/acp/processes.ts";

export interface Held {
  readonly descriptors: number;
  readonly children: number;
}

const LOOK_MS = 20;
const SAME_LOOKS = 10;

/** Looks until nothing more closes by itself: the pipes of a child go a little after it. */
export async function heldWhenQuiet(): Promise<Held> {
  let held = look();
  for (let same = 0; same < SAME_LOOKS; same += 1) {
    await delay(LOOK_MS);
    const next = look();
    if (next.descriptors !== held.descriptors || next.children !== held.children) same = 0;
    held = next;
  }
  return held;
}

function look(): Held {
  return { descriptors: readdirSync("/proc/self/fd").length, children: descendantsOf(process.pid).length };
}
