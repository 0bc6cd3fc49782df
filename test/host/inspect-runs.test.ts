/** What `ostler doctor` says of the runs that are kept. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RunRegistry } from "../../src/failures/runs/registry.ts";
import { inspectRuns } from "../../src/host/inspect-runs.ts";
import { aRun } from "../failures/runs/run-fixture.ts";

let home: string;
let state: string;
let registry: RunRegistry;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ostler-inspect-runs-"));
  state = join(home, "state");
  registry = new RunRegistry(state);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const inspect = () => inspectRuns({ state }, { HOME: home });

function given(...names: readonly string[]): string[] {
  return names.map((name) => {
    const id = `ag_${name}0000_1`;
    registry.createRun(aRun({ id }));
    return id;
  });
}

test("nothing is said of no runs, and of runs that are in order", () => {
  expect(inspect()).toEqual([]);
  given("aaaaaaaa");
  expect(inspect()).toEqual([]);
});

test("damaged metadata is said, with a line that sets the run aside", () => {
  const [id = ""] = given("aaaaaaaa");
  given("bbbbbbbb");
  writeFileSync(registry.metaFile(id), "{");
  expect(inspect()).toEqual([
    {
      check: "runs",
      ok: true,
      problem: `The metadata of run ${id} cannot be read; what failed in it still can, with ostler runs show`,
      fix: `mv ~/state/runs/${id} ~/state/runs/${id}.damaged`,
    },
  ]);
});

test("of many, three are named", () => {
  for (const id of given("aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "eeeeeeee"))
    writeFileSync(registry.metaFile(id), "{");
  expect(inspect()[0]?.problem).toMatch(
    /^The metadata of 5 runs \(ag_eeeeeeee0000_1, ag_dddddddd0000_1, ag_cccccccc0000_1, and 2 more\) cannot be read/,
  );
});

test("a run of another system is said, and nothing is proposed", () => {
  const [id = ""] = given("aaaaaaaa");
  const elsewhere = { pid: 4711, startedAt: "1", system: "0badb007-4026531836" };
  registry.updateMeta(id, { supervisor: elsewhere, machine: "0123456789ab" });
  expect(inspect()).toEqual([
    {
      check: "runs",
      ok: true,
      problem: `Whether run ${id} still goes on cannot be told here: it is of another system`,
    },
  ]);
});
