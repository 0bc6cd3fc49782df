/** Where a path lies, by what it is on disk: inside the workspace or not. Every doubt counts as outside. */
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { accountHome } from "./paths.ts";

/** Paths of one call that are looked at on disk. Whoever names more is not believed about any. */
export const MAX_PATHS = 1000;
/** No system takes a longer one, and a glob takes ever longer to tell whether it fits. */
const MAX_PATH_CHARS = 4096;

/** Where a path lies: below one of the folders (relative to it), or outside of all (absolute). */
export interface Place {
  readonly isInside: boolean;
  readonly path: string;
}

/** A path with every symbolic link followed (undefined when that cannot be told), and as it was written. */
export interface PlacedPath {
  readonly real: Place | undefined;
  readonly written: Place;
}

/** Finds out where a path lies. A relative one is meant from the first of the folders. */
export async function placePath(path: string, folders: readonly string[]): Promise<PlacedPath> {
  const readings = readAbsolute(path, folders[0] ?? sep);
  const targets = new Set(await Promise.all(readings.map(resolveLinks)));
  const [target] = targets.size === 1 ? targets : [];
  const found = await Promise.all(folders.map((folder) => resolveLinks(resolve(folder))));
  const roots = found.filter((root) => root !== undefined);
  const lexical = folders.map((folder) => resolve(folder));
  return {
    real: target === undefined ? undefined : placeIn(roots, target),
    written: placeIn([...lexical, ...roots], readings[0] ?? sep),
  };
}

/** Whether the path, with every symbolic link followed, lies in one of the folders. Relative to the first of them. */
export async function isInside(path: string, folders: readonly string[]): Promise<boolean> {
  return (await placePath(path, folders)).real?.isInside ?? false;
}

function placeIn(roots: readonly string[], path: string): Place {
  const root = roots.find((candidate) => contains(candidate, path));
  return root === undefined ? { isInside: false, path } : { isInside: true, path: relative(root, path) };
}

/** A shell or a tool makes something else of it: blanks at the ends, line breaks, `~user`, `$HOME`. */
// oxlint-disable-next-line no-control-regex -- line breaks are what is looked for
const MEANS_MORE = /^\s|\s$|[\u0000-\u001F]|^~[^/]|^\$\{?\w+\}?(?:\/|$)/;
/** Another scheme is no file, and no path of ours. */
const OTHER_SCHEME = /^(?!file:)[a-z][a-z0-9+.-]*:\/\//i;
/** These are something else to every process. */
const OF_THE_PROCESS = /^\/(?:proc|dev)(?:\/|$)/;
const CLIMBS = /(?:^|[\\/])(?:\.|%2e){2}(?:[\\/]|$)/i;

/**
 * The path as absolute paths: two for a `..`, which climbs as the text says or from where a link leads; none when it
 * cannot be told what a program makes of it.
 */
function readAbsolute(path: string, folder: string): string[] {
  if (path.length > MAX_PATH_CHARS || MEANS_MORE.test(path) || OTHER_SCHEME.test(path)) return [];
  if (path.startsWith("file:")) return CLIMBS.test(path) ? [] : fileUrlPath(path);
  const literal = path === "~" || path.startsWith("~/") ? accountHome() + path.slice(1) : path;
  const whole = isAbsolute(literal) ? literal : `${resolve(folder)}/${literal}`;
  if (OF_THE_PROCESS.test(resolve(whole))) return [];
  return CLIMBS.test(literal) ? [resolve(whole), whole] : [resolve(whole)];
}

function fileUrlPath(url: string): string[] {
  try {
    return [fileURLToPath(url)];
  } catch {
    return [];
  }
}

/** What the path is on disk; the part that does not exist yet is kept. Undefined when it cannot be told. */
async function resolveLinks(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    // A link to nowhere may lead anywhere by the time it is read; what exists but cannot be resolved is as unknown.
    const exists = await lstat(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
    );
    if (exists || dirname(path) === path || basename(path) === "..") return undefined;
    const parent = await resolveLinks(dirname(path));
    return parent === undefined ? undefined : join(parent, basename(path));
  }
}

function contains(root: string, target: string): boolean {
  const way = relative(root, target);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
