/**
 * The Git patch of a diff block (seed document 002, "Diff patch"): the change of one file, with the counts of its lines.
 * A block that carries one has no usable texts, so whatever cannot be read is a change that cannot be shown. Pure.
 */
import { parsePatch } from "diff/lib/patch/parse.js";
import type { FileChange } from "../events.ts";
import { isObject } from "../frames.ts";
import { AIR_VERSION } from "./namespace.ts";

/** The adapters send at most 1 MiB of file, which is at most twice as much patch. */
const MAX_PATCH_CHARS = 4 * 1024 * 1024;
const NO_FILE = "/dev/null";

/** What a diff block says with a patch, and every path that the patch names. */
export interface DiffPatch {
  readonly change: FileChange;
  /** In the form of the block's own path; undefined = the patch cannot be read, so nobody knows what it names. */
  readonly names: readonly string[] | undefined;
}

/** Reads the patch of a diff block of `path`; undefined when the block carries none, whatever its version. */
export function readDiffPatch(block: unknown, path: string): DiffPatch | undefined {
  const air = at(at(at(block, "_meta"), "jetbrains"), "air");
  const payload = at(air, "diffPatch");
  if (payload === undefined || payload === null) return undefined;
  const text = at(payload, "text");
  const patch = typeof text === "string" ? parse(text) : undefined;
  const change = isVersioned(air, payload) && patch !== undefined ? changeOf(patch, path) : unreadable();
  return { change, names: patch && namesOf(patch).map((name) => asPathLike(path, name)) };
}

interface Patch {
  readonly text: string;
  readonly kind: "added" | "modified" | "deleted" | "renamed";
  /** As in Git's headers, without `a/` and `b/`; undefined = there is no such file. */
  readonly oldName: string | undefined;
  readonly newName: string | undefined;
  readonly addedLines: number;
  readonly removedLines: number;
}

/** An update leaves out a version that did not change. */
function isVersioned(air: unknown, payload: unknown): boolean {
  const outer = at(air, "version");
  const isOurs = outer === undefined || outer === AIR_VERSION;
  return isOurs && at(payload, "version") === 1 && at(payload, "format") === "git_patch";
}

/** Exactly one file, and nothing that the parser steps over: a line that is not counted is a line that is not shown. */
function parse(text: string): Patch | undefined {
  if (text.length > MAX_PATCH_CHARS) return undefined;
  const [file, ...others] = filesOf(text);
  if (file === undefined || others.length > 0 || file.isGit !== true || file.isCopy || file.isBinary) return undefined;
  const { hunks, isRename = false, isCreate = false, isDelete = false, oldFileName, newFileName } = file;
  if (oldFileName === undefined || newFileName === undefined) return undefined;
  if (hunks.length === 0 && !isRename && !isCreate && !isDelete) return undefined;
  if (!hunks.every(({ oldStart, newStart }) => Number.isInteger(oldStart) && Number.isInteger(newStart)))
    return undefined;
  const lines = hunks.flatMap((hunk) => hunk.lines);
  if (hunks.length > 0 && lines.length + hunks.length !== bodyLines(text)) return undefined;
  const oldName = isCreate || oldFileName === NO_FILE ? undefined : withoutPrefix(oldFileName, "a/");
  const newName = isDelete || newFileName === NO_FILE ? undefined : withoutPrefix(newFileName, "b/");
  if (oldName === null || newName === null || (oldName === undefined && newName === undefined)) return undefined;
  const kind =
    oldName === undefined ? "added" : newName === undefined ? "deleted" : oldName === newName ? "modified" : "renamed";
  if ((kind === "renamed") !== isRename) return undefined;
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return { text, kind, oldName, newName, addedLines: count("+"), removedLines: count("-") };
}

function filesOf(text: string): ReturnType<typeof parsePatch> {
  try {
    return parsePatch(text);
  } catch {
    return [];
  }
}

/** How many lines there are from the first hunk on. */
function bodyLines(text: string): number {
  const body = text.slice(text.search(/^@@ /m));
  return body.split("\n").length - (body.endsWith("\n") ? 1 : 0);
}

/** null = a name without its prefix, which Git does not write. */
function withoutPrefix(name: string, prefix: string): string | null {
  return name.startsWith(prefix) ? name.slice(prefix.length) : null;
}

function changeOf(patch: Patch, path: string): FileChange {
  const { text, kind, oldName, newName, addedLines, removedLines } = patch;
  if (!isSameFile(newName ?? oldName ?? "", path))
    return { form: "unavailable", why: "The agent sent a patch of another file" };
  const from = kind === "renamed" && oldName !== undefined ? { fromPath: asPathLike(path, oldName) } : {};
  return { form: "patch", patch: text, kind, ...from, addedLines, removedLines };
}

function unreadable(): FileChange {
  return { form: "unavailable", why: "The agent sent a patch that cannot be read" };
}

function namesOf({ oldName, newName }: Patch): string[] {
  return [oldName, newName].filter((name) => name !== undefined);
}

/** Headers hold the path without its leading slashes, a Windows one with forward slashes; the parser trims them. */
function isSameFile(name: string, path: string): boolean {
  const slashed = /^(?:[A-Za-z]:\\|\\\\)/.test(path) ? path.replaceAll("\\", "/") : path;
  return slashed.replace(/^\/+/, "").trimEnd() === name;
}

function asPathLike(path: string, name: string): string {
  return path.startsWith("/") ? `/${name}` : name;
}

function at(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
