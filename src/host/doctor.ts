/** What keeps an agent from working: data for `ostler doctor` and `ostler backends`. It names variables, never values. */
import { backendNames, checkBackendName } from "./backend-names.ts";
import { fine, remark, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { inspectBackend } from "./inspect-backend.ts";
import type { BackendReport, InspectOptions } from "./inspect-backend.ts";
import { inspectOwnNode } from "./inspect-node.ts";
import { inspectLeftovers } from "./inspect-restarts.ts";
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
  const { loaded, only, signal } = options;
  if (only !== undefined) checkBackendName(loaded.config, only);
  const names = only === undefined ? backendNames(loaded.config) : [only];
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

async function inspectMachine({ loaded, env, smoke = false }: InspectOptions): Promise<Finding[]> {
  const paths = ostlerPaths(env);
  const { sources, warnings } = loaded;
  const files = sources.map((file) => shortPath(file, env)).join(", ");
  return [
    inspectOwnNode(),
    inspectStateFolder(paths, { env, tries: smoke }),
    ...(await inspectStore(paths, env)),
    ...inspectLeftovers(paths),
    fine("config", sources.length === 0 ? "defaults, no file" : files),
    ...warnings.map((warning) => remark("config", warning, `Correct it there: docs/config.md lists every key`)),
  ];
}
