/** What holds for a whole run while it is observed. */
import type { RunSessions } from "./run-session.ts";

export interface RunFacts {
  readonly runId: string;
  readonly conversationId: string;
  readonly trusted: boolean;
  readonly strict: boolean;
  readonly sessions: RunSessions;
  /** The log had lines before the first one that was observed: calls of then are known by their failures alone. */
  beganLate: boolean;
  /** Ostler's own server served a call: also under the exact rule its calls are told by Ostler itself. */
  hasOwnCalls: boolean;
  /** The newest process was told `_meta.jetbrains.air`, whatever it lists. */
  air: boolean;
  /** MCP servers that Ostler asked the newest session for. */
  servers: ReadonlySet<string>;
}
