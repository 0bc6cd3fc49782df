/** What is kept of runs, and whether agents can be held away from it. Only looks; says nothing where nothing is wrong. */
import { decideLifecycle, lookAt } from "../failures/runs/lifecycle.ts";
import { RunRegistry } from "../failures/runs/registry.ts";
import { lackForConfinement } from "./confinement.ts";
import { remark, shellLine } from "./finding.ts";
import type { Finding } from "./finding.ts";
import type { Paths } from "./paths.ts";

/** Runs that a sentence names. */
const MAX_NAMED = 3;

/** Runs whose metadata is damaged, and runs of which it cannot be told from here whether they go on. */
export function inspectRuns({ state }: Pick<Paths, "state">, env: NodeJS.ProcessEnv): Finding[] {
  const registry = new RunRegistry(state);
  const damaged = registry.list().flatMap(({ id, meta }) => (meta === "unreadable" ? [id] : []));
  const [first] = damaged;
  const elsewhere = registry.openIds().filter((id) => {
    const meta = registry.readMeta(id);
    return typeof meta !== "string" && decideLifecycle(meta, lookAt(registry, meta, Date.now())) === "undecidable";
  });
  return [
    ...(first === undefined
      ? []
      : [
          remark(
            "runs",
            `The metadata of ${named(damaged)} cannot be read; what failed in it still can, with ostler runs show`,
            shellLine(["mv", registry.runFolder(first), `${registry.runFolder(first)}.damaged`], env),
          ),
        ]),
    ...(elsewhere.length === 0
      ? []
      : [remark("runs", `Whether ${named(elsewhere)} still goes on cannot be told here: it is of another system`)]),
  ];
}

/** `confined`: the configuration asks for it. Nobody can give it to a system that has no bubblewrap at all. */
export function inspectConfinement(confined: boolean, env: NodeJS.ProcessEnv): Finding[] {
  const lack = lackForConfinement(env);
  if (lack === undefined || (!confined && process.platform !== "linux")) return [];
  return [remark("confinement", `Runs cannot be confined: ${lack}`)];
}

function named(ids: readonly string[]): string {
  if (ids.length === 1) return `run ${ids[0]}`;
  const more = ids.length > MAX_NAMED ? `, and ${ids.length - MAX_NAMED} more` : "";
  return `${ids.length} runs (${ids.slice(0, MAX_NAMED).join(", ")}${more})`;
}
