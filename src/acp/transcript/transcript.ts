/**
 * What a person sees of a session: entries in the order in which they began, and the state of the session beside them.
 * Types only; `reduce.ts` makes one from events.
 */
import type { Failure, RefusalInfo } from "../../errors/failure.ts";
import type {
  AsyncTask,
  ChangeReport,
  Compaction,
  FileDiff,
  Goal,
  PlanDocument,
  PlanEntry,
  SubagentState,
  TurnEventBody,
} from "../events.ts";
import type { QuestionAnswer, QuestionRequest } from "../questions.ts";
import type { PermissionAnswer, PermissionRequest, TurnOutcome, Usage } from "../types.ts";
import type { EntryIndex } from "./entry-index.ts";
import type { EntryList } from "./entry-list.ts";

/** One session, up to one event. Immutable; a later one shares with it what did not change. */
export interface Transcript {
  readonly entries: EntryList;
  /** How many entries came before the first that is kept. */
  readonly earlier: number;
  readonly state: SessionState;
  /** Bookkeeping of the reducer: of no meaning to a reader. */
  readonly book: TranscriptBook;
}

/** What is true of the session now, and not said at one place. */
export interface SessionState {
  readonly sessionId: string | null;
  readonly backend: string | null;
  readonly agent: string | null;
  readonly model: string | null;
  readonly mode: string | null;
  /** A turn runs, or work that no prompt of ours started. */
  readonly isWorking: boolean;
  /** The turn that runs; null between turns and for other work. */
  readonly turnId: string | null;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly goal: Goal | null;
  /** Every known task by its id, also those that the agent does not want among the messages. */
  readonly tasks: ReadonlyMap<string, AsyncTask>;
  readonly context: ContextUse | null;
  /** Tokens of all turns that ended; null = none was told. */
  readonly tokens: Usage | null;
}

/** How full the context is, and what the session has cost. */
export interface ContextUse {
  readonly used?: number;
  readonly size?: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** @internal */
export interface TranscriptBook {
  readonly nextSeq: number;
  /** Approximate characters that the entries hold. */
  readonly size: number;
  /** Counts what a person said: tells the plans of a replay apart, which has no turns. */
  readonly section: number;
  /** Something else than a replay was told: what an agent repeats from now on stands here already. */
  readonly isLive: boolean;
  readonly index: EntryIndex;
  /** The `seq` of entries that hold a transcript of their own, oldest first. */
  readonly holders: readonly number[];
  readonly limits: TranscriptLimits;
}

/** How much is kept: the newest entries, and about so many characters in them. */
export interface TranscriptLimits {
  readonly entries: number;
  readonly chars: number;
}

/** What every entry says of itself. */
export interface EntryPlace {
  /** Its place: entries stand by it, and none ever moves. */
  readonly seq: number;
  /** The turn it belongs to; null = work that no prompt of ours started, or a replay. */
  readonly turnId: string | null;
  /** It came, or was changed, after the result of its turn. */
  readonly late?: true;
  /** Repeated by the agent from an earlier process. */
  readonly replayed?: true;
  /** What later events find it by. */
  readonly key?: string | undefined;
  /** Approximate characters that it holds. */
  readonly size: number;
}

/** One thing that a person sees. */
export type TranscriptEntry = EntryPlace &
  (
    | TextEntry
    | ToolEntry
    | SubagentEntry
    | { readonly type: "plan"; readonly entries: readonly PlanEntry[] }
    /** A proposed plan; null = the agent took it back. */
    | { readonly type: "plan_document"; readonly toolCallId: string; readonly document: PlanDocument | null }
    /** A question for permission; null = it waits for its answer. */
    | { readonly type: "permission"; readonly request: PermissionRequest; readonly answer: PermissionAnswer | null }
    | { readonly type: "question"; readonly request: QuestionRequest; readonly answer: QuestionAnswer | null }
    /** A warning or an error by its `severity`: the newest revision, where the first one stood. */
    | { readonly type: "failure"; readonly failure: Failure }
    | Extract<TurnEventBody, { readonly type: "retry" }>
    | Extract<TurnEventBody, { readonly type: "notice" }>
    | { readonly type: "task"; readonly task: AsyncTask }
    | { readonly type: "compaction"; readonly compaction: Compaction }
    | { readonly type: "changes"; readonly report: ChangeReport }
    | { readonly type: "end"; readonly outcome: TurnEnd }
  );

/** Words: of a person, the agent's answer, or its thoughts. */
export interface TextEntry {
  readonly type: "user" | "message" | "thought";
  readonly text: string;
  /** Characters that came before `text` and are not kept. */
  readonly cutChars: number;
  readonly messageId?: string;
  /** The agent said it again: it is not part of the answer. */
  readonly superseded?: true;
}

/** A tool call with everything it showed. */
export interface ToolEntry extends Omit<Extract<TurnEventBody, { readonly type: "tool" }>, "type"> {
  readonly type: "tool";
  /** What it changes, each file once, in the order in which they were told. */
  readonly changes: readonly FileDiff[];
  /** Output of the command, or progress of an MCP tool, ANSI codes included. */
  readonly terminal?: TerminalText;
  /** What the subagent that it started did, where that has no session of its own. */
  readonly work?: Transcript;
  /** What is known of that subagent. */
  readonly subagent?: SubagentInfo;
}

export interface TerminalText {
  readonly text: string;
  /** Characters of output before `text`, which are not kept. */
  readonly cutChars: number;
}

export interface SubagentInfo {
  readonly state: SubagentState;
  readonly name?: string;
  readonly task?: string;
  readonly prompt?: string;
  readonly parentId?: string;
  readonly toolCallId?: string;
}

/** A subagent with a session of its own. */
export interface SubagentEntry extends SubagentInfo {
  readonly type: "subagent";
  readonly subagentId: string;
  readonly work: Transcript;
}

/** How a turn ended. Its failure stands at its own place in the transcript. */
export interface TurnEnd {
  readonly kind: TurnOutcome["kind"];
  readonly by?: "caller" | "harness";
  /** The `id` of the failure that made it so. */
  readonly failureId?: string;
  readonly refusal?: RefusalInfo;
  readonly stopReason: string | null;
  readonly partial: boolean;
  readonly attempts: number;
  readonly durationMs: number;
  readonly usage: Usage | null;
}
