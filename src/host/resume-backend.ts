/** `ostler backends resume`: the crashes of a backend are forgotten here and by every Ostler that runs. */
import { readPark } from "../acp/restart-policy.ts";
import type { Intensity, Park } from "../acp/restart-policy.ts";
import { CrashFiles } from "./crash-ledger.ts";
import { OwnerCallError, callOwner } from "./owner-client.ts";
import { listOwners } from "./owner-socket.ts";
import type { Paths } from "./paths.ts";

/** What was forgotten. */
export interface Resumed {
  /** Absent when the backend was not parked. */
  readonly park?: Park;
  /** How many crashes were written down. */
  readonly crashes: number;
  /** Sentences about what went wrong: the crashes could not be removed, or an Ostler that runs did not answer. */
  readonly problems: readonly string[];
}

const ANSWER_MS = 2000;
/** JSON-RPC. */
const METHOD_NOT_FOUND = -32601;

/** Forgets the crashes of a backend. What only another process remembers is forgotten by it, and not told. */
export async function resumeBackend(options: {
  readonly paths: Paths;
  readonly backend: string;
  readonly intensity: Intensity;
}): Promise<Resumed> {
  const { paths, backend, intensity } = options;
  const ledger = new CrashFiles(paths);
  const crashes = ledger.read(backend);
  ledger.clear(backend);
  const answers = await Promise.allSettled(
    listOwners(paths).map(({ path }) => callOwner(path, "backends/resume", { backend }, { timeoutMs: ANSWER_MS })),
  );
  const problems = [
    ledger.takeProblem(),
    ...answers.map((answer) => (answer.status === "rejected" ? sentenceOf(answer.reason) : undefined)),
  ].filter((problem) => problem !== undefined);
  const [park] = [...Map.groupBy(crashes, ({ program }) => program).values()]
    .map((history) => readPark(history, intensity))
    .filter((found) => found !== undefined)
    .toSorted((a, b) => b.since - a.since);
  return { crashes: crashes.length, problems, ...(park !== undefined && { park }) };
}

/** One that ended, or that never starts agents, has nothing to forget. */
function sentenceOf(error: unknown): string | undefined {
  if (!(error instanceof OwnerCallError)) throw error;
  const nothingToForget = error.reason === "gone" || error.reason === "closed" || error.code === METHOD_NOT_FOUND;
  return nothingToForget ? undefined : error.message;
}
