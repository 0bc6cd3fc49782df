/**
 * A person reads that a permission is missing: the goal of that conversation, if it is active, is held from then on. What
 * is read is written down first; whoever runs the session, now or next, decides whether its goal is active.
 */
import { compareForList, isActionRequired } from "../failures/incidents/labels.ts";
import type { Incident, PermissionBlocker } from "../failures/records.ts";
import type { RunMeta } from "../failures/runs/meta.ts";
import { OwnerCallError } from "./owner-client.ts";
import { socketPathOf } from "./owner-socket.ts";
import { holdAtOwner } from "./owner-work.ts";
import type { Paths } from "./paths.ts";
import { GoalHolds } from "./permission-hold-file.ts";
import type { GoalHold } from "./permission-hold-file.ts";
import { openStore } from "./store.ts";

/** What came of an inspection. */
export interface Inspected {
  readonly hold: GoalHold;
  /** Of the session, as `-s` takes it. */
  readonly name: string;
}

/** The first report among incidents that somebody has to act on, in the order of lists; of one incident its newest. */
export function actionableReport(incidents: Iterable<Incident>): PermissionBlocker | undefined {
  return [...incidents]
    .filter((incident) => isActionRequired(incident) && (incident.permissionBlockers ?? []).length > 0)
    .toSorted(compareForList)[0]
    ?.permissionBlockers?.at(-1);
}

/**
 * Holds the goal of the conversation that the run belongs to; undefined when none is held. Throws the system's error when
 * that cannot be written down, and `StoreError`.
 */
export async function holdAfterInspection(
  paths: Paths,
  { id: runId, conversationId }: Pick<RunMeta, "id" | "conversationId">,
  { incidentId, resource, operation }: PermissionBlocker,
): Promise<Inspected | undefined> {
  if (conversationId === undefined) return undefined;
  using store = openStore(paths);
  const record = store.get(conversationId);
  if (record === undefined || record.sessionId === null) return undefined;
  const holds = new GoalHolds(paths.state);
  if (holds.read(conversationId) === undefined)
    holds.write(conversationId, { incidentId, resource, operation, runId, since: Date.now(), status: "due" });
  // After the hold was written: an owner that came meanwhile has either read it or can be asked.
  const owner = store.get(conversationId)?.owner;
  if (owner !== undefined && !owner.elsewhere) await askOwner(socketPathOf(paths, owner), conversationId);
  const hold = holds.read(conversationId);
  return hold && { hold, name: record.name ?? conversationId };
}

/** One that cannot be asked finds the hold when the session is opened next. */
async function askOwner(path: string, conversationId: string): Promise<void> {
  try {
    await holdAtOwner(path, conversationId);
  } catch (error) {
    if (!(error instanceof OwnerCallError)) throw error;
  }
}
