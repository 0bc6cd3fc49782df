/** The records of a journal that are about one incident, for whoever looks into its history. */
import { MAX_RECORD_BYTES } from "../records.ts";
import type { IncidentState, JournalRecord } from "../records.ts";
import { journalFiles, withFile } from "./journal-file.ts";
import { readLines } from "./lines.ts";
import { readRecord } from "./record.ts";

/**
 * In the order of the file; `state` is what the journal folds to. Records that it ignored are left out. Empty when the
 * journal cannot be read: never throws.
 */
export function readIncidentRecords(folder: string, incidentId: string, state: IncidentState): JournalRecord[] {
  const records = new Map<string, JournalRecord>();
  const take = (record: JournalRecord): void => {
    const { event } = record;
    if (!state.incidentOfEvent.has(event.id) || records.has(event.id)) return;
    const isAbout =
      "incidents" in event ? event.incidents.includes(incidentId) : state.incidentOfEvent.get(event.id) === incidentId;
    if (isAbout) records.set(event.id, record);
  };
  try {
    withFile(journalFiles(folder).journal, "read", (fd) =>
      readLines(fd, { from: 0, maxBytes: MAX_RECORD_BYTES - 1 }, (line) => {
        const record = line === undefined ? undefined : readRecord(line);
        if (record !== undefined) take(record);
      }),
    );
  } catch {
    // What is missing is an incident of its own.
  }
  return [...records.values()];
}
