/** Events as remarks beside the answer: one line per tool start and end, plan step, denial, warning and retry. Pure but for what was said before. */
import { cleanLine } from "../../errors/redact.ts";
import { sentenceFor } from "../../errors/wording.ts";
import type { Failure } from "../../errors/failure.ts";
import type { PlanEntry, TurnEvent } from "../../acp/events.ts";
import { summarizeDiff } from "./diff-lines.ts";
import { PlanRemarks } from "./plan-remarks.ts";
import { goalSentence } from "../shared/goal-sentence.ts";
import { CompactionRemarks } from "./compaction-remarks.ts";
import { TaskRemarks } from "./task-remarks.ts";
import { SettingRemarks } from "./setting-remarks.ts";
import type { Tone } from "./terminal.ts";

export interface Remark {
  readonly text: string;
  readonly tone: Tone;
}

const MAX_TITLE_CHARS = 200;
/** The address of a sign-in is of use only as a whole. */
const MAX_NOTICE_CHARS = 2500;
/** Tool calls, and files, whose last line is remembered, so that the same state is not said twice. */
const MAX_REMEMBERED_TOOLS = 1000;

const PLAN_SIGN = { pending: "·", in_progress: "▸", completed: "✓" } as const;

interface SaidOfTool {
  readonly title: string;
  readonly shown: string;
  readonly state: string;
  readonly purpose: string | undefined;
}

export class Remarks {
  /** What was last said about each tool call. */
  readonly #tools = new Map<string, SaidOfTool>();
  readonly #tasks = new TaskRemarks();
  readonly #compactions = new CompactionRemarks();
  #plan: readonly PlanEntry[] = [];
  readonly #plans = new PlanRemarks();
  /** What was last said about each file of a call: a snippet may be followed by the exact change. */
  readonly #diffs = new Map<string, string>();
  readonly #settings = new SettingRemarks();
  readonly #warned = new Set<string>();
  #goalSaid = "";
  /** The record of a harness that tries again comes as retry and as warning. */
  #retryReason: string | undefined;

  /** What is to be said about this event, often nothing. */
  of(event: TurnEvent): readonly Remark[] {
    const isPlan = event.type === "plan" && "document" in event;
    return isPlan ? this.#plans.of(event.toolCallId, event.document) : [...this.rest(), ...this.#said(event)];
  }

  /** What was held back because it could still grow. */
  rest(): readonly Remark[] {
    return this.#plans.flush();
  }

