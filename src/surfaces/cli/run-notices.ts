/** What `ostler ask` says of failures without being asked: those that need somebody, and how many there were besides. */
import { needsAction } from "../../failures/incidents/labels.ts";
import type { Notification } from "../../failures/notification.ts";
import { unclassifiedNote } from "../../failures/pages/notes.ts";
import type { Incident } from "../../failures/records.ts";
import { NoticeBox } from "../../host/notice-box.ts";
import { ostlerPaths } from "../../host/paths.ts";
import type { Run } from "./ask-turn.ts";

/** What the card of a turn is about: everything that is no call of a tool, and no evidence that is missing. */
const TOLD_APART: ReadonlySet<Incident["category"]> = new Set(["tool", "rejected-intent", "observation-incomplete"]);

/**
 * Says it beside the answer; that it was handed to stderr counts. With `--format quiet` nothing may be said there, so the
 * next command at a terminal does.
 */
export async function tell(run: Run, notification: Notification): Promise<void> {
  const { request, io, terminal, interrupt } = run;
  // A bug of Ostler's own ends with one sentence and its report.
  if (interrupt.bug !== undefined) return;
  if (request.format === "quiet") await new NoticeBox(ostlerPaths(io.env).state).deliver(notification);
  else terminal.say(wordsOf(notification, run.showsCard), "warning");
}

/** What the card has just said is not said again. */
function wordsOf({ moment, incidents, runId, text }: Notification, showsCard: boolean): string {
  const rows = incidents.filter(needsAction);
  const isSaid = showsCard && moment === "completion" && rows.every(({ category }) => !TOLD_APART.has(category));
  if (!isSaid) return text;
  const counted = unclassifiedNote(incidents.length - rows.length);
  return [...(counted === "" ? [] : [counted]), `Kept as run ${runId}: ostler runs show ${runId}`].join("\n");
}
