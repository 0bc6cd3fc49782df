/**
 * Tool calls of one session, merged from deltas: an absent field means unchanged (AIR contract, tool calls). The frame
 * cache is also the evidence for permission questions: kiro v2 names only the id and the title there (kiro wire notes,
 * section 8), and an inline copy may have been written by the model.
 */
import { newsOf, readDiffBlocks } from "./diff-blocks.ts";
import { isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { KeptDiffs } from "./kept-diffs.ts";
import { mergeToolUpdate, readBeatOf, readToolOutput } from "./tool-merge.ts";
import type { ToolFacts } from "./tool-merge.ts";
import type { FileDiff, ToolContent, TurnEventBody } from "./events.ts";
import type { PermissionRequest } from "./types.ts";

/** Finished calls kept as evidence and for late updates. */
const MAX_CALLS = 1000;
/** Calls in flight that are kept; no model runs so many, and a permission question about a forgotten one is denied. */
const MAX_RUNNING = 1000;
/** One more than the policy looks at on disk: whoever names more is not believed about any. */
const MAX_DIFF_PATHS = 1000;

/** A tool call as far as it is known. */
export interface ToolCall extends ToolFacts {
  readonly evidence: CallEvidence;
}

/** What a permission question needs besides, and no event tells. */
interface CallEvidence {
  /** A `tool_call` came, or an update with a kind: "other" is what the agent said, and not only what nobody said. */
  isAnnounced: boolean;
  /** The paths of every diff so far, the codex adapter's only place for them ("Editing files"). */
  readonly diffPaths: Set<string>;
}

export class ToolCalls {
  /** Of the calls in flight, for permission questions. */
  readonly diffs = new KeptDiffs();
  readonly #calls = new Map<string, ToolCall>();
  readonly #running = new Set<string>();
  /** In the order in which they ended: the first is the first to be forgotten. */
  readonly #ended = new Set<string>();

  get(toolCallId: string): ToolCall | undefined {
    return this.#calls.get(toolCallId);
  }

  /** The calls that are kept, of all turns so far. */
  get ids(): Iterable<string> {
    return this.#calls.keys();
  }

  /** How many calls are in flight. */
  get running(): number {
    return this.#running.size;
  }

  /** A turn ended: what it left open is no longer waited for, and what its calls showed was told. */
  forgetRunning(): void {
    for (const id of this.#running) this.#ended.add(id);
    this.#running.clear();
    for (const call of this.#calls.values()) {
      delete call.content;
      delete call.rawOutput;
    }
  }

  /** Takes in a `tool_call` or `tool_call_update`; the events that a person should see. */
  apply(update: Frame): TurnEventBody[] {
    const id = update["toolCallId"];
    if (typeof id !== "string") return [];
    // A call that is announced again is a new one: an agent may count its calls anew in every turn.
    const known = update["sessionUpdate"] === "tool_call" && this.#ended.has(id) ? undefined : this.#calls.get(id);
    const beatOf = known === undefined ? this.#calls.get(readBeatOf(update) ?? "") : undefined;
    if (beatOf !== undefined) return [toEvent(beatOf)];
    const call = known ?? this.#create(id);
    const { evidence } = call;
    mergeToolUpdate(call, update);
    // The protocol says that a `tool_call` without a kind is "other"; an update without one says nothing.
    evidence.isAnnounced ||=
      typeof update["kind"] === "string" || (update["sessionUpdate"] === "tool_call" && update["kind"] == null);
    const isRunning = call.status === "pending" || call.status === "in_progress";
    (isRunning ? this.#ended : this.#running).delete(id);
    (isRunning ? this.#running : this.#ended).add(id);
    const { diffs, paths } = readDiffBlocks(update["content"]);
    for (const path of paths) if (evidence.diffPaths.size <= MAX_DIFF_PATHS) evidence.diffPaths.add(path);
    if (isRunning) this.diffs.add(id, diffs);
    else this.diffs.forget(id);
    const events: TurnEventBody[] = [toEvent(call)];
    for (const diff of diffs) events.push({ type: "diff", toolCallId: id, ...diff });
    const data = readToolOutput(update["_meta"]);
    if (data !== "") events.push({ type: "terminal", toolCallId: id, data });
    return events;
  }

  /**
   * What an allowed question says of the files of its call, where the frames said something else: it is an update of the
   * call, and claude-agent-acp does not repeat the exact patch (recording 0.101.0 edit-diff). Evidence it is not.
   */
  allowed({ toolCallId, diffs = [] }: PermissionRequest): TurnEventBody[] {
    if (!this.#running.has(toolCallId)) return [];
    const news = newsOf(this.diffs.of(toolCallId), diffs);
    this.diffs.add(toolCallId, news);
    const call = this.#calls.get(toolCallId);
    // The content names what stands, and no frame of a new file does (recording 0.101.0 write-new).
    if (call?.content !== undefined) call.content = naming(call.content, news);
    return news.map((diff) => ({ type: "diff", toolCallId, ...diff }));
  }

  #create(id: string): ToolCall {
    const evidence = { isAnnounced: false, diffPaths: new Set<string>() };
    const call: ToolCall = { toolCallId: id, title: "", kind: "other", status: "pending", paths: [], evidence };
    this.#calls.set(id, call);
    if (this.#ended.size > MAX_CALLS) this.#forget(this.#ended);
    if (this.#running.size >= MAX_RUNNING) this.#forget(this.#running);
    return call;
  }

  #forget(calls: Set<string>): void {
    const oldest = calls.values().next().value;
    if (oldest === undefined) return;
    calls.delete(oldest);
    this.#calls.delete(oldest);
  }
}

/** The content with a block for every file of `diffs`. */
function naming(content: readonly ToolContent[], diffs: readonly FileDiff[]): readonly ToolContent[] {
  const named = new Set(content.map((block) => (block.type === "diff" ? block.path : "")));
  const missing = diffs.filter(({ path }) => !named.has(path));
  return [...content, ...missing.map(({ path }) => ({ type: "diff", path }) as const)];
}

/** An input that is still to come is told as an empty one to a client that is not AIR. */
function toEvent(call: ToolCall): TurnEventBody {
  const { evidence: _, rawInput, ...shown } = call;
  return { type: "tool", ...shown, ...(rawInput !== undefined && !isEmpty(rawInput) && { rawInput }) };
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
