/**
 * A command run that declared what it is a try of, and succeeded, recovers the failures of earlier tries: of the same
 * operation and owner, and over before it started (failure observations, sections 4.5 and 10). Journals take several
 * writers, so that this is written where it belongs: with the run that failed.
 */
import { Journal } from "../failures/journal/journal.ts";
import { operationOfCommand } from "../failures/observation/command-exit.ts";
import type { RecoveredEvent } from "../failures/records.ts";
import type { RunMeta } from "../failures/runs/meta.ts";
import type { RunRegistry } from "../failures/runs/registry.ts";

/** Whether a success of `later` recovers a failure of `earlier`. Pure. */
export function recovers(later: RunMeta, earlier: RunMeta): boolean {
  return (
    later.id !== earlier.id &&
    later.operationId !== undefined &&
    Boolean(later.owner) &&
    later.owner === earlier.owner &&
    operationOfCommand(later) === operationOfCommand(earlier) &&
    // No ordinal spans two runs: the clock has to do, and a doubt keeps the failure.
    earlier.endedAt !== undefined &&
    later.createdAt > earlier.endedAt
  );
}

/** Writes the recoveries that a success brings. Never rejects for a run that cannot be read. */
export async function recoverEarlier(registry: RunRegistry, later: RunMeta): Promise<void> {
  const earlier = registry.list().flatMap(({ meta }) => (meta !== "unreadable" && recovers(later, meta) ? [meta] : []));
  for (const { id } of earlier) {
    const journal = Journal.open(registry.runFolder(id));
    const operation = operationOfCommand(later);
    const incident = journal.state.incidents.get(journal.state.current.get(operation) ?? "");
    if (incident?.status === "unresolved") {
      const event: RecoveredEvent = {
        kind: "recovered",
        id: `recovered:${later.id}`,
        operation,
        at: Date.now(),
        incidents: [incident.id],
      };
      await journal.append([event], { durable: true });
    }
    await journal.close();
  }
}
