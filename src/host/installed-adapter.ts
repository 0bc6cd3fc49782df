/** What Ostler's own adapter folder holds, looked at on disk. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Paths } from "./paths.ts";
import { TESTED_ADAPTERS } from "./tested-adapters.ts";

export interface PackageFile {
  readonly name?: string;
  readonly version?: string;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The tested adapter with its native program, or what is wrong with it as the end of a sentence. */
export function inspectInstalled(
  backend: keyof typeof TESTED_ADAPTERS,
  paths: Paths,
): { readonly version: string; readonly at: string } | { readonly problem: string } {
  const { binary, version, native, package: name } = TESTED_ADAPTERS[backend];
  const modules = join(paths.adapters, "node_modules");
  const at = join(modules, ".bin", binary);
  const installed = readPackage(join(modules, name, "package.json"));
  if (installed === undefined || !existsSync(at)) return { problem: `${name} is not there` };
  if (installed.version !== version)
    return { problem: `${name} is there in version ${installed.version}, not ${version}` };
  if (!hasNativeProgram(realpathSync(at), native)) {
    return { problem: `the program of ${native} for ${process.platform}-${process.arch} is missing` };
  }
  return { version, at };
}

/** The package that a program belongs to, and its folder; undefined for what npm did not install. */
export function packageOf(program: string): (PackageFile & { readonly folder: string }) | undefined {
  let file: string;
  try {
    file = realpathSync(program);
  } catch {
    return undefined;
  }
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) {
    const found = readPackage(join(folder, "package.json"));
    // A program in ~/bin is not part of whatever package the home folder holds.
    if (found?.name !== undefined) return isProgramOf(found, folder, file) ? { ...found, folder } : undefined;
  }
  return undefined;
}

function isProgramOf({ bin }: PackageFile, folder: string, file: string): boolean {
  const files = typeof bin === "string" ? [bin] : Object.values(bin ?? {});
  return files.some((script) => join(folder, script) === file);
}

/** Whether the harness's own program is there; npm leaves an optional package out without an error when its download fails. */
export function hasNativeProgram(script: string, native: string): boolean {
  const manifest = createRequire(script)
    .resolve.paths(native)
    ?.map((folder) => join(folder, native, "package.json"));
  const file = manifest?.find((candidate) => existsSync(candidate));
  const wanted = Object.keys((file && readPackage(file)?.optionalDependencies) || {}).filter((name) =>
    name.includes(`${process.platform}-${process.arch}`),
  );
  const folders = (file && createRequire(file).resolve.paths("x")) || [];
  return wanted.some((name) => folders.some((folder) => existsSync(join(folder, name))));
}

function readPackage(file: string): PackageFile | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    return typeof content === "object" && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}
