/** Events as a session tells them, short. */
import type { SessionEvent, SessionEventBody } from "../../../src/acp/events.ts";
import { emptyTranscript } from "../../../src/acp/transcript/placement.ts";
import { reduceTranscript } from "../../../src/acp/transcript/reduce.ts";
import type { Transcript, TranscriptLimits } from "../../../src/acp/transcript/transcript.ts";
import type { TurnOutcome } from "../../../src/acp/types.ts";
import type { Failure } from "../../../src/errors/failure.ts";

/** An event of turn `t1`. */
export function told(event: SessionEventBody, turnId: string | null = "t1"): SessionEvent {
  return { turnId, event };
}

export function late(event: SessionEventBody, turnId = "t1"): SessionEvent {
  return { turnId, late: true, event };
}

export function replayed(event: SessionEventBody): SessionEvent {
  return { turnId: null, replayed: true, event };
}

/** What these events come to. */
export function reduced(events: readonly SessionEvent[], limits?: TranscriptLimits): Transcript {
  return events.reduce(reduceTranscript, emptyTranscript(limits));
}

export const user = (text: string): SessionEventBody => ({ type: "user", text });
export const text = (words: string, messageId?: string): SessionEventBody => ({
  type: "text",
  text: words,
  ...(messageId !== undefined && { messageId }),
});
export const superseded = (messageId: string): SessionEventBody => ({
  type: "text",
  text: "",
  messageId,
  superseded: true,
});
export const thought = (words: string): SessionEventBody => ({ type: "thought", text: words });
export const started: SessionEventBody = { type: "turn", state: "started" };

type ToolEvent = Extract<SessionEventBody, { readonly type: "tool" }>;

export function tool(toolCallId: string, more: Partial<ToolEvent> = {}): ToolEvent {
  return {
    type: "tool",
    toolCallId,
    title: `call ${toolCallId}`,
    kind: "other",
    status: "pending",
    paths: [],
    ...more,
  };
}

export const prints = (toolCallId: string, data: string): SessionEventBody => ({ type: "terminal", toolCallId, data });

export function diff(toolCallId: string, path: string, newText: string): SessionEventBody {
  return { type: "diff", toolCallId, path, change: { form: "texts", oldText: null, newText } };
}

export function failure(id: string, revision: number, more: Partial<Failure> = {}): SessionEventBody {
  const whole: Failure = {
    id,
    revision,
    kind: "service_error",
    source: "session_failure",
    category: "service",
    severity: "error",
    title: `${id} ${revision}`,
    actions: [],
    retry: "backoff",
    transient: true,
    replaySafety: "no_output",
    rule: "test",
    ...more,
  };
  return { type: whole.severity === "warning" ? "warning" : "failure", failure: whole };
}

export function ended(more: Partial<Extract<TurnOutcome, { kind: "completed" }>> = {}): SessionEventBody {
  const outcome = {
    kind: "completed",
    text: "",
    partial: false,
    sessionId: "s1",
    stopReason: "end_turn",
    warnings: [],
    attempts: 1,
    usage: null,
    durationMs: 1,
    denied: [],
    ...more,
  } as const;
  return { type: "turn", state: "ended", outcome };
}
