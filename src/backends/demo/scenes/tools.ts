/** Scenes with tool calls. Only `/write` touches anything, and only after a yes and inside the folder of the session. */
import { constants } from "node:fs";
import { open, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { ToolCallContent } from "@agentclientprotocol/sdk/unstable";
import { airMeta } from "../client-features.ts";
import type { DemoTurn, SceneEnd } from "../turn.ts";

const TOOL_STEP_MS = 100;

/** A command that ends well, with its output and exit code. The output is pretended: no shell runs. */
export async function tool(turn: DemoTurn): Promise<void> {
  const title = "echo hello from the demo agent";
  const id = await turn.startTool({ title, kind: "execute", rawInput: { command: title } });
  await turn.updateTool(id, { status: "in_progress" });
  await turn.pause(TOOL_STEP_MS);
  await turn.updateTool(id, completedWith("hello from the demo agent\n"));
  await turn.stream("The command printed one line and ended with exit code 0.");
}

/** A skill that is loaded. */
export async function skill(turn: DemoTurn): Promise<void> {
  const { features, session } = turn.options;
  const path = join(session.cwd, "skills", "greeting", "SKILL.md");
  const mark = features.isAir && { _meta: airMeta({ skill: { name: "greeting", path } }) };
  const id = await turn.startTool({ title: "Load skill: greeting", kind: "other", ...mark });
  await turn.updateTool(id, { status: "completed" });
  await turn.stream("I pretend that I know how to greet now.");
}

/** A tool that needs a yes. */
export async function askPermission(turn: DemoTurn): Promise<SceneEnd> {
  const title = "rm -rf build (pretended)";
  const id = await turn.startTool({ title, kind: "execute", rawInput: { command: "rm -rf build" } });
  const answer = await turn.mayAct(id, title);
  if (answer !== "allowed") return stopTool(turn, id, answer);
  await turn.updateTool(id, { status: "in_progress" });
  await turn.updateTool(id, completedWith("removed nothing: the demo agent only pretends\n"));
  await turn.stream("You allowed it, so the tool ran. It only pretended to remove something.");
}

/** `/write FILE [TEXT]`: writes inside the folder of the session, after a yes. */
export async function write(turn: DemoTurn): Promise<SceneEnd> {
  const [name = "", ...words] = turn.options.argument.split(/\s+/);
  if (name === "") {
    await turn.stream("Say which file: /write FILE [TEXT]");
    return;
  }
  const path = resolve(turn.options.session.cwd, name);
  const newText = `${words.join(" ") || "Written by the demo agent."}\n`;
  const title = `Write ${name}`;
  const id = await turn.startTool({ title, kind: "edit", locations: [{ path }], rawInput: { path, content: newText } });
  const target = await targetInside(turn.options.session.cwd, path);
  if (typeof target !== "string") return failTool(turn, id, `I did not write ${name}: ${target.problem}.`);
  const answer = await turn.mayAct(id, title);
  if (answer !== "allowed") return stopTool(turn, id, answer);
  await turn.updateTool(id, { status: "in_progress" });
  const oldText = await readFile(target, "utf8").catch(() => null);
  try {
    await writeWithoutFollowing(target, newText);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return failTool(turn, id, `I was allowed to write ${name}, but it could not be written (${reason}).`);
  }
  await turn.updateTool(id, { status: "completed", content: [{ type: "diff", path, oldText, newText }] });
  turn.changed(path);
  await turn.stream(`You allowed it, so I wrote ${name}.`);
}

/** Two changes to look at; nothing is written. */
export async function diff(turn: DemoTurn): Promise<void> {
  const path = join(turn.options.session.cwd, "greeting.txt");
  const created = join(turn.options.session.cwd, "notes", "new.txt");
  const id = await turn.startTool({ title: "Edit greeting.txt", kind: "edit", locations: [{ path }] });
  await turn.updateTool(id, {
    status: "completed",
    content: [
      { type: "diff", path, oldText: "Good morning\nand goodbye\n", newText: "Good evening\nand goodbye\n" },
      { type: "diff", path: created, oldText: null, newText: "A new file\n" },
    ],
  });
  await turn.stream("These two changes are only shown: nothing was written.");
}

async function stopTool(turn: DemoTurn, id: string, answer: "rejected" | "cancelled"): Promise<SceneEnd> {
  if (answer === "rejected") return failTool(turn, id, "You said no, so the tool did not run and nothing was changed.");
  await turn.updateTool(id, { status: "failed", content: [output("The question was withdrawn")] });
  return "cancelled";
}

async function failTool(turn: DemoTurn, id: string, sentence: string): Promise<void> {
  await turn.updateTool(id, { status: "failed", content: [output(sentence)] });
  await turn.stream(sentence);
}

function completedWith(text: string) {
  return { status: "completed" as const, content: [output(text)], rawOutput: { exit_code: 0, output: text } };
}

function output(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** The real path to write to, symbolic links of its folder followed, or why it is not written. */
async function targetInside(cwd: string, path: string): Promise<string | { readonly problem: string }> {
  const folder = await realpath(dirname(path)).catch(() => undefined);
  if (folder === undefined) return { problem: "its folder does not exist" };
  const way = relative(await realpath(cwd), folder);
  if (way === ".." || way.startsWith(`..${sep}`)) return { problem: "it is outside of the folder of this session" };
  return join(folder, basename(path));
}

/** A symbolic link in place of the file could lead out of the folder, so it is refused. */
async function writeWithoutFollowing(path: string, text: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  await using file = await open(path, flags);
  await file.writeFile(text);
}
