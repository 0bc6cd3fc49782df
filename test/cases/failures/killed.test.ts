/** Cases about an Ostler that is killed, or is not alone: real processes, and whoever comes after them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { isAlive, signalProcess } from "../../../src/acp/processes.ts";
import { readJournal } from "../../../src/failures/journal/read-journal.ts";
import { labelOf } from "../../../src/failures/incidents/labels.ts";
import { sessionTag } from "../../../src/failures/keys.ts";
import type { Notification } from "../../../src/failures/notification.ts";
import type { RunMeta } from "../../../src/failures/runs/meta.ts";
import type { RunRegistry } from "../../../src/failures/runs/registry.ts";
import { readToTheEnd, settleOpenRuns } from "../../../src/host/settle-runs.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { logOf, reply, waitFor } from "../../fixtures/agents/scenario.ts";
import { bundleCli, shell } from "../../surfaces/cli/real-cli.ts";
import { registryIn } from "../../surfaces/cli/stored-runs.ts";
import { DONE, disposes, fails, passes, starts } from "./frames.ts";
import { copyWithoutJournal } from "./played-case.ts";

const JOURNAL = "failures.jsonl";
const A = `tool:${sessionTag("s1")}:a`;
const UNTIL_CANCELLED = waitFor("session/cancel");
const WAIT = { timeout: 30_000, interval: 5 };

let ostler: string;
beforeAll(async () => {
  ostler = await bundleCli("failure-cases");
});

/** An Ostler whose agent plays this for each prompt of the line. */
function asking(line: string, prompts: Scenario["prompts"]) {
  const initializeResult = { agentCapabilities: { loadSession: true, mcpCapabilities: { http: true } } };
  const scenario = { initializeResult, on: { "session/load": [[reply({})]] }, ...(prompts && { prompts }) };
  const asked = shell(ostler, line, scenario);
  return { ...asked, registry: registryIn(asked.folder) };
}

/** As soon as the journal of the one run holds what `isThere` waits for, its Ostler is killed. */
async function killWhen(registry: RunRegistry, isThere: (records: readonly string[]) => boolean): Promise<string> {
  const meta = await vi.waitFor(() => {
    const now = metaOf(registry);
    expect(isThere(recordsIn(registry.runFolder(now.id)))).toBe(true);
    return now;
  }, WAIT);
  const { supervisor, process: agent } = meta;
  signalProcess(supervisor, "SIGKILL");
  await vi.waitFor(() => expect(isAlive(supervisor) || (agent !== undefined && isAlive(agent))).toBe(false), WAIT);
  return registry.runFolder(meta.id);
}

function metaOf(registry: RunRegistry): RunMeta {
  const [id = ""] = registry.ids();
  const meta = registry.readMeta(id);
  if (typeof meta === "string") throw new Error(`The metadata of ${id} is ${meta}`);
  return meta;
}

function recordsIn(folder: string): readonly string[] {
  return readFileSync(join(folder, JOURNAL), "utf8").split("\n").filter(Boolean);
}

function isDisposition(line: string): boolean {
  return line.includes('"kind":"disposition"');
}

/** As a person would count them. */
function incidentsIn(folder: string): readonly string[] {
  return [...readJournal(folder).incidents.values()].map(
    (incident) => `${labelOf(incident)}: ${incident.id}, occurrences ${incident.occurrences}`,
  );
}

/** The next Ostler; what it tells. */
async function settle(registry: RunRegistry): Promise<readonly string[]> {
  const told: string[] = [];
  const deliver = ({ moment, incidents }: Notification): Promise<void> => {
    told.push(`${moment}: ${incidents.map(({ id }) => id).join()}`);
    return Promise.resolve();
  };
  await settleOpenRuns({ state: join(registry.folder, ".."), sink: { deliver } });
  return told;
}

test("failure observations, cases 41 and 42: killed when a disposition was journaled, and before it was", async () => {
  const { registry, folder } = asking("ostler ask --confined --approve all -s case one", {
    one: [[...fails("a"), disposes("open", ["a"]), UNTIL_CANCELLED]],
  });
  const runFolder = await killWhen(registry, (records) => records.some(isDisposition));
  expect(logOf(join(folder, "agent.log")).filter(({ called }) => called?.isError === true)).toEqual([]);

  // What there would be had it been killed a moment earlier: the log has the accepted call, the journal does not.
  const earlier = copyWithoutJournal(folder, metaOf(registry).id);
  const before = recordsIn(runFolder).filter((line) => !isDisposition(line));
  writeFileSync(join(earlier.folder, JOURNAL), before.map((line) => `\n${line}\n`).join(""));
  // Nor does the marker know of it: it is brought up to date after a record, never before.
  writeFileSync(join(earlier.folder, `${JOURNAL}.observed`), JSON.stringify({ v: 1, records: 0, bytes: 0 }));
  expect(incidentsIn(earlier.folder)).toEqual([`Unclassified failure observation: ${A}, occurrences 1`]);

  for (const [where, there] of [
    [registry, runFolder],
    [earlier.registry, earlier.folder],
  ] as const) {
    expect(await settle(where)).toEqual([`lost: ${A}`]);
    expect(recordsIn(there).filter(isDisposition)).toHaveLength(1);
    expect(incidentsIn(there)).toEqual([`Action required: ${A}, occurrences 1`]);
    const size = recordsIn(there).length;
    expect(await settle(where)).toEqual([]);
    expect(recordsIn(there)).toHaveLength(size);
    expect(metaOf(where).status).toBe("lost");
  }
});

