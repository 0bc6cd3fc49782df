/** The part of a run's page that stands before any progress: whose page it is, what failed, who must act. Pure. */
import { countsOf } from "../incidents/labels.ts";
import type { IncidentCounts } from "../incidents/labels.ts";
import type { IncidentState } from "../records.ts";
import type { RunMeta } from "../runs/meta.ts";
import type { Line, Section } from "./fit.ts";
import { countLine, resetLine } from "./list-view.ts";
import type { ListView } from "./list-view.ts";
import {
  closedNote,
  correctnessNote,
  countReported,
  expectedNote,
  historyCounts,
  isOver,
  quietLine,
  reportedNote,
  runLine,
  statusLine,
  unclassifiedNote,
} from "./notes.ts";

/** Identity, rows and notes; what stays of them is decided by `fitSection`. */
export function failureSection(meta: RunMeta, state: IncidentState, view: ListView, now: number): Section {
  const { incidents, needAction, row, cursorAt } = view;
  const total = incidents.length;
  return {
    before: [
      ["run", runLine(meta, now)],
      ["status", statusLine(meta)],
      ["reset", resetLine(view.reset)],
    ],
    total,
    row,
    cursorAfter: (listed) => cursorAt(listed, 0),
    countLine: (listed, cursor) => countLine({ needAction, listed, more: total - listed }, cursor),
    after: notesOf(meta, state, view),
  };
}

/** Lifecycle decides only whether notes are due, never what they say. */
function notesOf(meta: RunMeta, state: IncidentState, view: ListView): readonly Line[] {
  const counts = countsOf(state);
  const correctness: Line = ["correctness", isOver(meta.status) ? correctnessNote(counts) : ""];
  if (view.history) return [correctness];
  if (view.needAction === 0) return [["unclassified", quietLine(counts)], correctness];
  return isOver(meta.status) ? [...finalNotes(counts, state), correctness] : [["unclassified", historyCounts(counts)]];
}

function finalNotes(counts: IncidentCounts, state: IncidentState): readonly Line[] {
  return [
    ["reported", reportedNote(countReported(state))],
    ["unclassified", unclassifiedNote(counts.unclassified)],
    ["expected", expectedNote(counts.expected)],
    ["closed", closedNote(counts)],
  ];
}
