/** What it costs to read the log of a run again, beside `grep -c` and beside parsing every line. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Bench, Part, Row } from "../bench.ts";
import { sampleFrames } from "../frames.ts";
import { inTurns, median, medianRatio } from "../measure/rounds.ts";
import { costOf } from "../measure/run.ts";
import { BARE_NODE } from "../subjects.ts";
import type { Command } from "../subjects.ts";

const BYTES = 1024 ** 3;
/** Of a hundred lines so many are of tool calls; the rest is text. */
const TOOL_LINES = 2;

export const scanPart: Part = {
  name: "scan",
  title: `Scan: a log of ${BYTES / 1024 ** 3} GiB, two of a hundred lines for tool calls`,
  async run({ folder, rounds }: Bench): Promise<Row[]> {
    const file = join(folder, "output.log");
    writeLog(file);
    try {
      return await measure(file, rounds);
    } finally {
      rmSync(file);
    }
  },
};

async function measure(file: string, rounds: number): Promise<Row[]> {
  const load = `const { scanRunLog } = await import(${JSON.stringify(new URL("../../src/failures/log/scan.ts", import.meta.url).href)});`;
  const scan = node(
    `${load}
     const before = process.memoryUsage.rss(); let lines = 0;
     scanRunLog(process.argv[1], { onLine: () => { lines += 1; }, onGap: (gap) => { throw new Error(gap.text); } });
     console.log(lines, process.resourceUsage().maxRSS * 1024 - before);`,
    file,
  );
  const parse = node(
    `const { createInterface } = await import("node:readline"); const { createReadStream } = await import("node:fs");
     for await (const line of createInterface({ input: createReadStream(process.argv[1]) })) JSON.parse(line);`,
    file,
  );
  // Behind a pipe: into /dev/null it would stop at the first match.
  const grep: Command = ["sh", "-c", `LC_ALL=C grep -c '"exit_code":[1-9]' "$0" | cat`, file];
  const figures = await inTurns(rounds, {
    // The sources run unbuilt: stripping their types is no part of a scan.
    loaded: () => cpuMs(node(load, file)),
    bare: () => cpuMs(BARE_NODE),
    grep: () => cpuMs(grep),
    scan: () => cpuMs(scan),
    parse: () => cpuMs(parse),
  });
  const own = { scan: less(figures.scan, figures.loaded), parse: less(figures.parse, figures.bare) };
  const [, growth] = spawnSync(scan[0]!, scan.slice(1), { encoding: "utf8" }).stdout.trim().split(" ");
  return [
    row("grep -c", figures.grep),
    {
      ...row("scanRunLog", own.scan),
      "grep / it": medianRatio(figures.grep, own.scan).toFixed(2),
      "readline + JSON.parse / it": medianRatio(own.parse, own.scan).toFixed(1),
      "memory grows by MiB": (Number(growth) / 1024 ** 2).toFixed(0),
      target: "0.35, 4.0, 64",
    },
    row("readline + JSON.parse", own.parse),
  ];
}

async function cpuMs(command: Command): Promise<number> {
  return (await costOf(command, 1)).cpuMs;
}

function row(subject: string, runs: readonly number[]): Row {
  return {
    subject,
    "CPU ms": median(runs).toFixed(0),
    "least CPU ms": Math.min(...runs).toFixed(0),
    "grep / it": "",
    "readline + JSON.parse / it": "",
    "memory grows by MiB": "",
    target: "",
  };
}

function node(script: string, file: string): Command {
  return [process.execPath, "--no-warnings", "--input-type=module", "-e", script, file];
}

function writeLog(file: string): void {
  const [text, tools] = [sampleFrames("text", 1000), sampleFrames("tools", 6)];
  const fd = openSync(file, "w");
  let n = 0;
  for (let bytes = 0; bytes < BYTES;) {
    const lines = text.map((frame, index) => {
      n += 1;
      return `{"t":1700000000000,"n":${n},"d":"in","frame":${index % 100 < TOOL_LINES ? tools[index % 100]! : frame}}\n`;
    });
    bytes += writeSync(fd, lines.join(""));
  }
  closeSync(fd);
}

/** What the work itself cost: without the start of the process. */
function less(runs: readonly number[], start: readonly number[]): number[] {
  return runs.map((ms) => ms - median(start));
}
