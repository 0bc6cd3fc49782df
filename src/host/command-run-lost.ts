/** A background command whose supervisor was gone before it: nobody was there to see how it ended. */
import { Journal } from "../failures/journal/journal.ts";
import { keyOf } from "../failures/keys.ts";
import type { RunMeta } from "../failures/runs/meta.ts";
import type { RunRegistry } from "../failures/runs/registry.ts";
import { operationOfCommand } from "../failures/observation/command-exit.ts";

/**
 * Says so in the journal of a lost command or watch, once; the log of a command cannot say it. A later success of the same
 * operation recovers it, as it would a failed exit. Never rejects.
 */
export async function noteLostCommand(registry: RunRegistry, meta: RunMeta): Promise<void> {
  const journal = Journal.open(registry.runFolder(meta.id));
  const event = {
    kind: "failure" as const,
    category: "supervision" as const,
    id: `lost:${meta.id}`,
    operation: meta.kind === "watch" ? keyOf("watch-eval", meta.id) : operationOfCommand(meta),
    summary: "The supervisor of the command was gone before its end: how it ended is not known",
    evidence: "output.log",
  };
  await journal.append([event], { durable: true });
  await journal.close();
}
