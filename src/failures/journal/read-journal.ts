/** A journal as another process sees it, who only looks: the same fold, and nothing is written. */
import { systemCode } from "../../errors/system-code.ts";
import { IncidentFold } from "../incidents/fold.ts";
import type { FailureEvent, IncidentState } from "../records.ts";
import { journalFiles, withFile } from "./journal-file.ts";
import { readMarker } from "./marker.ts";
import { JournalReader } from "./reader.ts";
import { damageGap, missingGap, outageGap, shorterGap } from "./storage-gaps.ts";

export interface ReadJournalOptions {
  /** The run goes on: a last line without its end is being written. */
  readonly isLive?: boolean;
  /** Milliseconds since 1970; the system's clock unless given. */
  readonly now?: number;
}

/** What the journal in a run's folder says. Evidence that is missing is an incident in it. Never throws. */
export function readJournal(
  folder: string,
  { isLive = false, now = Date.now() }: ReadJournalOptions = {},
): IncidentState {
  const fold = new IncidentFold();
  const gaps = read(folder, fold, isLive, now);
  for (const event of gaps) fold.apply({ event, observedAt: now });
  return fold.state;
}

function read(folder: string, fold: IncidentFold, isLive: boolean, now: number): readonly FailureEvent[] {
  const files = journalFiles(folder);
  const marker = readMarker(files.marker);
  const reader = new JournalReader();
  try {
    withFile(files.journal, "read", (fd) => reader.read(fd, (record) => fold.apply(record)));
  } catch (error) {
    const code = systemCode(error);
    if (code !== "ENOENT") return [outageGap("read", code || "EIO", "reader", now)];
    return marker === undefined ? [] : [missingGap(marker.bytes)];
  }
  if (!isLive) reader.missUnfinished();
  const shorter = marker !== undefined && reader.bytes < marker.bytes ? [shorterGap(reader.bytes, marker.bytes)] : [];
  const damage = damageGap(reader.damage);
  return damage === undefined ? shorter : [damage, ...shorter];
}
