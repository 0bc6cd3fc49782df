/** What Ostler's own adapter folder holds, looked at on disk. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { Paths } from "./paths.ts";
import { TESTED_ADAPTERS } from "./tested-adapters.ts";

interface PackageFile {
  readonly name?: string;
  readonly version?: string;
  readonly bin?: string | Readonly<Record<string, string>>;
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

/** The version of the package that a program belongs to; undefined for what npm did not install. */
export function packageVersionOf(program: string): string | undefined {
  let file: string;
  try {
    file = realpathSync(program);
  } catch {
    return undefined;
  }
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) {
    const found = readPackage(join(folder, "package.json"));
    // A program in ~/bin is not part of whatever package the home folder holds.
    if (found?.name !== undefined) return namesProgram(found, basename(program)) ? found.version : undefined;
  }
  return undefined;
}

function namesProgram({ name, bin }: PackageFile, program: string): boolean {
  return typeof bin === "string" ? basename(name ?? "") === program : Object.hasOwn(bin ?? {}, program);
}

/** npm leaves an optional package out without an error when its download fails. */
function hasNativeProgram(script: string, native: string): boolean {
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
