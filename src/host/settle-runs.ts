/**
 * What the next Ostler does about runs whose supervisor is gone: their logs are read to the end, they are orphaned or
 * lost from then on, and that is told once (failure observations, sections 1 and 8).
 */
import { Journal } from "../failures/journal/journal.ts";
import type { NotificationSink } from "../failures/notification.ts";
import { Notifier } from "../failures/notify/notifier.ts";
import { Observer } from "../failures/observation/observer.ts";
import { rescan } from "../failures/rescan.ts";
import { settleRuns } from "../failures/runs/lifecycle.ts";
import type { Callback, SettledRun } from "../failures/runs/lifecycle.ts";
import type { RunMeta } from "../failures/runs/meta.ts";
import { metadataGapEvent } from "../failures/runs/metadata-gap.ts";
import { RunRegistry } from "../failures/runs/registry.ts";
import { readTrust } from "../failures/runs/trust.ts";
import { noteLostCommand } from "./command-run-lost.ts";

export interface SettleOptions {
  /** `Paths.state`. */
  readonly state: string;
  /** Arguments that only describe a call count as arguments. Default false: `failures.strictRetry`. */
  readonly strict?: boolean;
  /** Takes what there is to tell. */
  readonly sink: NotificationSink;
}

/** Settles all runs that need it. Does not reject: what cannot be done now is met again by the next command. */
export function settleOpenRuns({ state, strict = false, sink }: SettleOptions): Promise<SettledRun[]> {
  const registry = new RunRegistry(state);
  return settleRuns(registry, {
    rescan: (meta) => (meta.kind === "agent" ? readToTheEnd(registry, meta, strict) : noteLostCommand(registry, meta)),
    tell: (meta, callback) => tell(registry, meta, callback, sink),
  });
}

/**
 * Observes what the log of a run that is over holds. Output of a command is not observed: only an agent's log holds more
 * than its journal.
 */
export async function readToTheEnd(registry: RunRegistry, meta: RunMeta, strict = false): Promise<void> {
  const { id, kind, conversationId = id } = meta;
  if (kind !== "agent") return;
  const journal = Journal.open(registry.runFolder(id));
  const trust = readTrust(registry, id);
  if (trust === "unknown") void journal.append([metadataGapEvent({ n: 0, at: Date.now() })], { durable: false });
  const trusted = trust === "trusted";
  const observer = new Observer({ runId: id, conversationId, trusted, strict });
  rescan({ runId: id, logFile: registry.logFile(id), observer, journal, trusted, terminal: true });
  await journal.close();
}

/** Rejects when the sink did not take it. */
async function tell(registry: RunRegistry, meta: RunMeta, callback: Callback, sink: NotificationSink): Promise<void> {
  const { id } = meta;
  const journal = Journal.open(registry.runFolder(id));
  const notifier = new Notifier({
    journal,
    sink,
    readMeta: () => meta,
    // Whoever settles a run writes that down itself.
    markTold: () => {},
    announcesEnd: true,
  });
  const result = await notifier.ended(callback);
  await notifier.close();
  await journal.close();
  if (result === "deferred") throw new Error(`Nobody took what there is to tell of ${id}`);
}
