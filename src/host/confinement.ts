/**
 * Starts a program so that it cannot change what Ostler writes down about it: under bubblewrap, with the whole file
 * system as it is, but Ostler's own folders read-only, no sight of other processes, and no capabilities. It holds an
 * agent to what it is watched by; it does not hide the user's files or the network from it (docs/confinement.md).
 */
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { CommandLine } from "../acp/ports.ts";
import { systemCode } from "../errors/system-code.ts";
import {
  canChange,
  commandTakers,
  foldersAbove,
  isWithin,
  ownPlaces,
  ownInstallation,
  readWay,
} from "./confinement-places.ts";
import type { Installation } from "./confinement-places.ts";
import { otherPlacesOf } from "./mount-aliases.ts";
import { shortPath } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { probeConfinement } from "./write-probe.ts";

export interface ConfinementOptions {
  /** Where Ostler keeps its things; folders that are missing are made. */
  readonly paths: Paths;
  /** The folder that the program works in. */
  readonly workspace: string;
  /** Ostler's own environment: where bubblewrap is, and where other programs of this user listen. */
  readonly env: NodeJS.ProcessEnv;
  /** Default: where this module is. */
  readonly installation?: Installation;
  /** Folders in which bubblewrap is looked for. Default: those of the system, then `PATH`. */
  readonly programFolders?: readonly string[];
}

/** Commands can be confined, and a probe from inside has shown it; or a sentence (no full stop) says why not. */
export type Confinement =
  | { readonly trusted: true; readonly confine: (command: CommandLine) => CommandLine }
  | { readonly trusted: false; readonly because: string };

/** A command to start instead of the given one; unchanged when it cannot be confined, and `because` says why. */
export type ConfinedCommand =
  | { readonly trusted: true; readonly command: CommandLine; readonly confine: (command: CommandLine) => CommandLine }
  | { readonly trusted: false; readonly command: CommandLine; readonly because: string };

/** Confines one command, see {@link proveConfinement}. Does not throw for what this machine lacks. */
export async function confineCommand(
  options: ConfinementOptions & { readonly command: CommandLine },
): Promise<ConfinedCommand> {
  const { command } = options;
  const confinement = await proveConfinement(options);
  if (!confinement.trusted) return { command, ...confinement };
  return { trusted: true, command: confinement.confine(command), confine: confinement.confine };
}

/**
 * Looks for bubblewrap, works out what has to be read-only for this workspace, and has a probe try to write there from
 * inside. Whatever is confined with the result stands under the same rules.
 */
export async function proveConfinement(options: ConfinementOptions): Promise<Confinement> {
  try {
    const { bubblewrap, args, probed } = planConfinement(options);
    const confine = ({ file, args: words }: CommandLine): CommandLine => ({
      file: bubblewrap,
      args: [...args, "--", file, ...words],
      isHolder: true,
    });
    const because = await probeConfinement(confine, probed);
    return because === undefined ? { trusted: true, confine } : { trusted: false, because };
  } catch (error) {
    if (error instanceof Unconfinable) return { trusted: false, because: error.message };
    const code = systemCode(error);
    if (code === "") throw error;
    return { trusted: false, because: `Ostler's folders cannot be protected (${code})` };
  }
}

/** What this machine lacks for confining anything (no full stop); undefined when nothing. Looks, and makes nothing. */
export function lackForConfinement(env: NodeJS.ProcessEnv): string | undefined {
  try {
    findBubblewrap(programFoldersOf(env));
    return undefined;
  } catch (error) {
    if (error instanceof Unconfinable) return error.message;
    throw error;
  }
}

class Unconfinable extends Error {}

function planConfinement({
  paths,
  workspace,
  env,
  installation = ownInstallation(),
  programFolders = programFoldersOf(env),
}: ConfinementOptions): {
  readonly bubblewrap: string;
  readonly args: readonly string[];
  readonly probed: readonly string[];
} {
  const bubblewrap = findBubblewrap(programFolders);
  const ways = [...ownPlaces(paths), installation.files].map(readWay);
  const [state] = ways;
  const reals = ways.map(({ real }) => real);
  const frozen = outermost([...reals, ...outermost(reals).flatMap(otherPlacesOf)]);
  const work = readWay(workspace).real;
  const around = frozen.find((folder) => isWithin(work, folder));
  if (isWithin(work, readWay(installation.folder).real))
    throw new Unconfinable(`Ostler itself is installed in ${shortPath(work, env)}, where the agent works`);
  if (around !== undefined)
    throw new Unconfinable(`The workspace is in ${shortPath(around, env)}, Ostler's own folder`);
  const loose = ways
    .flatMap(({ linkFolders }) => linkFolders)
    .find((folder) => canChange(folder) && !frozen.some((kept) => isWithin(folder, kept)));
  if (loose !== undefined)
    throw new Unconfinable(
      `Ostler's folder is reached through a link in ${shortPath(loose, env)}, which the agent could replace`,
    );
  const places = { frozen, ...hiddenPlaces(state?.real ?? paths.state, work, env) };
  return { bubblewrap, args: bubblewrapArguments(places), probed: frozen };
}

