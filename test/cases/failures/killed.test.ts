/** Cases about an Ostler that is killed, or is not alone: real processes, and whoever comes after them. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
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
import type { Action } from "../../fixtures/agents/scenario.ts";
import { logOf } from "../../fixtures/agents/scenario.ts";
import { bundleCli, shell } from "../../surfaces/cli/real-cli.ts";
import { registryIn } from "../../surfaces/cli/stored-runs.ts";
import { DONE, disposes, fails } from "./frames.ts";
import { copyWithoutJournal } from "./played-case.ts";

const JOURNAL = "failures.jsonl";
const A = `tool:${sessionTag("s1")}:a`;
const WAIT = { timeout: 30_000, interval: 5 };

let ostler: string;
beforeAll(async () => {
  ostler = await bundleCli("failure-cases");
});

/** An Ostler whose confined agent plays this. */
function asking(actions: (folder: string) => readonly Action[], folderOf = "go") {
  const scenario = {
    initializeResult: { agentCapabilities: { mcpCapabilities: { http: true } } },
    on: { "session/prompt": [actions(folderOf)] },
  };
  const asked = shell(ostler, "ostler ask --confined --approve all -s case hello", scenario);
  return { ...asked, registry: registryIn(asked.folder) };
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

const dispositionsIn = (folder: string): readonly string[] =>
  recordsIn(folder).filter((line) => line.includes('"kind":"disposition"'));

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
  const { registry, folder } = asking(() => [
    ...fails("a"),
    disposes("open", ["a"]),
    { wait: { method: "session/cancel" } },
  ]);
  const runFolder = await vi.waitFor(() => {
    const there = registry.runFolder(metaOf(registry).id);
    expect(dispositionsIn(there)).toHaveLength(1);
    return there;
  }, WAIT);
  const meta = metaOf(registry);
  signalProcess(meta.supervisor, "SIGKILL");
  await vi.waitFor(() => expect(isAlive(meta.supervisor)).toBe(false), WAIT);
  await vi.waitFor(() => expect(meta.process !== undefined && isAlive(meta.process)).toBe(false), WAIT);
  expect(logOf(join(folder, "agent.log")).filter(({ called }) => called?.isError === true)).toEqual([]);

  // What there would be had it been killed a moment earlier: the log has the accepted call, the journal does not.
  const earlier = copyWithoutJournal(folder, meta.id);
  const before = recordsIn(runFolder).filter((line) => !line.includes('"kind":"disposition"'));
  writeFileSync(join(earlier.folder, JOURNAL), before.map((line) => `\n${line}\n`).join(""));
  copyFileSync(join(runFolder, `${JOURNAL}.observed`), join(earlier.folder, `${JOURNAL}.observed`));
  expect(incidentsIn(earlier.folder)).toEqual([`Unclassified failure observation: ${A}, occurrences 1`]);

  for (const [where, there] of [
    [registry, runFolder],
    [earlier.registry, earlier.folder],
  ] as const) {
    expect(await settle(where)).toEqual([`lost: ${A}`]);
    expect(dispositionsIn(there)).toHaveLength(1);
    expect(incidentsIn(there)).toEqual([`Action required: ${A}, occurrences 1`]);
    const size = recordsIn(there).length;
    expect(await settle(where)).toEqual([]);
    expect(recordsIn(there)).toHaveLength(size);
    expect(metaOf(where).status).toBe("lost");
  }
});

test("failure observations, case 74: two supervisors observe one run", async () => {
  const { registry, folder, done } = asking(() => [
    ...fails("a"),
    { untilFile: "go" },
    ...fails("b"),
    ...fails("c"),
    ...DONE,
  ]);
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
