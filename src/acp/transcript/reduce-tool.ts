/** Tool calls: what each showed, changed and printed, under the call that it was made for. Pure. */
import type { FileDiff, ToolContent, TurnEventBody } from "../events.ts";
import { MAX_TERMINAL_CHARS, MAX_VALUE_CHARS, NO_TEXT, addText, boundValue, cutBack, sizeOf } from "./bounded.ts";
import { changeAnywhere, withWork, workOf } from "./nested.ts";
import { SUBAGENT_LIMITS, addEntry, closeEntry, emptyTranscript, findEntry, updateEntry } from "./placement.ts";
import type { EventSource } from "./placement.ts";
import type { ToolEntry, Transcript } from "./transcript.ts";

type ToolEvent = Extract<TurnEventBody, { readonly type: "tool" | "diff" | "terminal" }>;
type Told<Type extends ToolEvent["type"]> = Extract<ToolEvent, { readonly type: Type }>;

/** Files that one call names or changes. */
const MAX_PATHS = 1000;
/** All changes of one call together. */
const MAX_CHANGE_CHARS = 1024 * 1024;
const TOO_LARGE = { form: "unavailable", why: "The change is too large to be kept" } as const;

/** A call stands where it was first told, at this level or inside; a new one of a subagent goes under the call that started it. */
export function reduceTool(transcript: Transcript, source: EventSource, event: ToolEvent): Transcript {
  const key = toolKey(event.toolCallId);
  const updated = changeAnywhere(transcript, (level) => {
    const known = findEntry(level, key);
    if (known?.type !== "tool") return undefined;
    const after = apply(known, event);
    return updateEntry(level, known, source, after, charsOf(after));
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
  const entry = merged({ ...event, changes: [] }, event);
  return addEntry(transcript, source, entry, charsOf(entry), toolKey(event.toolCallId));
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

function apply(before: ToolEntry, event: ToolEvent): ToolEntry {
  switch (event.type) {
    case "tool":
      return merged(before, event);
    case "diff":
      return { ...before, changes: withChange(before.changes, event) };
    case "terminal":
      return { ...before, terminal: addText(before.terminal ?? NO_TEXT, event.data, MAX_TERMINAL_CHARS) };
  }
}

/** Every field of the event is the newest; what it does not have is as it was. */
function merged({ changes, ...before }: ToolEntry, event: Told<"tool">): ToolEntry {
  const { title, paths, rawInput, rawOutput, content } = event;
  return {
    ...before,
    ...event,
    title: cutBack(title),
    paths: paths.length > MAX_PATHS ? paths.slice(0, MAX_PATHS) : paths,
    changes: content === undefined ? changes : stillShown(changes, content),
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

function withChange(changes: readonly FileDiff[], { path, change }: FileDiff): readonly FileDiff[] {
  const at = changes.findIndex((known) => known.path === path);
  if (at < 0 && changes.length >= MAX_PATHS) return changes;
  const others = at < 0 ? changes : changes.toSpliced(at, 1);
  const isTooLarge = sizeOf(others) + sizeOf(change) > MAX_CHANGE_CHARS;
  const told = { path, change: isTooLarge ? TOO_LARGE : change };
  return at < 0 ? [...changes, told] : changes.with(at, told);
}

function boundContent(content: readonly ToolContent[]): readonly ToolContent[] {
  if (sizeOf(content, MAX_VALUE_CHARS) <= MAX_VALUE_CHARS) return content;
  const kept = content.slice(0, MAX_PATHS);
  const share = Math.floor(MAX_VALUE_CHARS / kept.length);
  return kept.map((block) => (block.type === "text" ? { ...block, text: cutBack(block.text, share) } : block));
}

/** About how many characters the entry holds. */
function charsOf({ title, paths, rawInput, rawOutput, content, changes, terminal, work }: ToolEntry): number {
  const shown = title.length + sizeOf(paths) + sizeOf(rawInput) + sizeOf(rawOutput) + sizeOf(content);
  return shown + sizeOf(changes) + (terminal?.text.length ?? 0) + (work?.book.size ?? 0);
}
