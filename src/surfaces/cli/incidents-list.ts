/**
 * The incidents of all runs on one page, those of a run under its name. A cursor names a place in the list of one run; the
 * page goes on from there, and through the runs behind it. Pure.
 */
import { countsOf, needsAction } from "../../failures/incidents/labels.ts";
import type { IncidentCounts } from "../../failures/incidents/labels.ts";
import { budgetOf } from "../../failures/pages/budgets.ts";
import { bytesOf, cutTo } from "../../failures/pages/bytes.ts";
import { readIncidentCursor } from "../../failures/pages/cursor.ts";
import { oneLine } from "../../failures/pages/excerpt.ts";
import { incidentPage } from "../../failures/pages/incident-page.ts";
import type { IncidentPage } from "../../failures/pages/incident-page.ts";
import type { Reset } from "../../failures/pages/list-view.ts";
import { historyCounts, quietLine } from "../../failures/pages/notes.ts";
import type { SeenRun } from "./find-run.ts";
import type { IncidentsRequest, Told } from "./incidents-command.ts";
import { shownIncident } from "./shown-run.ts";

const MAX_HEADING_BYTES = 120;
/** What the line takes that names the next page, when that begins with another run; of a small page only a part. */
const FURTHER_BYTES = 200;
const FURTHER_PART = 4;

/** One page of at most `--bytes` (2 KiB): what needs action, with `--history` everything. */
export function listIncidents({ seen, registry, options }: IncidentsRequest): Told {
  const { cursor } = options;
  const named = cursor === undefined ? undefined : readIncidentCursor(cursor);
  const history = options.history || named?.history === true;
  const raw = options.raw || named?.raw === true;
  const maxBytes = budgetOf("incidents", options.bytes);
  const pageOf: PageOf = (run, from, room) =>
    incidentPage(run, run.state, {
      history,
      raw,
      named: true,
      cursor: from,
      maxBytes: room,
      folder: registry.runFolder(run.id),
    });
  const isNamed = (run: SeenRun): boolean => cursor !== undefined && pageOf(run, cursor, 0).reset !== "other-view";
  const isListed = ({ state }: SeenRun): boolean =>
    [...state.incidents.values()].some((incident) => history || needsAction(incident));

  const listed = seen.filter((run) => isListed(run) || isNamed(run));
  const others = sumOf(seen.filter((run) => !listed.includes(run)));
  const counts = sumOf(seen);
  const page = new Lines(maxBytes);
  const shown = fill(page, listed.slice(Math.max(0, listed.findIndex(isNamed))), cursor, pageOf);
  if (listed.length === 0) page.addFirst(history ? "No failures" : quietLine(others) || "No failures need action");
  else if (shown.cursor === undefined && historyCounts(others) !== "")
    page.addFirst(`Other runs: ${historyCounts(others)}`);
  return { text: page.text, json: { ...shown, needAction: counts.gaps + counts.actionRequired, counts } };
}

type PageOf = (run: SeenRun, cursor: string | undefined, maxBytes: number) => IncidentPage;

/** What a page lists, for a program. */
interface Listed {
  readonly incidents: readonly object[];
  /** Of the next page. */
  readonly cursor?: string;
  readonly reset?: Reset;
}

/** Fills the page with one run after the other, the first from the cursor on; a row is cut only when nothing stands above it. */
function fill(page: Lines, runs: readonly SeenRun[], cursor: string | undefined, pageOf: PageOf): Listed {
  const incidents: object[] = [];
  let first: IncidentPage | undefined;
  for (const [index, run] of runs.entries()) {
    const heading = headingOf(run);
    const behind = runs.length - index - 1;
    const room = page.room - bytesOf(heading) - 1 - (behind === 0 ? 0 : page.reserved);
    const ofRun = pageOf(run, first === undefined ? cursor : undefined, Math.max(0, room));
    if (first !== undefined && !endsWithRow(ofRun)) {
      const next = pageOf(run, undefined, 0).cursor;
      const more = `${behind + 1} more ${behind === 0 ? "run" : "runs"}`;
      page.addFirst(`${more} · cursor=${next}`, `${more} · no room for the cursor`);
      return listedOf(incidents, first, next);
    }
    first ??= ofRun;
    page.addFirst(`${heading}\n${ofRun.text}`, ofRun.text);
    incidents.push(...ofRun.incidents.map((incident) => shownIncident(run.id, incident)));
    if (ofRun.cursor !== undefined) return listedOf(incidents, first, ofRun.cursor);
  }
  return listedOf(incidents, first, undefined);
}

function listedOf(incidents: readonly object[], first: IncidentPage | undefined, cursor: string | undefined): Listed {
  const reset = first?.reset;
  return { incidents, ...(cursor !== undefined && { cursor }), ...(reset !== undefined && { reset }) };
}

/** Lines that together keep within a budget. */
class Lines {
  text = "";
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What a further line may take. */
  get room(): number {
    return this.#maxBytes - bytesOf(this.text) - (this.text === "" ? 0 : 1);
  }

  /** What is left for the line that names the next page, when that begins with another run. */
  get reserved(): number {
    return Math.min(FURTHER_BYTES, Math.floor(this.#maxBytes / FURTHER_PART));
  }

  /** Adds the first of these that fits, or none. */
  addFirst(...forms: readonly string[]): void {
    const form = forms.find((text) => text !== "" && bytesOf(text) <= this.room);
    if (form !== undefined) this.text += this.text === "" ? form : `\n${form}`;
  }
}

/** Whether nothing of it has to be cut: a row that is, goes on the next page whole. */
function endsWithRow({ rows, cursor }: IncidentPage): boolean {
  return rows !== "" && (cursor === undefined || readIncidentCursor(cursor)?.byte === 0);
}

function headingOf({ id, meta }: SeenRun): string {
  if (meta === "unreadable") return `run=${id}`;
  return cutTo(oneLine(`run=${id} · ${meta.status} · ${meta.title}`), MAX_HEADING_BYTES);
}

function sumOf(seen: readonly SeenRun[]): IncidentCounts {
  const sum = { gaps: 0, actionRequired: 0, unclassified: 0, expected: 0, recovered: 0, superseded: 0 };
  for (const { state } of seen) {
    const counts = countsOf(state);
    sum.gaps += counts.gaps;
    sum.actionRequired += counts.actionRequired;
    sum.unclassified += counts.unclassified;
    sum.expected += counts.expected;
    sum.recovered += counts.recovered;
    sum.superseded += counts.superseded;
  }
  return sum;
}
