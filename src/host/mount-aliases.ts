/**
 * Other paths to the same folder: a file system that is mounted twice, in whole or in part, lets a program write at one
 * place what is read-only at the other (proc_pid_mountinfo(5)).
 */
import { readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { isWithin } from "./confinement-places.ts";

/** A part of a file system, and where it is mounted. */
export interface Mount {
  readonly device: string;
  readonly root: string;
  readonly point: string;
}

/** Where else a folder is, with everything that is mounted within it. Empty on systems that do not tell. */
export function otherPlacesOf(path: string): string[] {
  const mounts = readMounts();
  const within = mounts.map(({ point }) => point).filter((point) => point !== path && isWithin(point, path));
  return [path, ...within].flatMap((place) => aliasesOf(place, mounts).filter((alias) => isSame(alias, place)));
}

/** Where else a path would be by these mounts, if nothing lies above it there. */
export function aliasesOf(path: string, mounts: readonly Mount[]): string[] {
  const over = mounts.filter(({ point }) => isWithin(path, point));
  const home = over.toSorted((one, other) => one.point.length - other.point.length).at(-1);
  if (home === undefined) return [];
  const inside = join(home.root, relative(home.point, path));
  return mounts
    .filter(({ device, root }) => device === home.device && isWithin(inside, root))
    .map(({ root, point }) => join(point, relative(root, inside)))
    .filter((place) => place !== path);
}

function readMounts(): Mount[] {
  try {
    return parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
  } catch {
    return [];
  }
}

/** Lines of mountinfo: blanks and the like are written as octal numbers. */
export function parseMounts(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    const [, , device, root, point] = line.split(" ");
    if (device === undefined || root === undefined || point === undefined) return [];
    return [{ device, root: unescape(root), point: unescape(point) }];
  });
}

function unescape(path: string): string {
  return path.replaceAll(/\\(\d{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));
}

function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
