/**
 * The page of one run, as `result` and `output` show it: identity, failures, what changed, diagnostics, then what the
 * run said. Pure. Failures come first, before any progress can suggest that the work is well.
 */
import type { Incident, IncidentState } from "../records.ts";
import type { RunMeta } from "../runs/meta.ts";
import { budgetOf } from "./budgets.ts";
import { belowFailures, decisionOf } from "./below-failures.ts";
import { bytesOf } from "./bytes.ts";
import type { Content } from "./content.ts";
import { digestOf, encodeStatusCursor, isIncidentCursor, readStatusCursor } from "./cursor.ts";
import type { StatusCursor } from "./cursor.ts";
import { detailsBytes, pageDetails } from "./details.ts";
import type { PageDetails } from "./details.ts";
import { oneLine } from "./excerpt.ts";
import { failureSection } from "./failure-section.ts";
import { fitSection } from "./fit.ts";
import { incidentPage } from "./incident-page.ts";
import type { IncidentPageOptions } from "./incident-page.ts";
import { viewOf } from "./list-view.ts";
import type { Reset, ViewOptions } from "./list-view.ts";
import { unchangedText } from "./short-page.ts";

export interface RunPageOptions extends ViewOptions {
  /** `result` begins with the start of the content, `output` shows its end. */
  readonly surface: "result" | "output";
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly content?: Content | undefined;
  /** Shown when there is room: what is missing for trust, a log that could not be written. One sentence each. */
  readonly diagnostics?: readonly string[] | undefined;
  readonly maxBytes?: number | undefined;
}

export interface RunPage {
  /** The whole page. With the JSON of `details` it is within its budget. */
  readonly text: string;
  /** Goes on in the list of incidents, when not all of it is on this page. */
  readonly cursor?: string;
  /** Goes on behind the content of this page, and says later whether anything changed. */
  readonly next?: string;
  readonly reset?: Reset;
  /** Nothing changed since the cursor: the page is short. */
  readonly unchanged?: true;
  /** The incidents that have a row. */
  readonly incidents: readonly Incident[];
  /** The content on this page, without its heading. */
  readonly content: string;
  readonly details?: PageDetails;
}

/** What `runs result` shows: by default 8 KiB, from the start of the answer. */
export function resultPage(meta: RunMeta, state: IncidentState, options: Omit<RunPageOptions, "surface">): RunPage {
  return runPage(meta, state, { ...options, surface: "result" });
}

/** What `runs output` shows: by default 4 KiB, with the end of what the run said. */
export function outputPage(meta: RunMeta, state: IncidentState, options: Omit<RunPageOptions, "surface">): RunPage {
  return runPage(meta, state, { ...options, surface: "output" });
}

/**
 * One page of at most `maxBytes` (see `budgets.ts`). Throws a RangeError when it is too small to name the permission
 * reports that somebody must act on; everything else is dropped line by line.
 */
function runPage(meta: RunMeta, state: IncidentState, options: RunPageOptions): RunPage {
  const { surface, cursor, content, raw = false } = options;
  // Evidence as it is has a budget of its own.
  const budget = budgetOf(surface === "output" && raw ? "raw" : surface, options.maxBytes);
  const details = pageDetails(state, budget);
  const maxBytes = budget - detailsBytes(details);
  const shared = details === undefined ? {} : { details };
  if (cursor !== undefined && isIncidentCursor(cursor))
    return { ...listPage(meta, state, { ...options, maxBytes }), ...shared };
  const place = digestOf(surface, meta.id, raw, content?.name);
  const here = { failures: state.revision, status: meta.status, place };
  const { seen, reset } = readSeen(cursor, { place, bytes: content?.bytes ?? 0 });
  if (seen?.content === (content?.bytes ?? 0) && seen.failures === here.failures && seen.status === here.status) {
    const next = encodeStatusCursor(seen);
    const text = unchangedText(meta, state, { now: options.now, maxBytes, cursor: next });
    return { text, next, unchanged: true, incidents: [], content: "", ...shared };
  }
  const view = viewOf(meta.id, state, { ...options, cursor: undefined });
  const from = seen?.content ?? (surface === "result" ? 0 : "end");
  const diagnostics = (options.diagnostics ?? []).map((line) => oneLine(line));
  const wanted = bytesToCome(content, from) + bytesOf(diagnostics.join("\n")) + OVERHEAD_BYTES;
  const section = failureSection(meta, state, { ...view, ...(reset && { reset }) }, options.now);
  const top = fitSection(section, { rowBytes: Math.max(Math.floor(maxBytes / 2), maxBytes - wanted), maxBytes });
  const bottom = belowFailures({
    room: top.hasAllNotes ? maxBytes - bytesOf(top.text) : 0,
    lines: [...decisionOf(seen, here, content), ...diagnostics],
    content,
    from,
    raw,
    cursorAt: (at) => encodeStatusCursor({ content: at, ...here }),
  });
  return {
    text: `${top.text}${bottom.text}`,
    ...(top.cursor !== undefined && { cursor: top.cursor }),
    next: bottom.next,
    ...(reset !== undefined && { reset }),
    incidents: view.incidents.slice(0, top.listed),
    content: bottom.content,
    ...shared,
  };
}

/** The list of incidents goes on, and has the page for itself. */
function listPage(meta: RunMeta, state: IncidentState, options: IncidentPageOptions): RunPage {
  const { text, incidents, cursor, reset } = incidentPage(meta, state, options);
  return {
    text,
    incidents,
    content: "",
    ...(cursor !== undefined && { cursor }),
    ...(reset !== undefined && { reset }),
  };
}

/** Of what stands beside the content: its heading, what changed, a cursor. */
const OVERHEAD_BYTES = 320;

function bytesToCome(content: Content | undefined, from: number | "end"): number {
  return content === undefined ? 0 : content.bytes - (from === "end" ? 0 : from);
}

function readSeen(
  cursor: string | undefined,
  { place, bytes }: { readonly place: string; readonly bytes: number },
): { readonly seen?: StatusCursor; readonly reset?: Reset } {
  if (cursor === undefined) return {};
  const seen = readStatusCursor(cursor);
  if (seen?.place !== place) return { reset: "other-view" };
  return seen.content > bytes ? { reset: "changed" } : { seen };
}