test.each([
  {
    from: "the second failure of a call whose id had succeeded",
    line: "ostler ask -s case one >/dev/null; ostler ask -s case two",
    one: [...passes("a"), ...DONE],
    two: [...fails("a"), ...fails("b"), UNTIL_CANCELLED],
    records: 2,
    incidents: [`Unclassified failure observation: ${A}, occurrences 2`],
  },
  {
    from: "a recovery, and a call that was open",
    line: "ostler ask -s case one >/dev/null; ostler ask -s case two",
    one: [...fails("a"), ...DONE],
    two: [starts("open", "make"), ...passes("a"), UNTIL_CANCELLED],
    records: 3,
    incidents: [`Recovered: ${A}, occurrences 1`],
  },
  {
    from: "the third failure",
    line: "ostler ask -s case two",
    one: [],
    two: [...fails("a"), ...fails("b"), ...fails("c"), UNTIL_CANCELLED],
    records: 3,
    incidents: [`Action required: ${A}, occurrences 3`],
  },
])("killed after $from: whoever reads the log again counts nothing twice", async ({ line, one, two, ...expected }) => {
  const { registry } = asking(line, { one: [one], two: [two] });
  const runFolder = await killWhen(registry, (records) => records.length >= expected.records);
  const anew = copyWithoutJournal(join(runFolder, "../../../.."), metaOf(registry).id);
  expect(incidentsIn(runFolder)).toEqual(expected.incidents);
  await settle(registry);
  expect(metaOf(registry).status).toBe("lost");
  expect(incidentsIn(runFolder)).toEqual(expected.incidents);
  await settle(anew.registry);
  expect(incidentsIn(anew.folder)).toEqual(expected.incidents);
});

test.each([
  { from: "a run of which nothing is believed", options: "" },
  { from: "a confined one", options: "--confined" },
])("killed, and the session goes on: $from", async ({ options }) => {
  const ask = `ostler ask ${options} -s case`;
  const { registry, folder, done } = asking(`${ask} one; ${ask} two; ${ask} three`, {
    one: [[...passes("a"), ...fails("z", "make"), ...DONE]],
    two: [[...fails("a"), starts("open", "make"), ...fails("b"), UNTIL_CANCELLED]],
    three: [[...passes("a"), ...fails("open", "make"), ...DONE]],
  });
  const runFolder = await killWhen(registry, (records) => records.length >= 4);
  const { code } = await done;
  expect(code).toBe(0);
  const incidents = [
    `Unclassified failure observation: tool:${sessionTag("s1")}:z, occurrences 2`,
    `Recovered: ${A}, occurrences 2`,
  ];
  expect(incidentsIn(runFolder)).toEqual(incidents);
  const anew = copyWithoutJournal(folder, metaOf(registry).id);
  await readToTheEnd(anew.registry, metaOf(anew.registry));
  expect(incidentsIn(anew.folder)).toEqual(incidents);
});

test("failure observations, case 74: two supervisors observe one run", async () => {
  const { registry, folder, done } = asking("ostler ask --confined --approve all -s case one", {
    one: [[...fails("a"), { untilFile: "go" }, ...fails("b"), ...fails("c"), ...DONE]],
  });
  const runFolder = await vi.waitFor(() => {
    const there = registry.runFolder(metaOf(registry).id);
    expect(recordsIn(there)).toHaveLength(1);
    return there;
  }, WAIT);
  const second = async (): Promise<void> => readToTheEnd(registry, metaOf(registry));
  await Promise.all([second(), second()]);
  expect(incidentsIn(runFolder)).toEqual([`Unclassified failure observation: ${A}, occurrences 1`]);
  writeFileSync(join(folder, "go"), "");
  await second();
  const { code, stderr } = await done;
  expect(code).toBe(0);
  await Promise.all([second(), second()]);
  expect(incidentsIn(runFolder)).toEqual([`Action required: ${A}, occurrences 3`]);
  expect(stderr.match(/^(?:ostler: )?Action required · /gm)).toHaveLength(1);
});