  #said(event: TurnEvent): readonly Remark[] {
    switch (event.type) {
      case "tool":
        return this.#tool(event);
      case "diff":
        return this.#diff(event);
      case "plan":
        return "entries" in event ? this.#planSteps(event.entries) : [];
      case "permission":
        if (event.answer?.denied) return [denial(event.request.title, event.answer.reason)];
        return event.answer?.action === "cancel" ? unanswered(event.request.title, event.answer.reason) : [];
      case "question":
        return event.answer?.action === "cancel" ? unanswered(event.request.message, event.answer.reason) : [];
      case "warning":
        return this.warning(event.failure);
      case "retry":
        if (event.by === "harness") this.#retryReason = event.reason;
        return [{ text: retryLine(event), tone: "warning" }];
      case "notice":
        return [{ text: `· ${cleanLine(event.text, MAX_NOTICE_CHARS)}`, tone: "dim" }];
      case "task":
        return this.#tasks.task(event);
      case "subagent":
        return this.#tasks.subagent(event);
      case "text":
        return event.late ? [{ text: `After the end: ${cleanLine(event.text, 1000)}`, tone: "dim" }] : [];
      case "goal":
        return this.#goal(event);
      case "compaction":
        return this.#compactions.of(event);
      case "session":
      case "mode":
        return this.#settings.of(event);
      case "failure":
        return event.late ? [{ text: `After the end: ${sentenceFor(event.failure)}`, tone: "warning" }] : [];
      case "thought":
      case "terminal":
      case "usage":
      case "commands":
      case "changes":
        return [];
    }
  }

  /** An agent publishes its goal with every round; what is said is what is new. */
  #goal({ goal }: TurnEvent & { readonly type: "goal" }): readonly Remark[] {
    const text = goalSentence(goal);
    if (text === this.#goalSaid) return [];
    this.#goalSaid = text;
    return [{ text: `◎ ${text}`, tone: "dim" }];
  }

  /** A warning, once per record. */
  warning(failure: Failure): readonly Remark[] {
    const key = `${failure.id} ${failure.revision}`;
    if (this.#warned.has(key)) return [];
    this.#warned.add(key);
    if (failure.title === this.#retryReason) return [];
    return [{ text: `Warning: ${sentenceFor(failure)}`, tone: "warning" }];
  }

  #diff(event: TurnEvent & { readonly type: "diff" }): readonly Remark[] {
    const key = `${event.toolCallId}\0${event.path}`;
    const line = summarizeDiff(event);
    if (this.#diffs.get(key) === line) return [];
    this.#diffs.delete(key);
    this.#diffs.set(key, line);
    if (this.#diffs.size > MAX_REMEMBERED_TOOLS) this.#diffs.delete(this.#diffs.keys().next().value!);
    return [{ text: `  ${line}`, tone: "dim" }];
  }

  #tool(event: TurnEvent & { readonly type: "tool" }): readonly Remark[] {
    const { toolCallId, title, kind, status, commandTitle } = event;
    const known = this.#tools.get(toolCallId);
    const state = status === "pending" ? "in_progress" : status;
    const isSame = known?.state === state && known.title === title;
    const isNewPurpose = commandTitle !== undefined && commandTitle !== known?.purpose;
    if (isSame && !isNewPurpose) return [];
    // Scrubbing is what costs here, and most titles never change.
    const shown =
      known?.title === title ? known.shown : cleanLine(title, MAX_TITLE_CHARS) || cleanLine(kind, MAX_TITLE_CHARS);
    this.#tools.delete(toolCallId);
    this.#tools.set(toolCallId, { title, shown, state, purpose: commandTitle });
    if (this.#tools.size > MAX_REMEMBERED_TOOLS) this.#tools.delete(this.#tools.keys().next().value!);
    // What a command is for becomes known after the command (recording claude-agent-acp 0.101.0 bash-exit3).
    const purpose = isNewPurpose ? [`  ${cleanLine(commandTitle, MAX_TITLE_CHARS)}`] : [];
    const lines = isSame ? purpose : [toolLine(shown, event), ...purpose];
    return lines.map((text) => ({ text, tone: "dim" }));
  }

  /** The whole plan first, then only the steps that changed. */
  #planSteps(entries: readonly PlanEntry[]): readonly Remark[] {
    const before = new Map(this.#plan.map(({ content, status }) => [content, status]));
    this.#plan = entries;
    return entries
      .filter(({ content, status }) => before.get(content) !== status)
      .map(({ content, status }) => ({
        text: `  ${PLAN_SIGN[status]} ${cleanLine(content, MAX_TITLE_CHARS)}`,
        tone: "dim",
      }));
  }
}

function toolLine(title: string, { status, exitCode, isBackgrounded }: TurnEvent & { readonly type: "tool" }): string {
  const exit = exitCode === undefined || exitCode === 0 ? "" : ` (exit ${exitCode})`;
  switch (status) {
    case "pending":
    case "in_progress":
      return `▸ ${title}`;
    case "completed":
      // Only the start of the command has ended (seed document 002, Async tasks).
      return isBackgrounded === true ? `▸ ${title} (goes on in the background)` : `✓ ${title}${exit}`;
    case "failed":
      return `✗ ${title}${exit}`;
  }
}

function denial(title: string, reason: string | undefined): Remark {
  const why = reason === undefined ? "" : ` (${cleanLine(reason, MAX_TITLE_CHARS)})`;
  return { text: `Denied: ${cleanLine(title, MAX_TITLE_CHARS)}${why}`, tone: "warning" };
}

/** Nobody decided, and the agent or Ostler says why. */
function unanswered(question: string, reason: string | undefined): readonly Remark[] {
  if (reason === undefined) return [];
  const text = `Not answered: ${cleanLine(question, MAX_TITLE_CHARS)} (${cleanLine(reason, MAX_TITLE_CHARS)})`;
  return [{ text, tone: "warning" }];
}

function retryLine({ by, attempt, of, delayMs, reason }: TurnEvent & { readonly type: "retry" }): string {
  const why = cleanLine(reason, MAX_TITLE_CHARS);
  if (by === "harness") return `The agent tries again by itself: ${why}`;
  const count = of === undefined ? `${attempt}` : `${attempt} of ${of}`;
  const wait = delayMs === undefined || delayMs < 500 ? "" : ` in ${Math.round(delayMs / 1000)} s`;
  return `Trying again${wait} (try ${count}): ${why}`;
}
