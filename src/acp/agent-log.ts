/** The two records of an agent's life in the log: that it was started, and how it ended. */
import { basename } from "node:path";
import type { AgentChild } from "./child.ts";
import type { Backend, CommandLine, LogSink } from "./ports.ts";

export interface AgentLogFacts {
  readonly child: AgentChild;
  readonly backend: Backend;
  readonly command: CommandLine;
  /** Ostler stopped it. */
  readonly isExpected: () => boolean;
  /** Frames and lines that belonged to nothing. */
  readonly counts: () => Readonly<Record<string, number>>;
}

/** `agent.started` at once and `agent.exited` when it is gone; the latter is a warning when nobody stopped it. */
export function logAgent(log: LogSink | undefined, facts: AgentLogFacts): void {
  if (log === undefined) return;
  const { child, backend, command, isExpected, counts } = facts;
  const agent = { pid: child.pid, backend: backend.id };
  log("info", "agent.started", { ...agent, program: basename(command.file) });
  void logExit();

  async function logExit(): Promise<void> {
    const exit = await child.exited;
    const expected = isExpected();
    log?.(expected ? "info" : "warn", "agent.exited", { ...agent, ...exit, expected, ...counts() });
  }
}
