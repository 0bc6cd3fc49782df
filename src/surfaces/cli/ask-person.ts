/**
 * A permission question on the terminal: what the call would do by its own frame, why it is asked, and the offered answers
 * in their order. One key answers it; where there are no keys, a line.
 */
import type { Readable } from "node:stream";
import type { PermissionOption, PermissionRequest } from "../../acp/types.ts";
import type { AskPerson } from "../../host/permissions.ts";
import { cleanBlock, cleanLine } from "../../errors/redact.ts";
import { renderDiffs } from "./diff-lines.ts";
import type { Io } from "./io.ts";
import { discardTyped, isKeyboard, readTypedLines } from "./person-input.ts";
import type { Keyboard, PersonQueue } from "./person-input.ts";
import type { Question, Terminal } from "./terminal.ts";

const MAX_LINE_CHARS = 500;
/** A command is shown whole where that is possible: its end may be what matters. */
const MAX_COMMAND_CHARS = 4000;
/** So is an answer, whose label says all that it does. */
const MAX_LABEL_CHARS = 4000;
const MAX_FACTS = 20;
/** Of what would change; a screen or two. */
const MAX_DIFF_LINES = 60;
/** More answers have no key each. */
const MAX_KEYS = 9;

export interface AskPersonOptions {
  /** Shared by everything that reads this terminal. */
  readonly queue: PersonQueue;
  /** Called when the person chose a no. */
  readonly onNo: () => void;
  /** What Ctrl-C does while keys are read. Default: a SIGINT to this process. */
  readonly interrupt?: () => void;
}

/**
 * Asks until a listed answer is given. Resolves with its option id, null for no (Enter or Esc), or undefined when nobody
 * answered: the input ended, or a signal says that the question is over. Where the agent warns of stray keys
 * (`defaultToNo`), a yes is a number and Enter.
 */
export function createAskPerson(
  { stdin }: Pick<Io, "stdin">,
  terminal: Terminal,
  { queue, onNo, interrupt = () => process.kill(process.pid, "SIGINT") }: AskPersonOptions,
): AskPerson {
  return (asked, signal, reason) =>
    queue.next(async () => {
      const input = stdin.open();
      // An input that has ended would be waited for until the question expires.
      if (signal.aborted || input.readableEnded) return undefined;
      const request = { ...asked, options: asked.options.filter(isShownWhole) };
      const keys = readKeyboard(input, request);
      using question = terminal.ask(renderQuestion(request, { reason, byKey: keys !== undefined }));
      if (request.options.length < asked.options.length)
        question.add("An answer that is too long to be shown is not offered.");
      const answer = await (keys === undefined
        ? answerByLine(input, request, signal, question)
        : answerByKey(keys, request, signal, { question, interrupt }));
      if (answer !== undefined && isNo(answer, request)) onNo();
      if (signal.aborted) question.add("The question is closed.");
      return answer;
    });
}

/** What a choice does is in its label: half of it is not offered (seed document 002, Durable SDK suggestions). */
function isShownWhole({ name }: PermissionOption): boolean {
  return name.length <= MAX_LABEL_CHARS;
}

function readKeyboard(input: Readable, { options, defaultToNo }: PermissionRequest): Keyboard | undefined {
  return isKeyboard(input) && options.length <= MAX_KEYS && defaultToNo !== true ? input : undefined;
}

async function answerByLine(
  input: Readable,
  request: PermissionRequest,
  signal: AbortSignal,
  question: Question,
): Promise<string | null | undefined> {
  await using lines = await readTypedLines(input, signal);
  for (;;) {
    const line = await lines.next();
    const answer = line === undefined ? undefined : readAnswer(line, request);
    if (line === undefined || answer !== undefined) return answer;
    question.add(`Type a number from 1 to ${request.options.length}, or nothing for no.`);
  }
}

/** Raw mode takes Ctrl-C away from the terminal's driver, so it is made a signal again here. */
async function answerByKey(
  keyboard: Keyboard,
  request: PermissionRequest,
  signal: AbortSignal,
  { question, interrupt }: { readonly question: Question; readonly interrupt: () => void },
): Promise<string | null | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | null | undefined>();
  const nobody = () => resolve(undefined);
  const onData = (data: Buffer | string) => {
    const key = data.toString();
    if (key.includes("\u0003")) interrupt();
    else if (key === "\u0004") nobody();
    else {
      const answer = key === "\u001b" ? null : readAnswer(key, request);
      if (answer !== undefined) resolve(answer);
      // An arrow and the like is no try at an answer.
      else if (!key.startsWith("\u001b"))
        question.add(`Press a key from 1 to ${request.options.length}, or Enter for no.`);
    }
  };
  signal.addEventListener("abort", nobody, { once: true });
  keyboard.once("end", nobody).once("error", nobody);
  try {
    keyboard.setRawMode(true);
    await discardTyped(keyboard);
    keyboard.on("data", onData).resume();
    return await promise;
  } finally {
    keyboard.setRawMode(false);
    signal.removeEventListener("abort", nobody);
    keyboard.off("data", onData).off("end", nobody).off("error", nobody).pause();
  }
}

