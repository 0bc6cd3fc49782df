/** What loading a package costs, whatever is done with it afterwards: why `ask` loads three of them, bundled, and the rest late. */
import type { Bench, Part, Row } from "../bench.ts";
import { inTurns, median, medianRatio } from "../measure/rounds.ts";
import { costOf } from "../measure/run.ts";
import { BARE_NODE } from "../subjects.ts";
import type { Command } from "../subjects.ts";

const PACKAGES = ["execa", "p-retry", "yargs-parser", "yargs", "zod", "@agentclientprotocol/sdk"];
const RUNS_PER_ROUND = 3;

export const loads: Part = {
  name: "loads",
  title: "Loads: a Node that imports one package as it is installed and does nothing",
  async run({ rounds }: Bench): Promise<Row[]> {
    const commands = new Map([["node -e 0", BARE_NODE], ...PACKAGES.map((name) => [name, importing(name)] as const)]);
    const subjects = [...commands].map(([name, command]) => [name, () => costOf(command, RUNS_PER_ROUND)] as const);
    const figures = await inTurns(rounds, Object.fromEntries(subjects));
    const cpuOf = (name: string): number[] => (figures[name] ?? []).map(({ cpuMs }) => cpuMs);
    return [...commands.keys()].map((name) => ({
      package: name,
      "CPU ms": median(cpuOf(name)).toFixed(0),
      "× node -e 0": medianRatio(cpuOf(name), cpuOf("node -e 0")).toFixed(2),
    }));
  },
};

function importing(name: string): Command {
  return [process.execPath, "--input-type=module", "-e", `import ${JSON.stringify(import.meta.resolve(name))}`];
}
