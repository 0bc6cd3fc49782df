/** Very many turns through one supervisor: what the process holds must stay as it is. */
import type { Part, Row } from "../bench.ts";
import { soak } from "../soak.ts";

const TURNS = 20_000;
const LOOK_EVERY = 1000;

export const soakPart: Part = {
  name: "soak",
  title: `Soak: ${TURNS} turns through one supervisor`,
  onlyByName: true,
  async run(): Promise<Row[]> {
    const startedAt = performance.now();
    const { looks, outcomes, starts } = await soak({ turns: TURNS, lookEvery: LOOK_EVERY });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const counts = [...outcomes].map(([kind, count]) => `${count} ${kind}`).join(", ");
    console.log(`${counts}; ${starts} agents started; ${seconds} s\n`);
    return looks.map(({ turns, residentMib, heapMib, descriptors, children }) => ({
      turns: String(turns),
      "resident MiB": residentMib.toFixed(0),
      "heap MiB": heapMib.toFixed(1),
      "open files": String(descriptors),
      "child processes": String(children),
    }));
  },
};
