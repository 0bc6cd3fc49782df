/** How a notification of a background command reaches somebody: whoever waits, a command of the user's, or the notice box. */
import type { Notification, NotificationSink } from "../failures/notification.ts";
import { cleanLine } from "../errors/redact.ts";
import { runBriefly } from "./run-briefly.ts";

/** A notification that takes longer hangs. */
const TIMEOUT_MS = 30_000;
const MAX_SAID_CHARS = 200;

/** Hands the words to a command, on its stdin; exit 0 is taken for accepted. What it does not accept goes to `otherwise`, with the reason. */
export function commandSink(
  command: readonly [string, ...string[]],
  {
    env,
    otherwise,
    timeoutMs = TIMEOUT_MS,
  }: {
    readonly env: Readonly<Record<string, string>>;
    readonly otherwise: NotificationSink;
    readonly timeoutMs?: number;
  },
): NotificationSink {
  const [file, ...args] = command;
  return {
    deliver: async (notification: Notification): Promise<void> => {
      const { code, stderr } = await runBriefly(file, args, { env, timeoutMs, input: `${notification.text}\n` });
      if (code === 0) return;
      const said = cleanLine(stderr, MAX_SAID_CHARS);
      const how = code === null ? "did not run to its end" : `ended with ${code}`;
      const reason = `The notification command ${how}${said === "" ? "" : `: ${said}`}`;
      await otherwise.deliver({ ...notification, text: `${notification.text}\n${reason}` });
    },
  };
}
