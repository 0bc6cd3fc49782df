/** What `ostler ask` says of failures without being asked: those that need somebody, and how many there were besides. */
import type { Notification } from "../../failures/notification.ts";
import type { Run } from "./ask-turn.ts";

/** Says it beside the answer; that it was handed to stderr counts, for there is nobody else to ask. */
export function tell(run: Run, { text }: Notification): void {
  run.terminal.say(text, "warning");
}
