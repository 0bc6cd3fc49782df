/**
 * Events for a program: words that are meant for people are scrubbed, as they are on a screen. The answer, diffs, the
 * input and output of tools and all ids are as they came.
 */
import type { PlanDocument, TurnEvent } from "../../acp/events.ts";
import type { QuestionRequest } from "../../acp/questions.ts";
import { cleanBlock, cleanLine, redact, stripControls } from "../../errors/redact.ts";
import { scrubReport } from "../shared/change-report.ts";

const MAX_TITLE_CHARS = 2000;
const MAX_TEXT_CHARS = 8000;
/** What is left of a conversation after its compaction. */
const MAX_SUMMARY_CHARS = 64 * 1024;
/** Tool calls whose title is remembered: most events of a call repeat it, and scrubbing is what costs. */
const MAX_REMEMBERED_TOOLS = 1000;

/** Every kind that the protocol knows. */
const PLAIN_WORD = /^[a-z_]{1,40}$/;
/** Too plain for a secret. */
const PLAIN_NAME = /^[A-Za-z_]{0,40}$/;

export class ScrubbedEvents {
  readonly #titles = new Map<string, { readonly raw: string; readonly clean: string }>();

  of(event: TurnEvent): TurnEvent {
    switch (event.type) {
      case "tool": {
        const title = this.#titleOf(event.toolCallId, event.title);
        const kind = PLAIN_WORD.test(event.kind) ? event.kind : line(event.kind);
        const { commandTitle } = event;
        const purpose =
          commandTitle === undefined
            ? {}
            : { commandTitle: this.#titleOf(`${event.toolCallId} purpose`, commandTitle) };
        const names = scrubNames(event);
        const isClean =
          title === event.title && kind === event.kind && commandTitle === undefined && names === undefined;
        return isClean ? event : { ...event, title, kind, ...purpose, ...names };
      }
      case "usage":
        if (event.cost === undefined) return event;
        return { ...event, cost: { ...event.cost, currency: nameOf(event.cost.currency) } };
      case "permission": {
        const { request, answer } = event;
        const { title, description, texts, options } = request;
        const clean = {
          ...request,
          title: line(title),
          ...(description === undefined ? {} : { description: block(description) }),
          ...(texts === undefined ? {} : { texts: texts.map(block) }),
          options: options.map((option) => ({ ...option, name: line(option.name) })),
        };
        return { ...event, request: clean, answer };
      }
      case "plan":
        if (!("entries" in event)) return { ...event, document: event.document && scrubPlan(event.document) };
        return { ...event, entries: event.entries.map((entry) => ({ ...entry, content: line(entry.content) })) };
      case "changes":
        return { ...event, report: scrubReport(event.report) };
      case "question":
        return { ...event, request: scrubbedQuestion(event.request) };
      case "retry":
        return { ...event, reason: line(event.reason) };
      case "notice":
        return { ...event, text: block(event.text) };
      case "compaction": {
        const { error, summary } = event;
        return {
          ...event,
          ...(error === undefined ? {} : { error: block(error) }),
          ...(summary === undefined ? {} : { summary: cleanBlock(summary, MAX_SUMMARY_CHARS) }),
        };
      }
      case "commands":
        return {
          ...event,
          commands: event.commands.map(({ name, description }) => ({
            name: line(name),
            description: line(description),
          })),
        };
      case "mode":
        return { ...event, modeId: line(event.modeId) };
      case "goal": {
        if (event.goal === null) return event;
        const { objective, lastReason } = event.goal;
        const reason = lastReason === undefined ? {} : { lastReason: block(lastReason) };
        return { ...event, goal: { ...event.goal, objective: block(objective), ...reason } };
      }
      case "task":
        return {
          ...event,
          name: line(event.name),
          taskType: line(event.taskType),
          ...(event.description === undefined ? {} : { description: block(event.description) }),
          ...(event.summary === undefined ? {} : { summary: block(event.summary) }),
          ...(event.lastToolName === undefined ? {} : { lastToolName: line(event.lastToolName) }),
        };
      case "subagent":
        if ("event" in event) return { ...event, event: this.of(event.event) };
        return {
          ...event,
          ...(event.name === undefined ? {} : { name: line(event.name) }),
          ...(event.task === undefined ? {} : { task: block(event.task) }),
          ...(event.prompt === undefined ? {} : { prompt: block(event.prompt) }),
        };
      case "session":
        return {
          ...event,
          ...(event.agent === undefined ? {} : { agent: line(event.agent) }),
          ...(event.model === undefined ? {} : { model: line(event.model) }),
          ...(event.mode === undefined ? {} : { mode: line(event.mode) }),
        };
      default:
        return event;
    }
  }

  #titleOf(toolCallId: string, raw: string): string {
    const known = this.#titles.get(toolCallId);
    if (known?.raw === raw) return known.clean;
    const clean = line(raw);
    this.#titles.delete(toolCallId);
    this.#titles.set(toolCallId, { raw, clean });
    if (this.#titles.size > MAX_REMEMBERED_TOOLS) this.#titles.delete(this.#titles.keys().next().value!);
    return clean;
  }
}

type ToolEvent = TurnEvent & { readonly type: "tool" };

/** The names that an agent gives a call besides its title; undefined when they are plain. */
function scrubNames({
  name,
  mcpServer,
  notRun,
  skill,
}: ToolEvent): Pick<ToolEvent, "name" | "mcpServer" | "notRun" | "skill"> | undefined {
  const isPlain = [name, mcpServer, notRun, skill?.name].every((word) => word === undefined || PLAIN_NAME.test(word));
  if (isPlain) return undefined;
  return {
    ...(name !== undefined && { name: nameOf(name) }),
    ...(mcpServer !== undefined && { mcpServer: nameOf(mcpServer) }),
    ...(notRun !== undefined && { notRun: nameOf(notRun) }),
    ...(skill !== undefined && { skill: { ...skill, name: nameOf(skill.name) } }),
  };
}

function nameOf(name: string): string {
  return PLAIN_NAME.test(name) ? name : line(name);
}

/** Whole, because a person decides on it. */
function scrubPlan(document: PlanDocument): PlanDocument {
  const { text, problem } = document;
  return {
    ...document,
    text: text && redact(stripControls(text)),
    ...(problem === undefined ? {} : { problem: line(problem) }),
  };
}

/** What goes back, ids and values, is as it came. */
function scrubbedQuestion(request: QuestionRequest): QuestionRequest {
  const fields = request.fields.map((field) => ({ ...described(field), choices: field.choices.map(described) }));
  return { ...request, message: block(request.message), fields };
}

function described<Part extends { readonly label: string; readonly description?: string }>(part: Part): Part {
  const { label, description } = part;
  return { ...part, label: line(label), ...(description !== undefined && { description: line(description) }) };
}

function line(text: string): string {
  return cleanLine(text, MAX_TITLE_CHARS);
}

function block(text: string): string {
  return cleanBlock(text, MAX_TEXT_CHARS);
}
