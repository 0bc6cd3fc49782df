/** A transcript as lines that can be read and written down: one an entry, what is inside another one indented. */
import type { FileDiff } from "../../../src/acp/events.ts";
import type { Transcript, TranscriptEntry } from "../../../src/acp/transcript/transcript.ts";

/** Everything that a person would see, without places and sizes. */
export function linesOf({ entries, earlier }: Transcript, indent = ""): string[] {
  const lines = [...entries].flatMap((entry) => describe(entry).map((line) => indent + line));
  return earlier === 0 ? lines : [`${indent}${earlier} earlier`, ...lines];
}

function describe(entry: TranscriptEntry): string[] {
  const marks = `${entry.late === true ? " late" : ""}${entry.replayed === true ? " replayed" : ""}`;
  const [first = "", ...more] = content(entry);
  return [first + marks, ...more];
}

function content(entry: TranscriptEntry): string[] {
  switch (entry.type) {
    case "user":
    case "message":
    case "thought": {
      const cut = entry.cutChars === 0 ? "" : `(${entry.cutChars} cut) `;
      return [`${entry.superseded === true ? "superseded " : ""}${entry.type}: ${cut}${line(entry.text)}`];
    }
    case "tool":
      return describeTool(entry);
    case "plan":
      return [`plan: ${entry.entries.map(({ status, content: what }) => `${status} ${what}`).join("; ")}`];
    case "plan_document":
      return [`plan ${entry.toolCallId}: ${planText(entry.document)}`];
    case "permission":
      return [`permission ${line(entry.request.title)}: ${permission(entry.answer)}`];
    case "question":
      return [`question ${line(entry.request.message)}: ${JSON.stringify(entry.answer)}`];
    case "failure": {
      const { severity, kind, revision, title } = entry.failure;
      return [`${severity} ${kind} r${revision}: ${line(title)}`];
    }
    case "retry":
      return [`retry by ${entry.by} ${entry.attempt}/${entry.of ?? "?"}: ${line(entry.reason)}`];
    case "notice":
      return [`notice from ${entry.from}: ${line(entry.text)}`];
    case "task":
      return [`task ${entry.task.name} ${entry.task.state}`];
    case "compaction": {
      const { state, trigger, preTokens, postTokens, error } = entry.compaction;
      const size = preTokens === undefined ? "" : ` ${preTokens} to ${postTokens}`;
      return [
        `compaction ${state}${trigger === undefined ? "" : ` ${trigger}`}${size}${error === undefined ? "" : `: ${line(error)}`}`,
      ];
    }
    case "changes":
      return [`changes: ${JSON.stringify(entry.report)}`];
    case "subagent":
      return [`subagent ${entry.name ?? entry.subagentId} ${entry.state}`, ...linesOf(entry.work, "  ")];
    case "end": {
      const { kind, by, failureId } = entry.outcome;
      return [`end: ${kind}${by === undefined ? "" : ` by ${by}`}${failureId === undefined ? "" : ", failed"}`];
    }
  }
}

function describeTool(tool: TranscriptEntry & { readonly type: "tool" }): string[] {
  const marks = [
    tool.name !== undefined && `name ${tool.name}`,
    tool.exitCode !== undefined && `exit ${tool.exitCode}`,
    tool.commandTitle !== undefined && `for "${tool.commandTitle}"`,
    tool.isSubagent === true && "subagent",
    tool.isBackgrounded === true && "backgrounded",
    tool.notRun !== undefined && `not run (${tool.notRun})`,
    tool.subagent !== undefined && `its subagent ${tool.subagent.state}`,
    tool.paths.length > 0 && `at ${tool.paths.join(" ")}`,
  ].filter(Boolean);
  const input = JSON.stringify(tool.rawInput);
  return [
    [`tool ${tool.kind} ${line(tool.title)} ${tool.status}`, ...marks].join(", "),
    ...(input === undefined ? [] : [`  in: ${line(input)}`]),
    ...tool.changes.map((diff) => `  ${change(diff)}`),
    ...(tool.content ?? []).flatMap((block) =>
      block.type === "diff" ? [] : [`  shows ${block.type}: ${line(block.type === "text" ? block.text : block.media)}`],
    ),
    ...(tool.terminal === undefined ? [] : [`  prints: ${line(tool.terminal.text)}`]),
    ...(tool.work === undefined ? [] : linesOf(tool.work, "  ")),
  ];
}

function change({ path, change: { form, ...how } }: FileDiff): string {
  return `changes ${path} ${form}: ${line(JSON.stringify(how))}`;
}

function planText(document: { readonly text: string | null; readonly path?: string } | null): string {
  return document === null ? "taken back" : `${document.path ?? "no file"} ${line(document.text ?? "not read")}`;
}

function permission(answer: { readonly action: string; readonly optionId?: string } | null): string {
  return answer === null ? "open" : (answer.optionId ?? answer.action);
}

/** Short enough to be read, long enough to tell two apart. */
function line(text: string): string {
  const flat = text.replaceAll("\n", "⏎").replaceAll("\u001b", "␛");
  return flat.length <= 110 ? flat : `${flat.slice(0, 105)}… ${flat.length}`;
}
