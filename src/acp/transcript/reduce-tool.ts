/** Tool calls: what each showed, changed and printed, under the call that it was made for. Pure. */
import type { FileDiff, ToolContent, TurnEventBody } from "../events.ts";
import { MAX_TERMINAL_CHARS, MAX_VALUE_CHARS, NO_TEXT, addText, boundValue, cutBack, sizeOf } from "./bounded.ts";
import { changeAnywhere, withWork, workOf } from "./nested.ts";
import { SUBAGENT_LIMITS, addEntry, closeEntry, emptyTranscript, findEntry, replaceEntry } from "./placement.ts";
import type { EventSource } from "./placement.ts";
import type { EntryPlace, ToolEntry, Transcript } from "./transcript.ts";

type ToolEvent = Extract<TurnEventBody, { readonly type: "tool" | "diff" | "terminal" }>;
type Told<Type extends ToolEvent["type"]> = Extract<ToolEvent, { readonly type: Type }>;

/** Files that one call names or changes. */
const MAX_PATHS = 1000;
/** A call that holds so much keeps no further change. */
const MAX_CALL_CHARS = 1024 * 1024;
const TOO_LARGE = { form: "unavailable", why: "The change is too large to be kept" } as const;

/** A call stands where it was first told, at this level or inside; a new one of a subagent goes under the call that started it. */
export function reduceTool(transcript: Transcript, source: EventSource, event: ToolEvent): Transcript {
  const key = toolKey(event.toolCallId);
  const updated = changeAnywhere(transcript, (level) => {
    const known = findEntry(level, key);
    return known?.type === "tool" ? replaceEntry(level, known, changed(known, source, event)) : undefined;
  });
  if (updated !== undefined) return updated;
  // Without its call nobody knows what was changed or printed.
  if (event.type !== "tool") return transcript;
  const { parentToolCallId } = event;
  const below = parentToolCallId === undefined ? undefined : addBelow(transcript, source, event, parentToolCallId);
  return below ?? add(transcript, source, event);
}

/**
 * An agent may count its calls anew in every turn: what another turn tells of a call, and not late, is told of another
 * call. Only of the session itself: a subagent goes on while the turns of its parent change.
 */
export function beginCallAnew(transcript: Transcript, source: EventSource, toolCallId: string): Transcript {
  const known = findEntry(transcript, toolKey(toolCallId));
  if (known === undefined || source.late === true || known.turnId === source.turnId) return transcript;
  return closeEntry(transcript, known);
}

export function toolKey(toolCallId: string): string {
  return `tool:${toolCallId}`;
}

function add(transcript: Transcript, source: EventSource, event: Told<"tool">): Transcript {
  const entry = { ...event, changes: [] };
  const chars = charsOf(entry);
  if (chars <= MAX_VALUE_CHARS) return addEntry(transcript, source, entry, chars, toolKey(event.toolCallId));
  const bounded = { ...bound(event), changes: [] };
  return addEntry(transcript, source, bounded, charsOf(bounded), toolKey(event.toolCallId));
}

function addBelow(
  transcript: Transcript,
  source: EventSource,
  event: Told<"tool">,
  parentToolCallId: string,
): Transcript | undefined {
  return changeAnywhere(transcript, (level, canNest) => {
    const parent = findEntry(level, toolKey(parentToolCallId));
    if (parent === undefined || !canNest) return undefined;
    return withWork(level, parent, add(workOf(parent) ?? emptyTranscript(SUBAGENT_LIMITS), source, event));
  });
}

type Placed = ToolEntry & EntryPlace;

function changed(before: Placed, source: EventSource, event: ToolEvent): Placed {
  const after = apply(before, event);
  const late = source.late ?? before.late;
  return late === before.late ? after : { ...after, ...(late && { late }) };
}

function apply(before: Placed, event: ToolEvent): Placed {
  switch (event.type) {
    case "tool":
      return merged(before, event);
    case "diff":
      return withChange(before, event);
    case "terminal": {
      const kept = before.terminal ?? NO_TEXT;
      const terminal = addText(kept, event.data, MAX_TERMINAL_CHARS);
      return { ...before, terminal, size: before.size + terminal.text.length - kept.text.length };
    }
  }
}

/** Every field of the event is the newest; what it does not have is as it was. */
function merged(before: Placed, event: Told<"tool">): Placed {
  const { content } = event;
  const changes = content === undefined ? before.changes : stillShown(before.changes, content);
  const shown = charsOf(event) <= MAX_VALUE_CHARS ? event : bound(event);
  const { rawInput = before.rawInput, rawOutput = before.rawOutput, content: now = before.content } = shown;
  const chars = charsOf({ title: shown.title, paths: shown.paths, rawInput, rawOutput, content: now });
  const size = before.size - charsOf(before) + chars - sizeOf(before.changes) + sizeOf(changes);
  return { ...before, ...shown, changes, size };
}

function bound(event: Told<"tool">): Told<"tool"> {
  const { title, paths, rawInput, rawOutput, content } = event;
  return {
    ...event,
    title: cutBack(title),
    paths: paths.slice(0, MAX_PATHS),
    ...(rawInput !== undefined && { rawInput: boundValue(rawInput) }),
    ...(rawOutput !== undefined && { rawOutput: boundValue(rawOutput) }),
    ...(content !== undefined && { content: boundContent(content) }),
  };
}

/** A content replaces the one before it as a whole: a change that it does not name any more is taken back. */
function stillShown(changes: readonly FileDiff[], content: readonly ToolContent[]): readonly FileDiff[] {
  if (changes.length === 0) return changes;
  const shown = new Set(content.map((block) => (block.type === "diff" ? block.path : "")));
  return changes.filter(({ path }) => shown.has(path));
}

function withChange(before: Placed, { path, change }: FileDiff): Placed {
  const { changes } = before;
  const at = changes.findIndex((known) => known.path === path);
  const known = changes[at];
  if (known === undefined && changes.length >= MAX_PATHS) return before;
  const freed = known === undefined ? 0 : sizeOf(known);
  const isTooLarge = before.size - freed + sizeOf(change) > MAX_CALL_CHARS;
  const told = { path, change: isTooLarge ? TOO_LARGE : change };
  const after = known === undefined ? [...changes, told] : changes.with(at, told);
  return { ...before, changes: after, size: before.size - freed + sizeOf(told) };
}

function boundContent(content: readonly ToolContent[]): readonly ToolContent[] {
  if (sizeOf(content, MAX_VALUE_CHARS) <= MAX_VALUE_CHARS) return content;
  const kept = content.slice(0, MAX_PATHS);
  const share = Math.floor(MAX_VALUE_CHARS / kept.length);
  return kept.map((block) => (block.type === "text" ? { ...block, text: cutBack(block.text, share) } : block));
}

interface ShownFields {
  readonly title: string;
  readonly paths: readonly string[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
  readonly content?: readonly ToolContent[] | undefined;
}

/** About how many characters the fields of an event hold. */
function charsOf({ title, paths, rawInput, rawOutput, content }: ShownFields): number {
  return title.length + sizeOf(paths) + sizeOf(rawInput) + sizeOf(rawOutput) + sizeOf(content);
}
