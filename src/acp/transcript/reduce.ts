/**
 * Events to what a person sees, one at a time. Pure: the same events give the same transcript, whatever pieces the text
 * came in, and a transcript that was given out never changes.
 */
import type { Failure } from "../../errors/failure.ts";
import type { SessionEvent, TurnEventBody } from "../events.ts";
import type { PermissionRequest, TurnOutcome } from "../types.ts";
import { MAX_TEXT_CHARS, NO_TEXT, addText, boundValue, sizeOf } from "./bounded.ts";
import {
  addEntry,
  closeEntry,
  findEntry,
  putEntry,
  removeEntry,
  replaceEntry,
  updateEntry,
  withState,
} from "./placement.ts";
import type { EntryContent, EventSource } from "./placement.ts";
import { addUsage, reduceState } from "./reduce-state.ts";
import { reduceSubagent } from "./reduce-subagent.ts";
import { beginCallAnew, reduceTool } from "./reduce-tool.ts";
import type { TextEntry, Transcript, TurnEnd } from "./transcript.ts";

/**
 * News that nothing is said twice by. A warning is found by its id, and a new one is about the start of this process
 * (recording codex-acp 2.6.0 load-after-failure); of the history only errors are repeated.
 */
const NOT_REPEATED: ReadonlySet<string> = new Set(["session", "mode", "commands", "goal", "usage", "warning"]);

/**
 * The transcript after one more event. What comes again unchanged changes nothing; what is not known is left out; never
 * throws for an event of these types.
 */
export function reduceTranscript(transcript: Transcript, told: SessionEvent): Transcript {
  const { event } = told;
  const source: EventSource = told;
  if (source.replayed === true && transcript.book.isLive && !NOT_REPEATED.has(event.type)) return transcript;
  switch (event.type) {
    case "user":
      return addWords(nextSection(transcript), source, "user", event);
    case "turn":
      return event.state === "started"
        ? withState(nextSection(transcript), { isWorking: true, turnId: source.turnId })
        : endTurn(transcript, source, event.outcome);
    case "tool":
      return reduceTool(beginCallAnew(transcript, source, event.toolCallId), source, event);
    default:
      return reduceBody(transcript, source, event);
  }
}

/** An event of a turn or of a subagent. */
function reduceBody(transcript: Transcript, source: EventSource, event: TurnEventBody): Transcript {
  switch (event.type) {
    case "text":
      return "superseded" in event
        ? supersede(transcript, source, event.messageId)
        : addWords(transcript, source, "message", event);
    case "thought":
      return addWords(transcript, source, "thought", event);
    case "tool":
    case "diff":
    case "terminal":
      return reduceTool(transcript, source, event);
    case "plan":
      return addPlan(transcript, source, event);
    case "permission": {
      const { request, answer } = event;
      const key = `permission:${request.sessionId}:${request.toolCallId}:${request.title}`;
      return putQuestion(transcript, source, { type: "permission", request: boundRequest(request), answer }, key);
    }
    case "question": {
      const { request, answer } = event;
      const key = `question:${request.sessionId}:${request.toolCallId ?? ""}:${request.message}`;
      return putQuestion(transcript, source, { type: "question", request, answer }, key);
    }
    case "failure":
    case "warning":
      return addFailure(transcript, source, event.failure);
    case "retry":
      return addRetry(transcript, source, event);
    case "notice":
      return event.text === "" ? transcript : addEntry(transcript, source, event, event.text.length);
    case "compaction": {
      const { type: _, ...news } = event;
      const known = findEntry(transcript, `compaction:${event.compactionId}`);
      const compaction = known?.type === "compaction" ? { ...known.compaction, ...news } : news;
      return putEntry(
        transcript,
        source,
        { type: "compaction", compaction },
        sizeOf(compaction),
        `compaction:${event.compactionId}`,
      );
    }
    case "changes":
      return putEntry(transcript, source, event, sizeOf(event), `changes:${sectionOf(transcript, source)}`);
    case "subagent":
      return reduceSubagent(transcript, source, event, reduceBody);
    default:
      return reduceState(transcript, source, event);
  }
}

type QuestionContent = Extract<EntryContent, { readonly type: "permission" | "question" }>;
type Told<Type extends TurnEventBody["type"]> = Extract<TurnEventBody, { readonly type: Type }>;

function nextSection(transcript: Transcript): Transcript {
  const { book } = transcript;
  return { ...transcript, book: { ...book, section: book.section + 1 } };
}

/** What there is one of in a turn is found by this; a replay has no turns, so there a person's words part them. */
function sectionOf({ book }: Transcript, { turnId }: EventSource): string {
  return turnId ?? `#${book.section}`;
}

