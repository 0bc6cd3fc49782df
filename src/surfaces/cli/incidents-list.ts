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
import { historyCounts, quietLine } from "../../failures/pages/notes.ts";
import type { SeenRun } from "./find-run.ts";
import type { IncidentsRequest, Told } from "./incidents-command.ts";
import { shownIncident } from "./shown-run.ts";

const MAX_HEADING_BYTES = 120;
/** Of a page, for the line that names the next one when that begins with another run: at most, and at most that part. */
const FURTHER_BYTES = 200;
const FURTHER_PART = 4;

/** One page of at most `--bytes` (2 KiB): what needs action, with `--history` everything. */
export function listIncidents({ seen, registry, options }: IncidentsRequest): Told {
  const { cursor } = options;
  const named = cursor === undefined ? undefined : readIncidentCursor(cursor);
  const history = options.history || named?.history === true;
  const raw = options.raw || named?.raw === true;
  const pageOf = (run: SeenRun, from: string | undefined, maxBytes: number): IncidentPage =>
    incidentPage(run, run.state, {
      history,
      raw,
      named: true,
      cursor: from,
      maxBytes,
      folder: registry.runFolder(run.id),
    });
  const isNamed = (run: SeenRun): boolean => cursor !== undefined && pageOf(run, cursor, 0).reset !== "other-view";
  const isListed = ({ state }: SeenRun): boolean =>
    [...state.incidents.values()].some((incident) => history || needsAction(incident));

  const listed = seen.filter((run) => isListed(run) || isNamed(run));
  const first = Math.max(0, listed.findIndex(isNamed));
  const maxBytes = budgetOf("incidents", options.bytes);
  const page = new Lines(maxBytes);
  const incidents: object[] = [];
  let next: string | undefined;
  let reset: IncidentPage["reset"];
  for (const [index, run] of listed.slice(first).entries()) {
    const behind = listed.length - first - index - 1;
    const heading = headingOf(run);
    const reserved = behind === 0 ? 0 : Math.min(FURTHER_BYTES, Math.floor(maxBytes / FURTHER_PART));
    const ofRun = pageOf(
      run,
      index === 0 ? cursor : undefined,
      Math.max(0, page.room - bytesOf(heading) - 1 - reserved),
    );
    if (index === 0) reset = ofRun.reset;
    if (index > 0 && !endsWithRow(ofRun)) {
      next = pageOf(run, undefined, 0).cursor;
      const more = `${behind + 1} more ${behind === 0 ? "run" : "runs"}`;
      page.addFirst(`${more} · cursor=${next}`, `${more} · no room for the cursor`);
      break;
    }
    next = ofRun.cursor;
    page.addFirst(`${heading}\n${ofRun.text}`, ofRun.text);
    incidents.push(...ofRun.incidents.map((incident) => shownIncident(run.id, incident)));
    if (next !== undefined) break;
  }
  const others = sumOf(seen.filter((run) => !listed.includes(run)));
  if (listed.length === 0) page.addFirst(history ? "No failures" : quietLine(others) || "No failures need action");
  else if (next === undefined && historyCounts(others) !== "") page.addFirst(`Other runs: ${historyCounts(others)}`);
  const needAction = seen.flatMap(({ state }) => [...state.incidents.values()]).filter(needsAction).length;
  return {
    text: page.text,
    json: {
      incidents,
      needAction,
      counts: sumOf(seen),
      ...(next !== undefined && { cursor: next }),
      ...(reset !== undefined && { reset }),
    },
  };
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
