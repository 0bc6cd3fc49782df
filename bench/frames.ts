/** Writes the frames that the flood agent prints. The text is always the same, so that runs can be compared. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Characters of answer text in one frame. */
export const TEXT_CHARS = 64;
/** Of ten frames in a mix, so many belong to tool calls: each call has a start and an end. */
const TOOL_FRAMES_OF_TEN = 6;

const WORDS = "the file passes its tests after this change because every case is read from a recording ".repeat(8);

/** `count` chunks of an answer. */
export function writeTextFrames(folder: string, count: number): string {
  return write(folder, `text-${count}`, (index) => textFrame(index), count);
}

/** Six frames of tool calls to four chunks of an answer. */
export function writeToolFrames(folder: string, count: number): string {
  return write(
    folder,
    `tools-${count}`,
    (index) => (index % 10 < TOOL_FRAMES_OF_TEN ? toolFrame(index) : textFrame(index)),
    count,
  );
}

/** `count` lines of a log, then one chunk of an answer. */
export function writeJunkLines(folder: string, count: number): string {
  const lines = Array.from(
    { length: count },
    (_, index) => `12:00:00.${index} DEBUG queue={depth: ${index % 7}} [log]`,
  );
  return writeLines(folder, `junk-${count}`, [...lines, textFrame(0)]);
}

/** Frames as they come from an agent, for what is measured without one: chunks of an answer, or six of tool calls to four of these. */
export function sampleFrames(kind: "text" | "tools", count: number): readonly string[] {
  const isTool = (index: number): boolean => kind === "tools" && index % 10 < TOOL_FRAMES_OF_TEN;
  return Array.from({ length: count }, (_, index) => (isTool(index) ? toolFrame(index) : textFrame(index)));
}

function write(folder: string, name: string, frame: (index: number) => string, count: number): string {
  return writeLines(
    folder,
    name,
    Array.from({ length: count }, (_, index) => frame(index)),
  );
}

function writeLines(folder: string, name: string, lines: readonly string[]): string {
  const file = join(folder, `${name}.ndjson`);
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

function textFrame(index: number): string {
  return updateFrame({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: textAt(index) } });
}

function toolFrame(index: number): string {
  const call = Math.floor(index / 2);
  const toolCallId = `call_${call}`;
  const command = `ls -la src/${call}`;
  if (index % 2 === 0) {
    return updateFrame({
      sessionUpdate: "tool_call",
      toolCallId,
      title: `Run ${command}`,
      kind: "execute",
      status: "in_progress",
      locations: [{ path: `/workspace/src/${call}` }],
      rawInput: { command, timeout: 60_000 },
    });
  }
  return updateFrame({
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: "completed",
    content: [{ type: "content", content: { type: "text", text: textAt(index) } }],
    rawOutput: { exit_code: 0 },
  });
}

function textAt(index: number): string {
  const start = (index * 7) % (WORDS.length - TEXT_CHARS);
  return WORDS.slice(start, start + TEXT_CHARS);
}

function updateFrame(update: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "bench", update } });
}
