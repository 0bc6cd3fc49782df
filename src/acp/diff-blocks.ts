/**
 * The diff blocks of a tool call's content: what each says of its file, and every path that is evidence for a permission
 * question (the codex adapter's only place for paths, "Editing files"). Pure.
 */
import { readDiffPatch } from "./air/diff-patch.ts";
import type { FileChange, FileDiff } from "./events.ts";
import { isObject } from "./frames.ts";
import { str } from "./normalize.ts";

/** Stands for a path that a frame holds and nobody can read: no rule allows it. */
const UNREADABLE_PATH = "a path that cannot be read\0";
/** More than the policy looks at on disk: whoever names more is not believed about any, so the rest is not read. */
const MAX_PATHS = 1001;

export interface DiffBlocks {
  /** One a file: several blocks of one are its fragments (recording codex-acp 2.6.0, plain client: one block a hunk). */
  readonly diffs: readonly FileDiff[];
  /** The paths of the diffs, those that a patch names and those beside it. A diff that names none counts as unreadable. */
  readonly paths: ReadonlySet<string>;
}

const NONE: DiffBlocks = { diffs: [], paths: new Set() };

/** Reads the `content` of a tool call. */
export function readDiffBlocks(content: unknown): DiffBlocks {
  if (!Array.isArray(content)) return NONE;
  const changes = new Map<string, FileChange>();
  const paths = new Set<string>();
  for (const block of content) {
    if (paths.size >= MAX_PATHS) break;
    if (!isObject(block) || block["type"] !== "diff") continue;
    const path = str(block["path"]);
    const patch = readDiffPatch(block, path ?? "");
    for (const named of pathsOf(block, path, patch)) paths.add(named);
    if (path === undefined) continue;
    const change = patch?.change ?? readTexts(block);
    changes.set(path, joined(changes.get(path), change));
  }
  return { diffs: [...changes].map(([path, change]) => ({ path, change })), paths };
}

/**
 * What a permission question says of the files besides what the frames of its call said. A patch, and a file that no frame
 * named, is news of the adapter (recording claude-agent-acp 0.101.0 edit-diff: the exact preview of a snippet); other texts
 * for the same file may be the model's words, so they stand beside (`others`).
 */
export function compareDiffs(
  told: readonly FileDiff[],
  asked: readonly FileDiff[],
): { readonly diffs: readonly FileDiff[]; readonly others: readonly FileDiff[] } {
  const diffs = new Map(told.map(({ path, change }) => [path, change]));
  const others: FileDiff[] = [];
  for (const { path, change } of asked) {
    const known = diffs.get(path);
    if (known === undefined || change.form === "patch") diffs.set(path, change);
    else if (!isSameChange(known, change)) others.push({ path, change });
  }
  return { diffs: [...diffs].map(([path, change]) => ({ path, change })), others };
}

/** Which of `diffs` say something else of their file than `told` does. */
export function newsOf(told: readonly FileDiff[], diffs: readonly FileDiff[]): readonly FileDiff[] {
  const known = new Map(told.map(({ path, change }) => [path, change]));
  return diffs.filter(({ path, change }) => {
    const before = known.get(path);
    return before === undefined || !isSameChange(before, change);
  });
}

function isSameChange(one: FileChange, other: FileChange): boolean {
  if (one.form === "patch" && other.form === "patch") return one.patch === other.patch;
  if (one.form !== "texts" || other.form !== "texts") return one.form === other.form;
  return one.oldText === other.oldText && one.newText === other.newText;
}

function readTexts(block: { readonly [key: string]: unknown }): FileChange {
  const newText = str(block["newText"]);
  if (newText === undefined) return { form: "unavailable", why: "The agent did not say what changes in the file" };
  return { form: "texts", oldText: str(block["oldText"]) ?? null, newText };
}

function joined(before: FileChange | undefined, change: FileChange): FileChange {
  if (before?.form !== "texts" || change.form !== "texts" || before.oldText === null || change.oldText === null)
    return change;
  return { form: "texts", oldText: before.oldText + change.oldText, newText: before.newText + change.newText };
}

function pathsOf(
  block: { readonly [key: string]: unknown },
  path: string | undefined,
  patch: ReturnType<typeof readDiffPatch>,
): string[] {
  if (path === undefined) return [UNREADABLE_PATH];
  const { _meta: meta } = block;
  const moved = isObject(meta) ? Object.entries(meta).filter(([key]) => /path|move|rename|target|dest/i.test(key)) : [];
  return [
    path,
    ...(patch === undefined ? [] : (patch.names ?? [UNREADABLE_PATH])),
    ...headerPaths(block, path),
    ...moved.flatMap(([, value]) => str(value) ?? (value == null ? [] : UNREADABLE_PATH)),
  ];
}

/**
 * What looks like a header of a patch, in one that cannot be parsed too. Only the headers: a line of the text itself
 * begins with one sign before it. Without git's `a/` and `b/`.
 */
function headerPaths(block: unknown, path: string): string[] {
  const patch = str(at(at(at(at(at(block, "_meta"), "jetbrains"), "air"), "diffPatch"), "text")) ?? "";
  const root = path.startsWith("/") ? "/" : "";
  const head = /^(?:--- a|\+\+\+ b)\/(.+)|^(?:rename|copy) (?:from|to) (.+)/;
  const lines = patch.split("\n");
  return lines.flatMap((line, index) => {
    const [, name, other] = head.exec(line) ?? [];
    // A removed line that begins with `-- a/` looks like a header, and is not followed or preceded by its other half.
    if (name !== undefined && !/^(?:---|\+\+\+) /.test(lines[index + (line.startsWith("-") ? 1 : -1)] ?? "")) return [];
    const found = name ?? other;
    return found === undefined ? [] : root + found;
  });
}

function at(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}
