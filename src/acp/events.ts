/**
 * What a session tells while it lives: the events of a turn, and those around turns. Types only; an event line of
 * `ostler ask --format ndjson` has the same words. AIR = the JetBrains extension of ACP (seed document 002).
 */
import type { Failure } from "../errors/failure.ts";
import type { QuestionAnswer, QuestionRequest } from "./questions.ts";
import type { PermissionAnswer, PermissionRequest, TurnOutcome } from "./types.ts";

export type ToolStatus = "pending" | "in_progress" | "completed" | "failed";

/** One block of what a tool call shows. Diffs and the output of commands have events of their own. */
export type ToolContent =
  | { readonly type: "text"; readonly text: string }
  /** `image`, `audio`, `resource` or `resource_link`: named, not carried. */
  | { readonly type: "media"; readonly media: string; readonly uri?: string }
  /** The change of this file, which a `diff` event tells. */
  | { readonly type: "diff"; readonly path: string };

export interface PlanEntry {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** A plan as a text: proposed by a tool call that asks whether to carry it out. */
export interface PlanDocument {
  /** Markdown; null when the file that holds it was not read: `problem` says why, without one nobody tried (a replay). */
  readonly text: string | null;
  /** Absolute path of the file that holds the plan (AIR `planFile`). */
  readonly path?: string;
  /** One sentence: why the file is not shown. */
  readonly problem?: string;
  /** The agent streams it: more of the last line may come. */
  readonly grows?: true;
}

/** What a diff says about one file. */
export type FileChange =
  /** Both texts, or fragments of them; `oldText` null = the file is new. */
  | { readonly form: "texts"; readonly oldText: string | null; readonly newText: string }
  /** A Git patch of this one file (AIR `diffPatch`); the counts are of its lines. */
  | {
      readonly form: "patch";
      readonly patch: string;
      readonly kind: "added" | "modified" | "deleted" | "renamed";
      /** Absolute; of a renamed file. */
      readonly fromPath?: string;
      readonly addedLines: number;
      readonly removedLines: number;
    }
  /** There is a change, and it cannot be shown; `why` is one sentence. */
  | { readonly form: "unavailable"; readonly why: string };

/** What one tool call says of one file. */
export interface FileDiff {
  readonly path: string;
  readonly change: FileChange;
}

/** Work of the agent beside its turn: a background command, a workflow, a monitor (AIR `asyncTasks`). */
export interface AsyncTask {
  readonly taskId: string;
  readonly name: string;
  /** `shell`, `workflow`, `monitor`, `task`, `turn` (claude works by itself), or the agent's own word. */
  readonly taskType: string;
  /** `stopped` may still become `completed` or `failed`. */
  readonly state: "running" | "paused" | "completed" | "failed" | "stopped";
  readonly description?: string;
  readonly summary?: string;
  /** Absolute path of a file that the agent writes the output to. */
  readonly outputFile?: string;
  /** The call that started it; may come later than the task. */
  readonly toolCallId?: string;
  readonly lastToolName?: string;
  /** So far. */
  readonly usage?: { readonly totalTokens: number; readonly toolUses: number; readonly durationMs: number };
  readonly canStop: boolean;
  /** The agent wants it shown among the messages, and not only in a list of tasks. */
  readonly showInTranscript: boolean;
}

/** A long-running objective of a session (AIR `goal`). Times are Unix milliseconds. */
export interface Goal {
  readonly objective: string;
  readonly status: "active" | "paused" | "blocked" | "limited" | "complete";
  readonly iterations?: number;
  readonly lastReason?: string;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  /** codex: null = no budget. */
  readonly tokenBudget?: number | null;
  readonly tokensUsed?: number;
  readonly timeUsedSeconds?: number;
}

/** A compaction of the context, in whichever form the agent tells of it. */
export interface Compaction {
  readonly compactionId: string;
  readonly state: "running" | "completed" | "failed" | "cancelled";
  readonly trigger?: "manual" | "automatic";
  /** Size of the context in tokens. */
  readonly preTokens?: number;
  readonly postTokens?: number;
  readonly durationMs?: number;
  readonly summary?: string;
  readonly error?: string;
}

/** Which files a turn changed, as the agent says (AIR `agentFileChangeReport`). An unavailable report is no empty list. */
export type ChangeReport =
  | {
      readonly status: "reported";
      /** Absolute, each once. */
      readonly paths: readonly string[];
      readonly declaredComplete: boolean;
      readonly truncated: boolean;
      /** The agent's own words on what the list may lack (codex). */
      readonly uncertainty?: string;
    }
  /** `reason`: one of the contract's words, else `unsupported` (the agent has no such report), `notReported`, or the agent's own. */
  | { readonly status: "unavailable"; readonly reason: string };

export type SubagentState = "running" | "completed" | "failed" | "cancelled";

/**
 * One thing that happened in a turn. `late: true` marks a frame that arrived after the result: it belongs to the turn
 * and is not part of its text. Adjacent text of one message may be joined into one event.
 */
export type TurnEvent = TurnEventBody & {
  readonly late?: true;
  /** Of work that no prompt started (a goal), in a stream where turns stand as well. */
  readonly outsidePrompt?: true;
};

export type TurnEventBody =
  /** The session, at the start of a turn and again when the agent changed its model or mode. */
  | {
      readonly type: "session";
      readonly sessionId: string;
      readonly backend: string;
      readonly agent?: string;
      readonly model?: string;
      readonly mode?: string;
    }
  /** Answer text. With `superseded` the text is empty and says: drop what message `messageId` showed so far. */
  | { readonly type: "text"; readonly text: string; readonly messageId?: string; readonly superseded?: true }
  | { readonly type: "thought"; readonly text: string; readonly messageId?: string }
  /** A tool call, merged: every field holds the newest known value. */
  | {
      readonly type: "tool";
      readonly toolCallId: string;
      readonly title: string;
      readonly kind: string;
      readonly status: ToolStatus;
      readonly paths: readonly string[];
      /** The tool's own name (`Bash`, `exec_command`). */
      readonly name?: string;
      readonly rawInput?: unknown;
      readonly rawOutput?: unknown;
      readonly content?: readonly ToolContent[];
      readonly exitCode?: number;
      /** The server of an MCP tool; empty when it is not certain. */
      readonly mcpServer?: string;
      /** What a shell command is for, in the model's words (AIR `commandTitle`). */
      readonly commandTitle?: string;
      readonly skill?: { readonly name: string; readonly path?: string };
      /** The call starts a subagent (AIR `subagent`). */
      readonly isSubagent?: true;
      /** The command runs on in the background; the call only started it (AIR `asyncTasks.backgrounded`). */
      readonly isBackgrounded?: true;
      /** The call of a subagent that is told in its parent's session: the parent's call. */
      readonly parentToolCallId?: string;
      /** The tool never ran, and why (`permission-rule`, `user-rejected`). */
      readonly notRun?: string;
    }
  /**
   * A change of one file; replaces what the same call said of the same path before. The `content` of the call names the
   * changes that still stand.
   */
  | { readonly type: "diff"; readonly toolCallId: string; readonly path: string; readonly change: FileChange }
  /** More output of a command, ANSI codes included, or more progress of an MCP tool. */
  | { readonly type: "terminal"; readonly toolCallId: string; readonly data: string }
  | { readonly type: "plan"; readonly entries: readonly PlanEntry[] }
  /** A proposed plan, whole; null = the agent took it back. `toolCallId` = the call that proposes it, else the plan's own id. */
  | { readonly type: "plan"; readonly toolCallId: string; readonly document: PlanDocument | null }
  | {
      readonly type: "permission";
      readonly request: PermissionRequest;
      readonly answer: PermissionAnswer | null;
    }
  | { readonly type: "question"; readonly request: QuestionRequest; readonly answer: QuestionAnswer | null }
  | { readonly type: "failure"; readonly failure: Failure }
  | { readonly type: "warning"; readonly failure: Failure }
  /** Ostler waits and tries again (`by: "ostler"`), or the harness does so by itself. */
  | {
      readonly type: "retry";
      readonly by: "ostler" | "harness";
      /**
       * `again`: the same prompt; `continue`: the agent is asked to go on from what it said; `reopen`: the same prompt in a
       * new process, because the old one died before it left. Absent for the harness's own.
       */
      readonly how?: "again" | "continue" | "reopen";
      readonly attempt: number;
      readonly of?: number;
      readonly delayMs?: number;
      readonly reason: string;
    }
  | {
      readonly type: "usage";
      readonly contextUsed?: number;
      readonly contextSize?: number;
      readonly cost?: { readonly amount: number; readonly currency: string };
    }
  /** Words of the adapter or of Ostler itself: not answer text. */
  | { readonly type: "notice"; readonly from: "adapter" | "ostler"; readonly text: string }
  | {
      readonly type: "commands";
      readonly commands: readonly { readonly name: string; readonly description: string }[];
    }
  | { readonly type: "mode"; readonly modeId: string }
  | ({ readonly type: "task" } & AsyncTask)
  | { readonly type: "goal"; readonly goal: Goal | null }
  | ({ readonly type: "compaction" } & Compaction)
  | { readonly type: "changes"; readonly report: ChangeReport }
  | SubagentEvent;

/**
 * A subagent: it began, its state changed, or something happened in its own session (`event`, never of type `text` of the
 * parent). `subagentId` is its session's id, or the call that started it where it has no session of its own.
 */
export type SubagentEvent =
  | {
      readonly type: "subagent";
      readonly subagentId: string;
      readonly state: SubagentState;
      readonly name?: string;
      readonly task?: string;
      readonly prompt?: string;
      /** The subagent that started it; absent = the session itself. */
      readonly parentId?: string;
      /** The call that started it. */
      readonly toolCallId?: string;
    }
  | { readonly type: "subagent"; readonly subagentId: string; readonly event: TurnEventBody };

/** What happens in a session, in turns and between them: enough to rebuild what a person sees. */
export interface SessionEvent {
  /** The turn it belongs to; null = work that no prompt of ours started (a goal, a background task, a replay). */
  readonly turnId: string | null;
  /** Came after the result of its turn. */
  readonly late?: true;
  /** Repeated by the agent from an earlier process (`session/load`). */
  readonly replayed?: true;
  readonly event: SessionEventBody;
}

export type SessionEventBody =
  | TurnEventBody
  /** What a person wrote. */
  | { readonly type: "user"; readonly text: string; readonly messageId?: string }
  | { readonly type: "turn"; readonly state: "started" }
  | { readonly type: "turn"; readonly state: "ended"; readonly outcome: TurnOutcome };
