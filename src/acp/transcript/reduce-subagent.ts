/** Subagents: each a transcript inside the entry that began it. Pure. */
import type { SubagentEvent, TurnEventBody } from "../events.ts";
import { changeAnywhere, withWork, workOf } from "./nested.ts";
import { SUBAGENT_LIMITS, addEntry, emptyTranscript, findEntry, updateEntry } from "./placement.ts";
import type { EventSource } from "./placement.ts";
import { toolKey } from "./reduce-tool.ts";
import { sizeOf } from "./bounded.ts";
import type { SubagentInfo, Transcript, TranscriptEntry } from "./transcript.ts";

type StateEvent = Extract<SubagentEvent, { readonly state: unknown }>;
/** Reduces an event in the transcript of a subagent. */
type ReduceBody = (transcript: Transcript, source: EventSource, event: TurnEventBody) => Transcript;

/** A subagent stands where it was first heard of: in its own entry, or in that of the call that it is. */
export function reduceSubagent(
  transcript: Transcript,
  source: EventSource,
  event: SubagentEvent,
  reduceBody: ReduceBody,
): Transcript {
  if ("state" in event) return setState(transcript, source, event);
  const { subagentId, event: told } = event;
  // What a subagent says of its own subagents is looked up everywhere: these are told of by themselves as well.
  if (told.type === "subagent") {
    const nested = "state" in told ? { parentId: subagentId, ...told } : told;
    return reduceSubagent(transcript, source, nested, reduceBody);
  }
  const change = (level: Transcript): Transcript | undefined => {
    const entry = findSubagent(level, subagentId);
    if (entry === undefined) return undefined;
    const work = workOf(entry) ?? emptyTranscript(SUBAGENT_LIMITS);
    return withWork(level, entry, reduceBody(work, source, told));
  };
  const changed = changeAnywhere(transcript, change);
  if (changed !== undefined) return changed;
  // Nobody announced it (kiro wire notes: a crew names no children).
  const begun = setState(transcript, source, { type: "subagent", subagentId, state: "running" });
  return changeAnywhere(begun, change) ?? begun;
}

function findSubagent(level: Transcript, subagentId: string): TranscriptEntry | undefined {
  return findEntry(level, subagentKey(subagentId)) ?? findEntry(level, toolKey(subagentId));
}

function subagentKey(subagentId: string): string {
  return `subagent:${subagentId}`;
}

function setState(transcript: Transcript, source: EventSource, event: StateEvent): Transcript {
  const { type: _, subagentId, ...info } = event;
  const known = changeAnywhere(transcript, (level) => {
    const entry = findSubagent(level, subagentId);
    return entry && withInfo(level, source, entry, info);
  });
  if (known !== undefined) return known;
  const { parentId } = info;
  const below =
    parentId === undefined
      ? undefined
      : changeAnywhere(transcript, (level, canNest) => {
          const parent = findSubagent(level, parentId);
          if (parent === undefined || !canNest) return undefined;
          return withWork(level, parent, add(workOf(parent) ?? emptyTranscript(SUBAGENT_LIMITS), source, event));
        });
  return below ?? add(transcript, source, event);
}

function add(transcript: Transcript, source: EventSource, event: StateEvent): Transcript {
  const work = emptyTranscript(SUBAGENT_LIMITS);
  return addEntry(transcript, source, { ...event, work }, sizeOf(event), subagentKey(event.subagentId));
}

function withInfo(level: Transcript, source: EventSource, entry: TranscriptEntry, info: SubagentInfo): Transcript {
  if (entry.type === "subagent") {
    const after = { ...entry, ...info };
    return updateEntry(level, entry, source, after, sizeOf(info) + entry.work.book.size);
  }
  if (entry.type !== "tool") return level;
  return updateEntry(level, entry, source, { ...entry, subagent: { ...entry.subagent, ...info } }, entry.size);
}
