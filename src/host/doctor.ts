/** What keeps an agent from working: data for `ostler doctor` and `ostler backends`. It names variables, never values. */
import { backendNames, checkBackendName } from "./backend-names.ts";
import { correctionOf, isSpoilt } from "./config-fault.ts";
import { fine, remark, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { inspectBackend } from "./inspect-backend.ts";
import type { BackendReport, InspectOptions } from "./inspect-backend.ts";
import { inspectOwnNode } from "./inspect-node.ts";
import { inspectLeftovers } from "./inspect-restarts.ts";
import { inspectConfinement, inspectRuns } from "./inspect-runs.ts";
import { inspectStateFolder } from "./inspect-state.ts";
import { inspectStore } from "./inspect-store.ts";
import { ostlerPaths, shortPath } from "./paths.ts";
import { installCommand } from "./resolve.ts";

export interface DoctorReport {
  /** Everything that was asked about works: the named backend, else every one that is installed or configured. */
  readonly ok: boolean;
  /** About this machine: Node, the state folder, the configuration. */
  readonly findings: readonly Finding[];
  readonly config: { readonly sources: readonly string[] };
  readonly backends: readonly BackendReport[];
}

/** Looks at everything that can be looked at without a prompt. Throws UsageError for an unknown `only`, and the reason of the signal. */
export async function inspectBackends(options: InspectOptions): Promise<DoctorReport> {
  const { loaded, faults = [], only, signal } = options;
  // A name whose settings are at fault may be left without any.
  if (only !== undefined && !isSpoilt(only, faults)) checkBackendName(loaded.config, only);
  const names = backendNames(loaded.config).filter((name) => only === undefined || name === only);
  const machine = await inspectMachine(options);
  const backends: BackendReport[] = [];
  // One after the other: agents are heavy, and a report in which two starve each other says nothing.
  for (const name of names) {
    signal?.throwIfAborted();
    backends.push(await inspectBackend(name, options));
  }
  const isAnyThere =
    only !== undefined || backends.some(({ status, backend }) => status === "found" && backend !== "demo");
  const findings = isAnyThere
    ? machine
    : [...machine, wrong("agents", "No agent is installed", `${installCommand("claude")}`)];
  const ok = [...findings, ...backends].every((part) => part.ok);
  return { ok, findings, config: { sources: loaded.sources }, backends };
}

async function inspectMachine(options: InspectOptions): Promise<Finding[]> {
  const { env, smoke = false } = options;
  const paths = ostlerPaths(env);
  return [
    inspectOwnNode(),
    inspectStateFolder(paths, { env, tries: smoke }),
    ...(await inspectStore(paths, env)),
    ...inspectLeftovers(paths),
    ...inspectRuns(paths, env),
    ...inspectConfinement(options.loaded.config.confined, env),
    ...inspectConfig(options),
  ];
}

/** File by file. */
function inspectConfig({ loaded, faults = [], env }: InspectOptions): Finding[] {
  const files = loaded.sources.map((file) => shortPath(file, env));
  const found = [
    ...faults.map(({ sentence, fix }) => wrong("config", sentence, fix)),
    ...loaded.warnings.map((warning) => {
      const file = files.findLast((name) => warning.startsWith(`${name}:`) || warning.startsWith(`${name} `));
      return remark("config", warning, correctionOf(file ?? "the configuration"));
    }),
  ];
  const whole = fine("config", files.length === 0 ? "defaults, no file" : files.join(", "));
  return [...(faults.length > 0 ? [] : [whole]), ...Map.groupBy(found, ({ fix }) => fix).values()].flat();
}
