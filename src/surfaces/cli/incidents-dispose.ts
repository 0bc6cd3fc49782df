/** What a person says of an incident: written into the journal of its run, on disk, before it is said to be done. */
import { randomUUID } from "node:crypto";
import type { AttemptBook } from "../../failures/attempt-book.ts";
import { decideDisposition } from "../../failures/incidents/disposition.ts";
import { labelOf } from "../../failures/incidents/labels.ts";
import { Journal } from "../../failures/journal/journal.ts";
import { readJournal } from "../../failures/journal/read-journal.ts";
import { oneLine } from "../../failures/pages/excerpt.ts";
import { UsageError } from "../../host/usage-error.ts";
import { findIncident } from "./find-incident.ts";
import type { SeenRun } from "./find-run.ts";
import type { IncidentsRequest, Told } from "./incidents-command.ts";
import { shownIncident } from "./shown-run.ts";

/** Without evidence none is looked up. */
const NO_ATTEMPTS: AttemptBook = {
  byAttemptId: () => undefined,
  byToolCallId: () => undefined,
  operationOf: () => undefined,
  isSpent: () => false,
};

/**
 * Works also while another Ostler supervises the run: both append to one journal. Throws UsageError for a disposition that
 * does not hold.
 */
export async function disposeIncident(word: string, request: IncidentsRequest): Promise<Told> {
  const { as, reason, evidence } = request.options;
  if (as === undefined) throw new UsageError("Say what it is: --as recovered, superseded, expected or open");
  if (reason === undefined) throw new UsageError("Say why, with --reason: it is kept with the incident");
  const { run, incident } = findIncident(word, request.seen);
  const folder = request.registry.runFolder(run.id);
  const attempts = evidence === undefined ? NO_ATTEMPTS : await attemptsOf(request, run);
  const journal = Journal.open(folder, { isLive: true });
  const asked = { disposition: as, targets: [incident.id], reason, ...(evidence !== undefined && { evidence }) };
  const decision = decideDisposition(asked, {
    state: journal.state,
    attempts,
    by: "human",
    runId: run.id,
    callId: randomUUID(),
    atN: Infinity,
    at: Date.now(),
  });
  const stored = decision.accepted ? await journal.append([decision.event], { durable: true }) : "stored";
  await journal.close();
  if (!decision.accepted) throw new UsageError(decision.message.split("\n", 1)[0] ?? "");
  if (stored === "pending") return notDone(run.id, "its journal cannot be written");
  // Whoever was faster stands before it in the file; then it says nothing.
  const { incidents, incidentOfEvent } = readJournal(folder, { isLive: true });
  const disposed = incidents.get(incident.id);
  if (disposed === undefined || !incidentOfEvent.has(decision.event.id))
    return notDone(run.id, "the incident changed meanwhile; look at it again with ostler incidents show");
  return {
    text: `${labelOf(disposed)}: ${oneLine(incident.id)}`,
    json: { disposed: true, incident: shownIncident(run.id, disposed) },
  };
}

/** From the run's log, read as whoever supervises the run reads it. */
async function attemptsOf({ registry, io, options }: IncidentsRequest, { id, meta }: SeenRun): Promise<AttemptBook> {
  const [{ scanRunLog }, { Observer }, { readTrust }, { loadConfig }] = await Promise.all([
    import("../../failures/log/scan.ts"),
    import("../../failures/observation/observer.ts"),
    import("../../failures/runs/trust.ts"),
    import("../../host/config.ts"),
  ]);
  const configFile = options.config;
  const { config } = await loadConfig({ cwd: io.cwd, env: io.env, ...(configFile !== undefined && { configFile }) });
  const observer = new Observer({
    runId: id,
    conversationId: meta === "unreadable" ? id : (meta.conversationId ?? id),
    trusted: readTrust(registry, id) === "trusted",
    strict: config.failures.strictRetry,
  });
  const state = readJournal(registry.runFolder(id), { isLive: true });
  scanRunLog(registry.logFile(id), {
    onLine: (line, byte) => void observer.observe(line, byte, state),
    onGap: () => {},
  });
  return observer.attempts;
}

function notDone(runId: string, why: string): Told {
  const problem = `Nothing was recorded for run ${runId}: ${why}`;
  return { text: "", json: { disposed: false, problem }, problem };
}
