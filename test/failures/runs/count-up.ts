/** Counts a number of a run up, one change at a time: `count-up.ts STATE RUN TIMES`. */
import { RunRegistry } from "../../../src/failures/runs/registry.ts";

const [state = "", id = "", times = "0"] = process.argv.slice(2);
const registry = new RunRegistry(state);
for (let done = 0; done < Number(times); done += 1) {
  registry.updateMeta(id, ({ noiseLines = 0 }) => ({ noiseLines: noiseLines + 1 }));
}
