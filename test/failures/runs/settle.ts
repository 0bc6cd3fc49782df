/** Settles the runs of a state folder and writes down what was asked for: `settle.ts STATE LOG`. */
import { appendFileSync } from "node:fs";
import { settleRuns } from "../../../src/failures/runs/lifecycle.ts";
import { RunRegistry } from "../../../src/failures/runs/registry.ts";

const [state = "", log = ""] = process.argv.slice(2);
const note = async (words: string): Promise<void> => {
  appendFileSync(log, `${words}\n`);
  // The other one gets its turn while this run is in the middle.
  await new Promise((resolve) => setImmediate(resolve));
};
const settled = await settleRuns(new RunRegistry(state), {
  rescan: ({ id }) => note(`rescan ${id}`),
  tell: ({ id }) => note(`tell ${id}`),
});
process.exitCode = settled.some(({ problem }) => problem !== undefined) ? 1 : 0;
