/** Proposed plans as remarks: each line once, though the text may grow bit by bit. Pure but for what was said before. */
import type { PlanDocument } from "../../acp/events.ts";
import { cleanLine, redact, stripControls } from "../../errors/redact.ts";
import type { Remark } from "./remarks.ts";

const MAX_PATH_CHARS = 500;
/** What is shown of a plan; the file, or the agent, has the rest. */
const MAX_LINES = 200;

interface Shown {
  readonly toolCallId: string;
  /** As far as it was said, a whole number of lines unless it was the end. */
  text: string;
  /** What came after that, and may still grow. */
  rest: string;
  lines: number;
}

export class PlanRemarks {
  #shown: Shown | undefined;

  /** What is new in it. */
  of(toolCallId: string, document: PlanDocument | null): readonly Remark[] {
    const before = this.#shown;
    if (document?.text == null) {
      const rest = this.flush();
      this.#shown = undefined;
      return [...rest, ...withoutText(document)];
    }
    const { text, path } = document;
    const isSame = before?.toolCallId === toolCallId;
    const grows = isSame && text.startsWith(before.text);
    const shown = grows ? before : { toolCallId, text: "", rest: "", lines: 0 };
    this.#shown = shown;
    const end = document.grows === true ? text.lastIndexOf("\n") + 1 : text.length;
    const fresh = text.slice(shown.text.length, Math.max(end, shown.text.length));
    shown.rest = text.slice(shown.text.length + fresh.length);
    shown.text += fresh;
    const heading = grows ? [] : [headingOf(isSame ? "The plan, changed" : "The plan", path)];
    return [...heading, ...say(shown, fresh)];
  }

  /** The last line, once nothing more of it may come. */
  flush(): readonly Remark[] {
    const shown = this.#shown;
    if (shown === undefined || shown.rest === "") return [];
    const { rest } = shown;
    shown.text += rest;
    shown.rest = "";
    return say(shown, rest);
  }
}

function headingOf(what: string, path: string | undefined): Remark {
  return { text: `${what}${path === undefined ? "" : ` (${cleanLine(path, MAX_PATH_CHARS)})`}:`, tone: "plain" };
}

function withoutText(document: PlanDocument | null): readonly Remark[] {
  if (document === null) return [{ text: "  · the plan is closed", tone: "dim" }];
  const { problem, path } = document;
  if (problem !== undefined) return [{ text: cleanLine(problem, 2 * MAX_PATH_CHARS), tone: "warning" }];
  return path === undefined ? [] : [{ text: `The plan is in ${cleanLine(path, MAX_PATH_CHARS)}`, tone: "plain" }];
}

function say(shown: Shown, portion: string): readonly Remark[] {
  if (portion === "") return [];
  const lines = redact(stripControls(portion)).trimEnd().split("\n");
  const left = Math.max(0, MAX_LINES - shown.lines);
  const isCut = shown.lines <= MAX_LINES && lines.length > left;
  shown.lines += lines.length;
  const said = [...lines.slice(0, left), ...(isCut ? ["…"] : [])];
  return said.length === 0 ? [] : [{ text: said.map((line) => `  ${line}`.trimEnd()).join("\n"), tone: "plain" }];
}
