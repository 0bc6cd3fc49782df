/**
 * What a confined program must not change, and how it could get around that: a folder that is read-only is no
 * protection while a folder above it can be renamed, or while a link on the way to it can be replaced.
 */
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { systemCode } from "../errors/system-code.ts";
import { ensureStateFolder } from "./paths.ts";
import type { Paths } from "./paths.ts";

/** As many links as the kernel follows on one way. */
const MAX_LINKS = 40;

/** The way to a file or folder that exists, every link followed. */
export interface Way {
  /** Where it ends. */
  readonly real: string;
  /** The folders that hold the links that were followed. */
  readonly linkFolders: readonly string[];
}

/** Follows an absolute path. Throws the system's error when something of it is missing. */
export function readWay(path: string): Way {
  const linkFolders: string[] = [];
  const names = path.split(sep);
  let real = "";
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === "" || name === ".") continue;
    if (name === "..") real = dirname(real);
    else {
      const next = join(sep, real, name);
      if (lstatSync(next).isSymbolicLink()) {
        if (linkFolders.push(real || sep) > MAX_LINKS) throw new Error(`Too many links on the way to ${path}`);
        const target = readlinkSync(next);
        if (isAbsolute(target)) real = "";
        names.unshift(...target.split(sep));
      } else real = next;
    }
  }
  return { real: real || sep, linkFolders };
}

/** Whether this user may make, remove and rename things in a folder, or could allow it to themselves. */
export function canChange(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    return systemCode(error) === "EACCES" && statSync(folder).uid === process.getuid?.();
  }
}

/** The folders above a path, outermost first, without the root. */
export function foldersAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === path || parent === sep ? [] : [...foldersAbove(parent), parent];
}

/** Whether a path is a folder or lies in it; both without links. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === sep || path.startsWith(folder + sep);
}

/**
 * Ostler's state, configuration and data, the state folder first. Makes the folders that are missing: what is not there
 * cannot be protected. Parts of them are often links to elsewhere (a larger disk, a folder of dotfiles).
 */
export function ownPlaces(paths: Paths): readonly string[] {
  ensureStateFolder(paths);
  const folders = [paths.state, dirname(paths.configFile), paths.data];
  for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const parts = [...readdirSync(paths.state).map((name) => join(paths.state, name)), paths.configFile, paths.adapters];
  return [...folders, ...parts.filter((part) => existsSync(part))];
}

/** Where the program files of this very Ostler are, and the folder somebody would work in to change them. */
export interface Installation {
  readonly files: string;
  readonly folder: string;
}

/** An installed Ostler has its libraries beside it, so the whole `node_modules` counts; a checkout is one folder. */
export function ownInstallation(file: string = fileURLToPath(import.meta.url)): Installation {
  const [before, ...after] = file.split(`${sep}node_modules${sep}`);
  if (before !== undefined && after.length > 0) return { files: join(before, "node_modules"), folder: before };
  const folder = foldersAbove(file).findLast((above) => existsSync(join(above, "package.json"))) ?? dirname(file);
  return { files: folder, folder };
}

/** Where other programs of this user listen that would run commands for whoever asks: they stand outside. */
export function commandTakers(env: NodeJS.ProcessEnv): { readonly folders: string[]; readonly sockets: string[] } {
  const uid = process.getuid?.() ?? 0;
  const runtime = env["XDG_RUNTIME_DIR"];
  const tmux = env["TMUX"]?.split(",")[0];
  const folders = [
    ...(runtime !== undefined && isAbsolute(runtime) ? [runtime] : []),
    `/run/user/${uid}`,
    ...(tmux !== undefined && isAbsolute(tmux) ? [dirname(tmux)] : []),
    join(resolve(env["TMUX_TMPDIR"] ?? "/tmp"), `tmux-${uid}`),
    "/run/screen",
    "/tmp/.X11-unix",
  ];
  return { folders: existing(folders, "isDirectory"), sockets: existing(SYSTEM_SOCKETS, "isSocket") };
}

/** The system's message bus and service manager, and the daemons of containers. */
const SYSTEM_SOCKETS: readonly string[] = [
  "/run/dbus/system_bus_socket",
  "/run/systemd/private",
  "/run/docker.sock",
  "/run/containerd/containerd.sock",
  "/run/podman/podman.sock",
  "/run/crio/crio.sock",
  "/run/libvirt/libvirt-sock",
  "/run/snapd.socket",
];

function existing(paths: readonly string[], kind: "isDirectory" | "isSocket"): string[] {
  const found = paths.flatMap((path) => {
    try {
      const real = realpathSync(path);
      return real !== sep && statSync(real)[kind]() ? [real] : [];
    } catch {
      return [];
    }
  });
  return [...new Set(found)];
}