/** Joins words to the last entry when they go on with it. */
function addWords(
  transcript: Transcript,
  source: EventSource,
  type: TextEntry["type"],
  { text, messageId }: { readonly text: string; readonly messageId?: string },
): Transcript {
  if (text === "") return transcript;
  const { last } = transcript.entries;
  if (
    last?.type === type &&
    last.messageId === messageId &&
    last.turnId === source.turnId &&
    last.late === source.late &&
    last.replayed === source.replayed
  ) {
    const kept = addText(last, text, MAX_TEXT_CHARS);
    const size = last.size + kept.text.length - last.text.length;
    return replaceEntry(transcript, last, { ...last, text: kept.text, cutChars: kept.cutChars, size });
  }
  const kept = addText(NO_TEXT, text, MAX_TEXT_CHARS);
  const named = messageId === undefined ? {} : { messageId };
  return addEntry(transcript, source, { type, ...kept, ...named }, kept.text.length);
}

/** The agent said this message again under another id. It stays, marked. */
function supersede(transcript: Transcript, source: EventSource, messageId: string | undefined): Transcript {
  let marked = transcript;
  for (const entry of transcript.entries) {
    if (entry.type !== "message" || entry.messageId !== messageId || messageId === undefined) continue;
    if (entry.turnId === source.turnId && entry.superseded !== true)
      marked = replaceEntry(marked, entry, { ...entry, superseded: true });
  }
  return marked;
}

/** One plan a turn, and one card for each plan that a call proposes. */
function addPlan(transcript: Transcript, source: EventSource, event: Told<"plan">): Transcript {
  if ("entries" in event) {
    const key = `plan:${sectionOf(transcript, source)}`;
    const isNothing = event.entries.length === 0 && findEntry(transcript, key) === undefined;
    const { entries } = event;
    return isNothing ? transcript : putEntry(transcript, source, { type: "plan", entries }, sizeOf(entries), key);
  }
  const { toolCallId, document } = event;
  const key = `plan_document:${toolCallId}`;
  if (document === null && findEntry(transcript, key) === undefined) return transcript;
  return putEntry(transcript, source, { type: "plan_document", toolCallId, document }, sizeOf(document), key);
}

/** A question is found by its key until it is answered; the next one with the same words is another one. */
function putQuestion(transcript: Transcript, source: EventSource, content: QuestionContent, key: string): Transcript {
  const put = putEntry(transcript, source, content, sizeOf(content.request), key);
  const entry = content.answer === null ? undefined : findEntry(put, key);
  return entry === undefined ? put : closeEntry(put, entry);
}

/** By id and revision: updated where it stands, never moved, never said again. */
function addFailure(transcript: Transcript, source: EventSource, failure: Failure): Transcript {
  const key = `failure:${failure.id}`;
  const known = findEntry(transcript, key);
  if (known?.type === "failure" && known.failure.revision >= failure.revision) return transcript;
  return putEntry(
    withoutSameRetry(transcript, failure.title),
    source,
    { type: "failure", failure },
    sizeOf(failure),
    key,
  );
}

/** A harness's own tries follow one another in one entry until something else is said. */
function addRetry(transcript: Transcript, source: EventSource, event: Told<"retry">): Transcript {
  const { last } = transcript.entries;
  const goesOn =
    event.by === "harness" && last?.type === "retry" && last.by === "harness" && last.turnId === source.turnId;
  return goesOn
    ? updateEntry(transcript, last, source, event, event.reason.length)
    : addEntry(transcript, source, event, event.reason.length);
}

/** A harness announces its try as an event and, where it keeps records, as a warning with the same words: one is shown. */
function withoutSameRetry(transcript: Transcript, title: string): Transcript {
  const { last } = transcript.entries;
  const isSame = last?.type === "retry" && last.by === "harness" && last.reason === title;
  return isSame ? removeEntry(transcript, last) : transcript;
}

function boundRequest(request: PermissionRequest): PermissionRequest {
  return { ...request, rawInput: boundValue(request.rawInput) };
}

function endTurn(transcript: Transcript, source: EventSource, outcome: TurnOutcome): Transcript {
  const { turnId, tokens } = transcript.state;
  const end = readEnd(outcome);
  return withState(addEntry(transcript, source, { type: "end", outcome: end }, sizeOf(end)), {
    ...(turnId === source.turnId && { isWorking: false, turnId: null }),
    ...(outcome.usage !== null && { tokens: addUsage(tokens, outcome.usage) }),
  });
}

function readEnd(outcome: TurnOutcome): TurnEnd {
  const { kind, stopReason, partial, attempts, durationMs, usage } = outcome;
  const failure = "failure" in outcome ? outcome.failure : null;
  return {
    kind,
    ...("by" in outcome && { by: outcome.by }),
    ...(failure !== null && { failureId: failure.id }),
    ...("refusal" in outcome && { refusal: outcome.refusal }),
    stopReason,
    partial,
    attempts,
    durationMs,
    usage,
  };
}