/** The sockets of Ostlers: whoever can ask them can act outside. */
function hiddenPlaces(
  state: string,
  workspace: string,
  env: NodeJS.ProcessEnv,
): Pick<ConfinedPlaces, "hidden" | "sockets" | "masked"> {
  const owners = join(state, "sockets");
  mkdirSync(owners, { recursive: true, mode: 0o700 });
  const { folders, sockets } = commandTakers(env);
  const hidden = outermost(folders).filter((folder) => !isWithin(workspace, folder));
  return { hidden, sockets, masked: [owners] };
}

/** Real paths of what bubblewrap is told about. */
interface ConfinedPlaces {
  /** Read-only inside, with everything below. */
  readonly frozen: readonly string[];
  /** Folders that are empty inside. */
  readonly hidden: readonly string[];
  /** Sockets that nobody listens on inside. */
  readonly sockets: readonly string[];
  /** Folders within `frozen` that are empty inside. */
  readonly masked: readonly string[];
}

/**
 * Without a user namespace of its own a program could look into, and without a pid namespace stop, other processes of
 * this user. A fresh `/dev` has no disks, which root could write to.
 */
const ISOLATION: readonly string[] =
  "--unshare-user --unshare-pid --unshare-ipc --cap-drop ALL --die-with-parent --bind / / --dev /dev --proc /proc --ro-bind /sys /sys".split(
    " ",
  );

/**
 * A later mount lies above an earlier one, so: the whole, the folders that must not be renamed (a mount point cannot be),
 * what is hidden, what is frozen. The mounts are locked for a namespace that is made inside.
 */
function bubblewrapArguments({ frozen, hidden, sockets, masked }: ConfinedPlaces): string[] {
  const above = frozen.flatMap((path) => foldersAbove(path).filter((folder) => canChange(join(folder, ".."))));
  const pinned = [...new Set(above)].filter((folder) => !hidden.some((place) => isWithin(folder, place)));
  return [
    ...ISOLATION,
    ...byDepth(pinned).flatMap((folder) => ["--bind", folder, folder]),
    ...hidden.flatMap((folder) => ["--perms", "0700", "--tmpfs", folder]),
    ...sockets.flatMap((socket) => ["--ro-bind", "/dev/null", socket]),
    ...byDepth(frozen).flatMap((folder) => ["--ro-bind", folder, folder]),
    ...masked.flatMap((folder) => ["--perms", "0700", "--tmpfs", folder, "--remount-ro", folder]),
  ];
}

function outermost(folders: readonly string[]): string[] {
  const all = [...new Set(folders)];
  return all.filter((folder) => !all.some((other) => other !== folder && isWithin(folder, other)));
}

function byDepth(folders: readonly string[]): string[] {
  return folders.toSorted((one, other) => one.length - other.length);
}

const SYSTEM_FOLDERS: readonly string[] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

function programFoldersOf(env: NodeJS.ProcessEnv): readonly string[] {
  return [...SYSTEM_FOLDERS, ...(env["PATH"] ?? "").split(":").filter(isAbsolute)];
}

/** Only one of the system's: what an earlier agent has put into the user's own folders would confine nothing. */
function findBubblewrap(folders: readonly string[]): string {
  if (process.platform !== "linux") throw new Unconfinable("Confinement needs Linux and bubblewrap");
  const file = folders.map((folder) => join(folder, "bwrap")).find(isProgramOfSystem);
  if (file === undefined)
    throw new Unconfinable(
      "bubblewrap is not installed; install the package bubblewrap of your system (program bwrap)",
    );
  return file;
}

function isProgramOfSystem(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).uid === 0;
  } catch {
    return false;
  }
}
