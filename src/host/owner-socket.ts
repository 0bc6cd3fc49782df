/**
 * Where the sockets of owners are: `sockets/<system>/<pid>-<start time>.sock` in the state folder. A socket address holds
 * about 100 bytes, a state folder may be deeper: then Linux reaches it through an open folder, other systems through a
 * link to a folder of this user among the temporary ones.
 */
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { ensureStateFolder } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { currentOwnerName, ownerName, thisSystem } from "../acp/this-process.ts";
import type { OwnerIdentity } from "../acp/this-process.ts";

/** The shortest limit of the supported systems is 104 with the closing zero (macOS). */
const MAX_ADDRESS_BYTES = 100;
const LINKED_FOLDER = /ostler-socket-[0-9A-Za-z]{6}$/;

/** What `net` is given for a socket, valid until it is disposed. */
export interface SocketAddress extends Disposable {
  readonly path: string;
}

/** A socket of an owner on this system. */
export interface OwnerSocket {
  readonly pid: number;
  readonly path: string;
}

/** The socket of an owner. */
export function socketPathOf(paths: Paths, owner: OwnerIdentity): string {
  return join(paths.state, "sockets", owner.system, `${ownerName(owner)}.sock`);
}

/** The sockets of the living owners on this system. */
export function listOwners(paths: Paths): OwnerSocket[] {
  return socketsIn(paths)
    .filter(({ lives }) => lives)
    .map(({ pid, path }) => ({ pid, path }));
}

/** Removes the sockets that dead processes left. */
export function removeStaleSockets(paths: Paths): void {
  for (const { lives, path } of socketsIn(paths)) if (!lives) removeSocket(path);
}

/** An address to listen on; makes the folder. Throws the system's error. */
export function listenAddress(paths: Paths, path: string): SocketAddress {
  ensureStateFolder(paths);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (isShort(path) || process.platform === "linux") return connectAddress(path);
  const target = join(mkdtempSync(join(tmpdir(), "ostler-socket-")), "s");
  symlinkSync(target, path);
  return { path: target, [Symbol.dispose]: () => {} };
}

/** An address to connect to. Throws the system's error when the folder is not there. */
export function connectAddress(path: string): SocketAddress {
  if (isShort(path)) return { path, [Symbol.dispose]: () => {} };
  if (process.platform !== "linux") return { path: readlinkSync(path), [Symbol.dispose]: () => {} };
  const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${folder}/${basename(path)}`, [Symbol.dispose]: () => closeSync(folder) };
}

/** Removes a socket, and what its link points to. Does not throw. */
export function removeSocket(path: string): void {
  try {
    const folder = dirname(readlinkSync(path));
    if (LINKED_FOLDER.test(folder)) rmSync(folder, { recursive: true, force: true });
  } catch {
    // No link: the usual case.
  }
  try {
    rmSync(path, { force: true });
  } catch {
    // The next start meets it again.
  }
}

function isShort(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_ADDRESS_BYTES;
}

function socketsIn(paths: Paths): { pid: number; path: string; lives: boolean }[] {
  const folder = join(paths.state, "sockets", thisSystem());
  return listFolder(folder).flatMap((name) => {
    const pid = Number.parseInt(name, 10);
    if (!/^\d+-\w+\.sock$/.test(name)) return [];
    return [{ pid, path: join(folder, name), lives: name === `${currentOwnerName(pid)}.sock` }];
  });
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