/** The question with its numbered answers. The words may be the model's own, so they are cleaned. */
export function renderQuestion(
  request: PermissionRequest,
  { reason, byKey }: { readonly reason: string; readonly byKey: boolean },
): string {
  const { title, description, kind, paths, rawInput, mcpServer, claimed, options } = request;
  const { rawInput: otherInput, paths: otherPaths = [], kind: otherKind, diffs: otherDiffs = [] } = claimed ?? {};
  const others = [...(otherKind === undefined ? [] : [`kind: ${otherKind}`]), ...otherPaths, ...factsOf(otherInput)];
  const facts = [
    ...(description === undefined || description === "" ? [] : [description]),
    `What it would do: ${kind ?? "not announced"}${mcpServer === undefined ? "" : `, MCP server ${mcpServer || "unknown"}`}`,
    ...paths,
    ...factsOf(rawInput),
    ...(request.texts ?? []).slice(0, MAX_FACTS).map((text) => cleanLine(text, MAX_LINE_CHARS)),
    ...others.map((fact) => `The question says otherwise: ${fact}`),
    ...(reason === "" ? [] : [`Why you are asked: ${reason}`]),
  ].map((fact) => `  ${cleanLine(fact, MAX_COMMAND_CHARS)}`);
  const answers = options.map(({ name }, index) => `  ${index + 1}) ${cleanLine(name, MAX_LABEL_CHARS)}`);
  const changes = [
    ...renderDiffs(request.diffs ?? [], MAX_DIFF_LINES),
    ...(otherDiffs.length === 0 ? [] : ["The question says otherwise:", ...renderDiffs(otherDiffs, MAX_DIFF_LINES)]),
  ].map((line) => `  ${line}`);
  return [
    `The agent asks: ${cleanLine(title, MAX_LINE_CHARS)}`,
    ...facts,
    ...changes,
    ...answers,
    howToAnswer(request, byKey),
  ].join("\n");
}

function howToAnswer({ defaultToNo }: PermissionRequest, byKey: boolean): string {
  if (defaultToNo === true) return "Type a number and Enter; Enter alone means no.";
  return byKey ? "Press a number; Enter means no." : "Answer with a number; nothing means no.";
}

/** The input as the tool gets it, a line for each of its parts; of what is written only the beginning. */
function factsOf(rawInput: unknown): string[] {
  if (rawInput === undefined || rawInput === null) return [];
  if (typeof rawInput !== "object" || Array.isArray(rawInput)) return [cut("input", rawInput)];
  const facts = Object.entries(rawInput).map(([name, value]) => cut(name, value));
  const more = facts.length - MAX_FACTS;
  return more > 0 ? [...facts.slice(0, MAX_FACTS), `and ${more} more`] : facts;
}

function cut(name: string, value: unknown): string {
  const isCommand = /^(?:command|cmd|script|args)$/i.test(name);
  const text = typeof value === "string" ? value : isCommand && Array.isArray(value) ? value.join(" ") : json(value);
  return `${name}: ${isCommand ? wholeCommand(text) : cleanLine(text, MAX_LINE_CHARS)}`;
}

/** One that is too long to be shown whole is shown by both its ends. */
function wholeCommand(text: string): string {
  if (text.length <= MAX_COMMAND_CHARS / 2) return text;
  const end = cleanBlock(text, MAX_COMMAND_CHARS / 4, "end");
  return `${cleanLine(text, MAX_COMMAND_CHARS / 2)} (${text.length} characters in all, which end with:) ${end}`;
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(nested too deep to be shown)";
  }
}

/** The option id, null for no, undefined for what is no answer. */
export function readAnswer(line: string, { options }: PermissionRequest): string | null | undefined {
  const typed = line.trim();
  if (typed === "") return null;
  return /^\d+$/.test(typed) ? options[Number(typed) - 1]?.optionId : undefined;
}

function isNo(answer: string | null, { options }: PermissionRequest): boolean {
  return options.find(({ optionId }) => optionId === answer)?.kind.startsWith("reject") ?? true;
}
