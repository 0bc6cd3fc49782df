/** Scenes that show changes to files as the AIR extension tells them. Nothing is written but a plan file in a folder of its own. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { structuredPatch } from "diff/lib/patch/create.js";
import type { ToolCallContent } from "@agentclientprotocol/sdk/unstable";
import { airMeta } from "../client-features.ts";
import type { DemoTurn, SceneEnd } from "../turn.ts";

const PLAN = "# Plan\n\n1. Read the greeting\n2. Say it in the evening\n";
/** A name that Git quotes: a space, and a letter that is not ASCII. */
const QUOTED = "old café.txt";

/** Four patches: a changed, a new, a renamed and a deleted file. A client without patches gets both texts. */
export async function patch(turn: DemoTurn): Promise<void> {
  const { cwd } = turn.options.session;
  const path = join(cwd, "greeting.txt");
  const id = await turn.startTool({ title: "Edit 4 files", kind: "edit", locations: [{ path }] });
  const changes = [
    { name: "greeting.txt", oldText: "Good morning\nand goodbye\n", newText: "Good evening\nand goodbye\n" },
    { name: "notes/new.txt", oldText: null, newText: "A new file\n" },
    { name: "café.txt", from: QUOTED, oldText: "a\n", newText: "b\n" },
    { name: "gone.txt", oldText: "No longer needed\n", newText: "" },
  ];
  const content = changes.map((change): ToolCallContent => {
    const at = join(cwd, change.name);
    if (!turn.options.features.air.has("diffPatch"))
      return { type: "diff", path: at, oldText: change.oldText, newText: change.newText };
    const meta = airMeta({ diffPatch: { version: 1, format: "git_patch", text: gitPatch(cwd, change) } });
    return { type: "diff", path: at, oldText: null, newText: "", _meta: meta };
  });
  await turn.updateTool(id, { status: "completed", content });
  for (const { name } of changes) turn.changed(join(cwd, name));
  await turn.stream("These four changes are only shown: nothing was written.");
}

/** A plan that asks whether to carry it out, in a file where the client reads one. */
export async function plan(turn: DemoTurn): Promise<SceneEnd> {
  const rawInput = turn.options.features.air.has("planFile") ? { planFilePath: writePlan() } : { plan: PLAN };
  const id = await turn.startTool({ title: "Approve Plan", kind: "switch_mode", rawInput });
  const answer = await turn.mayAct(id, "Approve Plan", "Ready to code?");
  if (answer === "cancelled") {
    await turn.updateTool(id, { status: "failed" });
    return "cancelled";
  }
  await turn.updateTool(id, { status: answer === "allowed" ? "completed" : "failed", title: "Exited Plan Mode" });
  await turn.stream(answer === "allowed" ? "You approved the plan." : "You said no, so the plan is only a plan.");
}

/** A report of changed files, where the client asks for one: `/report unavailable` has none. */
export async function report(turn: DemoTurn): Promise<void> {
  const isUnavailable = turn.options.argument === "unavailable";
  if (isUnavailable) turn.reportUnavailable("providerError");
  else for (const name of ["greeting.txt", "notes/new.txt"]) turn.changed(join(turn.options.session.cwd, name));
  await turn.stream(
    isUnavailable
      ? "I cannot say which files changed; a client that asked for the list gets the reason."
      : "I pretend that two files changed; a client that asked for the list gets both names.",
  );
}

function writePlan(): string {
  const folder = mkdtempSync(join(tmpdir(), "ostler-demo-plan-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "plan.md");
  writeFileSync(path, PLAN, { mode: 0o600 });
  return path;
}

interface Change {
  readonly name: string;
  readonly from?: string;
  readonly oldText: string | null;
  readonly newText: string;
}

/** As `git diff` writes it, with the absolute path without its first slash. */
function gitPatch(cwd: string, { name, from = name, oldText, newText }: Change): string {
  const old = quoted(`a${join(cwd, from)}`);
  const now = quoted(`b${join(cwd, name)}`);
  const isDeleted = newText === "";
  const { hunks } = structuredPatch("", "", oldText ?? "", newText, "", "");
  const head = [
    `diff --git ${old} ${now}`,
    ...(oldText === null ? ["new file mode 100644"] : []),
    ...(isDeleted ? ["deleted file mode 100644"] : []),
    ...(from === name
      ? []
      : ["similarity index 50%", `rename from ${old.replace("a/", "")}`, `rename to ${now.replace("b/", "")}`]),
    `--- ${oldText === null ? "/dev/null" : header(old)}`,
    `+++ ${isDeleted ? "/dev/null" : header(now)}`,
  ];
  const body = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
  return [...head, ...body, ""].join("\n");
}

/** Git ends a header with a tab where the name holds a space. */
function header(name: string): string {
  return name.includes(" ") ? `${name}\t` : name;
}

/** Git's default: a name with a byte outside of ASCII, a quote or a backslash is quoted, such bytes in octal. */
function quoted(name: string): string {
  const bytes = [...new TextEncoder().encode(name)];
  if (bytes.every((byte) => byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c)) return name;
  const escaped = bytes.map((byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
    return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `"${escaped.join("")}"`;
}
