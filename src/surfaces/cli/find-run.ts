/** The run that a word on the command line names, with what is known of it. */
import { startError } from "../../acp/death.ts";
import { plainVerdict } from "../../acp/make-failure.ts";
import { readJournal } from "../../failures/journal/read-journal.ts";
import type { IncidentState } from "../../failures/records.ts";
import type { RunMeta } from "../../failures/runs/meta.ts";
import type { RunRegistry } from "../../failures/runs/registry.ts";
import { isEnded } from "../../failures/runs/settled.ts";
import { UsageError } from "../../host/usage-error.ts";

/** Runs that a sentence names. */
const MAX_NAMED = 5;

/** A run as it is on disk. */
export interface SeenRun {
  readonly id: string;
  /** `unreadable`: its `meta.json` is damaged; its incidents are known all the same. */
  readonly meta: RunMeta | "unreadable";
  readonly state: IncidentState;
}

/** By its id or the beginning of it. Throws kind `session_not_found` (exit 4) for none, UsageError for several. */
export function findRun(registry: RunRegistry, word: string): SeenRun {
  if (word.trim() === "") throw new UsageError("An empty word names no run; ostler runs lists all");
  const ids = registry.ids();
  const fits = ids.includes(word) ? [word] : ids.filter((id) => id.startsWith(word));
  const [id, ...others] = fits;
  if (id === undefined) throw notFound(`There is no run ${JSON.stringify(word)}; ostler runs lists all`);
  if (others.length > 0)
    throw new UsageError(
      `${fits.length} runs begin with "${word}"; say more of the id: ${fits.slice(0, MAX_NAMED).join(", ")}`,
    );
  const meta = registry.readMeta(id);
  if (meta === "missing" && !registry.has(id)) throw notFound(`Run ${id} was removed just now`);
  return seeRun(registry, id, meta === "missing" ? "unreadable" : meta);
}

/** Every run, the newest first. */
export function seeRuns(registry: RunRegistry): SeenRun[] {
  return registry.list().map(({ id, meta }) => seeRun(registry, id, meta));
}

/** What somebody asked for is not there: exit code 4. */
export function notFound(title: string): Error {
  return startError({ verdict: plainVerdict("session_not_found", "no-such-run"), source: "spawn", title }, undefined);
}

function seeRun(registry: RunRegistry, id: string, meta: SeenRun["meta"]): SeenRun {
  const isLive = meta === "unreadable" || !isEnded(meta.status);
  return { id, meta, state: readJournal(registry.runFolder(id), { isLive }) };
}
