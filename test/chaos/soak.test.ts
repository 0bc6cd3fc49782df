/** The soak of docs/performance.md in small: what the process holds does not follow the number of turns. */
import { expect, test } from "vitest";
import { soak } from "../../bench/soak.ts";

const TURNS = 2000;
const LOOK_EVERY = 500;
/** What is compiled and cached on the way; a leak of 5 KiB a turn would be more. */
const MAX_HEAP_GROWTH_MIB = 8;
/** Node's own: opened with the first child, and kept. */
const OWN_DESCRIPTORS = 1;

test(`${TURNS} turns through one supervisor leave nothing behind`, async () => {
  const { looks, outcomes, starts } = await soak({ turns: TURNS, lookEvery: LOOK_EVERY });
  const [before, first, ...later] = looks;
  const after = later.pop();
  expect(Object.fromEntries(outcomes)).toMatchObject({ completed: expect.any(Number), cancelled: expect.any(Number) });
  expect(starts).toBeGreaterThan(4);
  expect([first, ...later].map((look) => look?.children)).toEqual([4, 4, 4, 4]);
  expect(later.map((look) => look.descriptors)).toEqual(later.map(() => first?.descriptors));
  expect((later.at(-1)?.heapMib ?? Infinity) - (first?.heapMib ?? 0)).toBeLessThan(MAX_HEAP_GROWTH_MIB);
  expect(after?.children).toBe(0);
  expect(after?.descriptors).toBeLessThanOrEqual((before?.descriptors ?? 0) + OWN_DESCRIPTORS);
}, 600_000);
