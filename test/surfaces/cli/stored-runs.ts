/** Runs in the state folder of a test, as supervisors leave them: metadata, a log, and the journal that it makes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { thisProcess } from "../../../src/acp/this-process.ts";
import { Journal } from "../../../src/failures/journal/journal.ts";
import { RunLog } from "../../../src/failures/log/run-log.ts";
import { Observer } from "../../../src/failures/observation/observer.ts";
import type { JournalEvent } from "../../../src/failures/records.ts";
import type { RunEntry } from "../../../src/failures/run-lines.ts";
import type { RunMeta } from "../../../src/failures/runs/meta.ts";
import { RunRegistry } from "../../../src/failures/runs/registry.ts";

/** When runs of a test were made: 2023-11-14, 22:13:20 UTC. */
export const MADE_AT = 1_700_000_000_000;
export const AGENT_RUN = "ag_loyw3v28abcd_1";
export const COMMAND_RUN = "cm_loyw3v28abcd_2";
/** Of the one session that the logs of a test have; `sessionTag` of it is 043a7187. */
const SESSION = "s";

export interface StoredRun {
  readonly meta?: Partial<RunMeta>;
  /** Besides those that the log of an agent's run gives. */
  readonly events?: readonly JournalEvent[];
}

/** The runs of the CLI that `run-main.ts` runs in this folder. */
export function registryIn(folder: string): RunRegistry {
  return new RunRegistry(join(folder, "home", "state"));
}

/** A run of an agent, observed line by line; gives the offset in its log at which each line begins. */
export async function storeAgentRun(
  folder: string,
  entries: readonly RunEntry[],
  { id = AGENT_RUN, meta, events = [] }: StoredRun & { readonly id?: string } = {},
): Promise<number[]> {
  const registry = registryIn(folder);
  registry.createRun({ ...META, id, kind: "agent", title: "claude", backend: "claude", ...meta });
  const journal = Journal.open(registry.runFolder(id), { now: () => MADE_AT + 1000 });
  const observer = new Observer({ runId: id, conversationId: id, trusted: false });
  const log = RunLog.open(registry.runFolder(id));
  const offsets = entries.map((entry, index) => {
    const { line, byte = -1 } = log.append(entry, { t: MADE_AT + index });
    void journal.append(observer.observe(line, byte, journal.state), { durable: false });
    return byte;
  });
  log.close();
  await journal.append(events, { durable: true });
  await journal.close();
  return offsets;
}

/** A run of a command that wrote `output`. */
export async function storeCommandRun(
  folder: string,
  output: string | Uint8Array,
  { id = COMMAND_RUN, meta, events = [] }: StoredRun & { readonly id?: string } = {},
): Promise<void> {
  const registry = registryIn(folder);
  registry.createRun({ ...META, id, kind: "command", title: "npm test", ...meta });
  writeFileSync(registry.logFile(id), output);
  const journal = Journal.open(registry.runFolder(id), { now: () => MADE_AT + 1000 });
  await journal.append(events, { durable: true });
  await journal.close();
}

const META = {
  version: 1,
  status: "completed",
  createdAt: MADE_AT,
  endedAt: MADE_AT + 12_000,
  cwd: "/p",
  supervisor: thisProcess(),
  taskRuntime: false,
  callback: false,
  told: [],
} as const;

/** A turn of the session, with what is said and done in it. */
export function turn(turnId: string, ...inside: readonly RunEntry[]): readonly RunEntry[] {
  return [
    { d: "ev", ev: { type: "turn", state: "started", turnId, sessionId: SESSION } },
    ...inside,
    {
      d: "ev",
      ev: { type: "turn", state: "ended", turnId, sessionId: SESSION, outcome: "completed", hasOutput: true },
    },
  ];
}

export function said(text: string, sessionId = SESSION): RunEntry {
  return update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }, sessionId);
}

/** A command from its start to its end. */
export function executed(toolCallId: string, command: string, status: "completed" | "failed"): readonly RunEntry[] {
  const call = { toolCallId, kind: "execute", title: command };
  return [
    update({ sessionUpdate: "tool_call", ...call, status: "in_progress", rawInput: { command } }),
    update({ sessionUpdate: "tool_call_update", toolCallId, status }),
  ];
}

/** The agent's process died. */
export function died(code: number): RunEntry {
  return {
    d: "ev",
    ev: { type: "exited", n: 1, code, signal: null, expected: false, title: `It exited with ${code}` },
  };
}

function update(fields: object, sessionId = SESSION): RunEntry {
  return { d: "in", frame: { jsonrpc: "2.0", method: "session/update", params: { sessionId, update: fields } } };
}
