/** A run as it may be shown to a program: what it is and how far it came, without who supervises it. Pure. */
import { cleanLine } from "../../errors/redact.ts";
import { countsOf, labelOf } from "../../failures/incidents/labels.ts";
import type { Incident } from "../../failures/records.ts";
import type { RunMeta } from "../../failures/runs/meta.ts";
import type { SeenRun } from "./find-run.ts";

const MAX_TEXT_CHARS = 1000;

/** Said in the place of all that stands in a `meta.json` that is damaged. */
export const UNREADABLE = "Its metadata cannot be read";

/** The fields of a run; texts on one line, scrubbed. */
export function shownRun({ id, meta, state }: SeenRun): object {
  const counts = countsOf(state);
  return meta === "unreadable" ? { id, problem: UNREADABLE, counts } : { ...shownMeta(meta), counts };
}

/** An incident with its label and its run. */
export function shownIncident(runId: string, incident: Incident): object {
  return { runId, label: labelOf(incident), ...incident };
}

function shownMeta(meta: RunMeta): object {
  const { id, kind, status, createdAt, endedAt, title, cwd, exit, conversationId, backend, operationId } = meta;
  const { expectedExitCodes, untrustedBecause } = meta;
  return {
    id,
    kind,
    status,
    createdAt,
    ...(endedAt !== undefined && { endedAt }),
    title: cleanLine(title, MAX_TEXT_CHARS),
    cwd,
    ...(exit !== undefined && { exit }),
    ...(conversationId !== undefined && { conversationId }),
    ...(backend !== undefined && { backend }),
    ...(operationId !== undefined && { operationId }),
    ...(expectedExitCodes !== undefined && { expectedExitCodes }),
    ...(untrustedBecause !== undefined && { untrustedBecause }),
  };
}
