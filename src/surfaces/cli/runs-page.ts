/** One run as a page: what it is and what failed in it, then what it said. */
import { readLastAnswer } from "../../failures/log/last-answer.ts";
import { logContent } from "../../failures/log/log-content.ts";
import { textContent } from "../../failures/pages/content.ts";
import type { Content } from "../../failures/pages/content.ts";
import { isIncidentCursor, readIncidentCursor, readStatusCursor } from "../../failures/pages/cursor.ts";
import { incidentPage } from "../../failures/pages/incident-page.ts";
import { outputPage, resultPage } from "../../failures/pages/run-page.ts";
import type { RunPage } from "../../failures/pages/run-page.ts";
import type { RunMeta } from "../../failures/runs/meta.ts";
import type { RunRegistry } from "../../failures/runs/registry.ts";
import { UsageError } from "../../host/usage-error.ts";
import type { SeenRun } from "./find-run.ts";
import type { OptionValues } from "./options.ts";
import type { RUNS_OPTIONS } from "./runs-options.ts";
import { UNREADABLE, shownIncident, shownRun } from "./shown-run.ts";

type PageOptions = Pick<OptionValues<typeof RUNS_OPTIONS>, "history" | "raw" | "cursor" | "bytes"> & {
  readonly registry: RunRegistry;
};

/** For a person and for a program. */
interface Shown {
  readonly text: string;
  readonly json: object;
}

/**
 * `show`: what it is and its failures. `result`: with the answer of an agent. `output`: with the end of its log. Throws
 * UsageError for a cursor that is none and for a page that is too small.
 */
export function showRun(action: string, run: SeenRun, options: PageOptions): Shown {
  checkCursor(options.cursor);
  const { meta } = run;
  const page = meta === "unreadable" ? pageWithoutMeta(run, options) : pageOf(action, { ...run, meta }, options);
  const { text, incidents, details, content, ...rest } = page;
  const json = {
    run: shownRun(run),
    incidents: incidents.map((incident) => shownIncident(run.id, incident)),
    ...rest,
    ...(content !== "" && { content }),
    ...details,
  };
  return { text, json };
}

/** Throws UsageError for a text that Ostler did not give as a cursor. One of another run begins anew, and says so. */
export function checkCursor(cursor: string | undefined): void {
  if (cursor === undefined) return;
  const read = isIncidentCursor(cursor) ? readIncidentCursor(cursor) : readStatusCursor(cursor);
  if (read === undefined)
    throw new UsageError("--cursor is not one that Ostler gave; copy it whole, or leave it away for the first page");
}

function pageOf(
  action: string,
  { id, meta, state }: SeenRun & { readonly meta: RunMeta },
  options: PageOptions,
): RunPage {
  const { registry, history, raw, cursor, bytes } = options;
  const logFile = registry.logFile(id);
  const { content, diagnostics } = contentOf(action, meta, logFile);
  const build = action === "output" ? outputPage : resultPage;
  try {
    return build(meta, state, {
      now: Date.now(),
      history,
      raw,
      cursor,
      folder: registry.runFolder(id),
      content,
      diagnostics: [...(meta.untrustedBecause ?? []), ...diagnostics],
      maxBytes: bytes,
    });
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`--bytes ${bytes} is too small: ${error.message}`);
    throw error;
  }
}

function contentOf(
  action: string,
  { kind }: RunMeta,
  logFile: string,
): { readonly content?: Content; readonly diagnostics: readonly string[] } {
  if (action === "output") return { content: logContent(logFile), diagnostics: [] };
  if (action !== "result" || kind !== "agent") return { diagnostics: [] };
  const { text, isCut } = readLastAnswer(logFile);
  const cut = "The turn is long: its answer is told from the last 8 MiB of the log";
  return { content: textContent("answer", text), diagnostics: isCut ? [cut] : [] };
}

/** What can be said of a run whose `meta.json` is damaged: its incidents. */
function pageWithoutMeta({ id, state }: SeenRun, { history, raw, cursor, bytes, registry }: PageOptions): RunPage {
  const folder = registry.runFolder(id);
  const {
    text,
    incidents,
    cursor: further,
    reset,
  } = incidentPage({ id }, state, { history, raw, cursor, maxBytes: bytes, folder });
  return {
    text: [`run=${id}`, UNREADABLE, text].filter((line) => line !== "").join("\n"),
    incidents,
    content: "",
    ...(further !== undefined && { cursor: further }),
    ...(reset !== undefined && { reset }),
  };
}
