/**
 * The updates of one ACP session as events: one reader a session, a child session, or a replay. Judging a turn (text that
 * is superseded, records that fail it) is the attempt's; what no attempt judges is read whole by {@link UpdateReader.readAll}.
 */
import type { ClassifyContext } from "../errors/verdict.ts";
import { AsyncTasks } from "./air/async-tasks.ts";
import { ChangeReports } from "./air/change-report.ts";
import { GoalState } from "./air/goal.ts";
import { PlanDocuments, readClearedCall } from "./air/plan-file.ts";
import { readSessionFailure } from "./air/session-failure.ts";
import { Subagents, readParentCall, toSubagent } from "./air/subagents.ts";
import { Compactions } from "./compactions.ts";
import type { SessionEventBody, TurnEventBody } from "./events.ts";
import { ExtensionNews } from "./extension-news.ts";
import type { Frame } from "./frames.ts";
import { isObject } from "./frames.ts";
import { failureFromRecord } from "./make-failure.ts";
import { readChunkText, readCommands, readNotice, readPlan, readUsageUpdate, str } from "./normalize.ts";
import type { Backend, ExtensionReading } from "./ports.ts";
import { SessionNow } from "./session-now.ts";
import { ToolCalls } from "./tool-calls.ts";

export class UpdateReader {
  readonly tools = new ToolCalls();
  readonly goal = new GoalState();
  readonly changes = new ChangeReports();
  readonly plans = new PlanDocuments();
  readonly compactions = new Compactions();
  readonly now = new SessionNow();
  readonly tasks: AsyncTasks;
  readonly #subagents = new Subagents();
  readonly #extensions = new ExtensionNews(this.compactions);
  readonly #backend: Backend;
  readonly #context: ClassifyContext;
  readonly #isChild: boolean;

  /** With `parent`, the reader of a subagent's session: its tasks are stopped through its parent. */
  constructor(backend: Backend, context: ClassifyContext, parent?: UpdateReader) {
    this.#backend = backend;
    this.#context = context;
    this.#isChild = parent !== undefined;
    this.tasks = parent?.tasks ?? new AsyncTasks();
    this.plans.readFile = parent?.plans.readFile;
  }

  /** What an update tells a person; nothing for text, thoughts and failure records, which a running attempt judges. */
  read(update: Frame): TurnEventBody[] {
    switch (update["sessionUpdate"]) {
      case "tool_call":
      case "tool_call_update":
        return this.#readCall(update);
      case "compaction_update":
      case "compaction_summary_chunk":
        return this.compactions.apply(update);
      case "plan":
        return [{ type: "plan", entries: readPlan(update) }];
      case "plan_update":
      case "plan_removed":
        return this.plans.ofPlan(update);
      case "usage_update":
        return [readUsageUpdate(update)];
      case "available_commands_update":
        return [{ type: "commands", commands: readCommands(update) }];
      case "notice":
        return [{ type: "notice", from: "adapter", text: readNotice(update) }];
      case "current_mode_update":
        return this.now.modeChanged(update);
      case "config_option_update":
        return this.now.optionsChanged(update);
      case "async_task_spawned":
      case "async_task_progress":
      case "async_task_state_update":
        return this.tasks.apply(update);
      case "subagent_spawned":
      case "subagent_state_update":
      case "subagent_update":
        return this.#subagents.apply(update);
      case "session_info_update":
        return [
          ...this.goal.apply(update),
          ...this.changes.apply(update),
          ...this.readExtension(this.#backend.readInfo(update)),
        ];
      default:
        return [];
    }
  }

  /** What a notification outside ACP tells a person. */
  readExtension(reading: ExtensionReading): readonly TurnEventBody[] {
    return [...this.#extensions.events(reading), ...this.now.agentChanged(reading)];
  }

  /** What was told as a tool call stays one. */
  #readCall(update: Frame): TurnEventBody[] {
    const cleared = readClearedCall(update);
    // No call of the model, and nothing that a person would look for.
    if (cleared !== undefined && this.tools.get(cleared) !== undefined)
      return this.plans.ofCall(str(update["kind"]), update);
    const isKnown = this.tools.get(str(update["toolCallId"]) ?? "") !== undefined;
    const compaction = isKnown ? undefined : this.compactions.ofCall(update, this.#backend.isCompactionCall(update));
    return compaction ?? this.#readOwnCall(update);
  }

  /** The same with text, thoughts, records and a person's own words. */
  readAll(update: Frame): SessionEventBody[] {
    return this.readNested(update) ?? this.#readOwn(update);
  }

  /**
   * What a subagent without a session of its own tells in this one, under the call that started it. Undefined = the update
   * is the session's own; a tool call always is, and names its parent itself.
   */
  readNested(update: Frame): TurnEventBody[] | undefined {
    const parentId = this.#isChild ? undefined : readParentCall(update);
    return parentId === undefined ? undefined : this.#readOwn(update).flatMap(toSubagent(parentId));
  }

  #readOwn(update: Frame): SessionEventBody[] {
    const messageId = str(update["messageId"]);
    const named = messageId === undefined ? {} : { messageId };
    switch (update["sessionUpdate"]) {
      case "agent_message_chunk": {
        const text = readChunkText(update);
        if (text === "") return [];
        return this.#backend.isAdapterWords(update, false)
          ? [{ type: "notice", from: "adapter", text }]
          : [{ type: "text", text, ...named }];
      }
      case "agent_thought_chunk":
        return [{ type: "thought", text: readChunkText(update), ...named }];
      case "user_message_chunk":
        return [{ type: "user", text: readChunkText(update), ...named }];
      case "session_info_update":
        return [...this.#readRecord(update["_meta"]), ...this.read(update)];
      default:
        return this.read(update);
    }
  }

  /** A call, and the plan that it proposes. */
  #readOwnCall(update: Frame): TurnEventBody[] {
    const events = this.tools.apply(update);
    const kind = this.tools.get(str(update["toolCallId"]) ?? "")?.kind;
    return [...events, ...this.plans.ofCall(kind, update)];
  }

  #readRecord(meta: unknown): TurnEventBody[] {
    const reading = isObject(meta) ? readSessionFailure(meta) : undefined;
    if (reading?.kind !== "ok") return [];
    const failure = failureFromRecord(reading.record, this.#context, "no_output");
    return [{ type: failure.severity === "warning" ? "warning" : "failure", failure }];
  }
}
