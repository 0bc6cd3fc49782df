/** Text that comes in pieces over many lines: of a message, of a terminal, of stderr. */
import { isObject } from "../../acp/frames.ts";
import type { Frame } from "../../acp/frames.ts";
import type { RunEntry } from "../run-lines.ts";

export interface ChunkText {
  /** Pieces with the same name make one text. */
  readonly stream: string;
  readonly text: string;
  /** The entry with another text in the place of this one. */
  readonly replace: (text: string) => RunEntry;
}

const MESSAGE_CHUNK = /^(?:agent_message|agent_thought|user_message)_chunk$/;

export function readChunkText(entry: RunEntry): ChunkText | undefined {
  if (entry.d === "err") {
    // A line without its end: what follows is the next line of the same text.
    return {
      stream: "stderr",
      text: `${entry.text}\n`,
      replace: (text) => ({ d: "err", text: text.replace(/\n$/, "") }),
    };
  }
  if (entry.d !== "in" || !isObject(entry.frame)) return undefined;
  const { frame } = entry;
  const { params } = frame;
  if (!isObject(params) || !isObject(params["update"])) return undefined;
  const { update, sessionId } = params;
  const withUpdate = (changed: Frame): RunEntry => ({
    d: "in",
    frame: { ...frame, params: { ...params, update: changed } },
  });
  return readMessage(update, String(sessionId), withUpdate) ?? readTerminal(update, String(sessionId), withUpdate);
}

type WithUpdate = (update: Frame) => RunEntry;

function readMessage(update: Frame, sessionId: string, withUpdate: WithUpdate): ChunkText | undefined {
  const { sessionUpdate: kind, content } = update;
  if (typeof kind !== "string" || !isObject(content) || !MESSAGE_CHUNK.test(kind)) return undefined;
  if (typeof content["text"] !== "string") return undefined;
  return {
    stream: `${kind} ${sessionId}`,
    text: content["text"],
    replace: (text) => withUpdate({ ...update, content: { ...content, text } }),
  };
}

/** Both adapters stream a command's output like this (recordings codex-acp 2.6.0 and claude-agent-acp 0.101.0). */
function readTerminal(update: Frame, sessionId: string, withUpdate: WithUpdate): ChunkText | undefined {
  const { _meta: meta, toolCallId } = update;
  if (!isObject(meta)) return undefined;
  const { terminal_output_delta: delta } = meta;
  if (!isObject(delta) || typeof delta["data"] !== "string") return undefined;
  return {
    stream: `${String(toolCallId)} ${sessionId}`,
    text: delta["data"],
    replace: (data) => withUpdate({ ...update, _meta: { ...meta, terminal_output_delta: { ...delta, data } } }),
  };
}
