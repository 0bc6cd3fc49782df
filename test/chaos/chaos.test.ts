/**
 * A storm of random turns over agents that misbehave, with kills and cancels at random points. A seed repeats it:
 *
 *   CHAOS_SEED=n CHAOS_TURNS=n npm run test:chaos      the same scenes again
 *   CHAOS_SEED=n CHAOS_SCENE=n npm run test:chaos      one of them alone
 */
import { beforeAll, expect, test } from "vitest";
import { heldWhenQuiet } from "./held.ts";
import type { Held } from "./held.ts";
import { readNumber } from "./read-number.ts";
import { playStorm } from "./storm.ts";
import type { Storm } from "./storm.ts";

const MAX_SEED = 2 ** 31 - 1;
const DEFAULT_TURNS = 320;
/** What is on its way out may take so long on a busy machine. */
const BURIAL_MS = 30_000;

const seed = readNumber("CHAOS_SEED") ?? Math.floor(Math.random() * MAX_SEED);
const turns = readNumber("CHAOS_TURNS") ?? DEFAULT_TURNS;
const scene = readNumber("CHAOS_SCENE");

const uncaught: unknown[] = [];
for (const event of ["uncaughtException", "unhandledRejection"] as const)
  process.on(event, (reason) => uncaught.push(reason));

let before: Held;
let storm: Storm;

beforeAll(async () => {
  console.log(`CHAOS_SEED=${seed} CHAOS_TURNS=${turns}`);
  // What the process opens once and keeps is open after the first turns.
  await playStorm({ seed: MAX_SEED - seed, turns: 4 });
  before = await heldWhenQuiet();
  storm = await playStorm({ seed, turns, ...(scene !== undefined && { scene }) });
  const endings = [...storm.endings].sort(([, one], [, other]) => other - one);
  console.log(
    `${storm.turns} turns in ${storm.scenes} scenes, ${storm.seconds} s: ${endings.map(([name, count]) => `${name} ${count}`).join(", ")}`,
  );
}, 1_800_000);

test(`every turn of seed ${seed} ends in one outcome that fits, inside its budget, and was sent once`, () => {
  expect(storm.faults).toEqual([]);
});

test("no process and no lease is left", () => {
  expect(storm.leftovers).toEqual([]);
});

test("nothing was thrown that nobody caught", () => {
  expect(uncaught).toEqual([]);
});

test("file descriptors and child processes are as many as before", { timeout: 2 * BURIAL_MS }, async () => {
  await expect.poll(heldWhenQuiet, { timeout: BURIAL_MS }).toEqual(before);
});
