/**
 * What an agent said in the newest turn of its run, out of the run's log. The log is read from its end, so that it costs
 * the same for a log of gigabytes.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { isObject } from "../../acp/frames.ts";
import { readRunLine } from "./read-line.ts";

/** An answer behind so many bytes of frames is told from where they begin. */
const MAX_READ_BYTES = 8 * 1024 * 1024;
/** As the log's writer prints it; in a frame the quotes would be escaped. */
const TURN_STARTED = '"ev":{"type":"turn","state":"started"';
const CHUNK = '"agent_message_chunk"';

export interface LastAnswer {
  readonly text: string;
  /** The turn is longer than what was read: its answer may have begun earlier. */
  readonly isCut: boolean;
}

/** Empty when there is no log, or no turn in it that said anything. Never throws. */
export function readLastAnswer(logFile: string, maxReadBytes = MAX_READ_BYTES): LastAnswer {
  const { text, isWhole } = readEnd(logFile, maxReadBytes);
  const turn = text.lastIndexOf(TURN_STARTED);
  const lines = text.slice(turn === -1 ? 0 : text.lastIndexOf("\n", turn) + 1).split("\n");
  const sessionId = turn === -1 ? undefined : sessionOf(lines[0] ?? "");
  const said = lines.filter((line) => line.includes(CHUNK)).map((line) => chunkOf(line, sessionId));
  return { text: said.join(""), isCut: turn === -1 && !isWhole };
}

function readEnd(logFile: string, maxBytes: number): { readonly text: string; readonly isWhole: boolean } {
  try {
    const fd = openSync(logFile, "r");
    try {
      const { size } = fstatSync(fd);
      const bytes = Buffer.alloc(Math.min(size, maxBytes));
      const length = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
      return { text: bytes.toString("utf8", 0, length), isWhole: size <= maxBytes };
    } finally {
      closeSync(fd);
    }
  } catch {
    return { text: "", isWhole: true };
  }
}

function sessionOf(text: string): string | undefined {
  const line = readRunLine(text);
  return line?.d === "ev" && line.ev.type === "turn" ? (line.ev.sessionId ?? undefined) : undefined;
}

/** Of the session that was asked: child sessions of an agent speak in the same log. */
function chunkOf(text: string, sessionId: string | undefined): string {
  const line = readRunLine(text);
  if (line?.d !== "in" || !isObject(line.frame) || !isObject(line.frame["params"])) return "";
  const { update, sessionId: speaker } = line.frame["params"];
  if (sessionId !== undefined && speaker !== sessionId) return "";
  if (!isObject(update) || update["sessionUpdate"] !== "agent_message_chunk" || !isObject(update["content"])) return "";
  const { text: said } = update["content"];
  return typeof said === "string" ? said : "";
}
