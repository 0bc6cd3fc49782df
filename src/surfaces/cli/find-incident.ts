/** The incident that a word on the command line names. */
import type { Incident } from "../../failures/records.ts";
import { UsageError } from "../../host/usage-error.ts";
import { notFound } from "./find-run.ts";
import type { SeenRun } from "./find-run.ts";

/** Ids that a sentence names. */
const MAX_NAMED = 5;

export interface FoundIncident {
  readonly run: SeenRun;
  readonly incident: Incident;
}

/** By its id, else by the beginning of it. Throws kind `session_not_found` (exit 4) for none, UsageError for several. */
export function findIncident(word: string, seen: readonly SeenRun[]): FoundIncident {
  if (word.trim() === "") throw new UsageError("An empty word names no incident; ostler incidents --history lists all");
  const all = seen.flatMap((run) => [...run.state.incidents.values()].map((incident) => ({ run, incident })));
  const exact = all.filter(({ incident }) => incident.id === word);
  const fits = exact.length > 0 ? exact : all.filter(({ incident }) => incident.id.startsWith(word));
  const [found, ...others] = fits;
  if (found === undefined)
    throw notFound(`There is no incident ${JSON.stringify(word)}; ostler incidents --history lists all`);
  if (others.length === 0) return found;
  const isOne = fits.every(({ incident }) => incident.id === found.incident.id);
  throw new UsageError(
    isOne
      ? `${fits.length} runs have an incident "${word}"; say which with --run, one of ${named(fits.map(({ run }) => run.id))}`
      : `${fits.length} incidents begin with "${word}"; say more of the id: ${named(fits.map(({ incident }) => incident.id))}`,
  );
}

function named(names: readonly string[]): string {
  return [...new Set(names)].slice(0, MAX_NAMED).join(", ");
}
