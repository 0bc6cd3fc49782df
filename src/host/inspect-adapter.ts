/** Whether the adapter is the version that Ostler was tested with, and whole. */
import { realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fine, remark, shellLine, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { hasNativeProgram } from "./installed-adapter.ts";
import type { PackageFile } from "./installed-adapter.ts";
import type { InstallableBackend } from "./install.ts";
import { isInstallable } from "./install.ts";
import type { Paths } from "./paths.ts";
import { TESTED_ADAPTERS } from "./tested-adapters.ts";
import { compareVersions } from "./version-order.ts";

/** With one of these set the adapter runs another program than the one its package brings. */
const NATIVE_OVERRIDES: Readonly<Record<InstallableBackend, string>> = {
  codex: "CODEX_PATH",
  claude: "CLAUDE_CODE_EXECUTABLE",
};

export interface AdapterFacts {
  /** The package of the program. */
  readonly adapter: PackageFile & { readonly folder: string };
  /** The program itself. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly paths: Paths;
  readonly env: NodeJS.ProcessEnv;
}

/** Findings about a package; only its version for one that Ostler does not know. */
export function inspectAdapter(facts: AdapterFacts): Finding[] {
  const { adapter, program, environment } = facts;
  const { version } = adapter;
  if (version === undefined) return [];
  const backend = testedBackend(adapter.name);
  if (backend === undefined) return [fine("version", version)];
  const tested = TESTED_ADAPTERS[backend];
  const fix = updateCommand(backend, facts);
  if (!environment[NATIVE_OVERRIDES[backend]] && !hasNativeProgram(realpathSync(program), tested.native)) {
    const missing = `The program of ${tested.native} for ${process.platform}-${process.arch} is missing`;
    return [wrong("version", missing, fix)];
  }
  const order = compareVersions(version, tested.version);
  if (order < 0) return [wrong("version", `Version ${version} is older than the tested ${tested.version}`, fix)];
  if (order > 0) return [remark("version", `Version ${version} is newer than the tested ${tested.version}`)];
  return [fine("version", version)];
}

function testedBackend(name: string | undefined): InstallableBackend | undefined {
  return Object.keys(TESTED_ADAPTERS)
    .filter((backend) => isInstallable(backend))
    .find((backend) => TESTED_ADAPTERS[backend].package === name);
}

/** PATH comes before Ostler's own folder, so an adapter that is met there has to be changed there. */
function updateCommand(backend: InstallableBackend, { adapter, paths, env }: AdapterFacts): string {
  const { package: name, version } = TESTED_ADAPTERS[backend];
  const modules = adapter.folder.slice(0, -join(sep, name).length);
  if (modules === realpath(join(paths.adapters, "node_modules"))) return `ostler backends install ${backend}`;
  if (!modules.endsWith(`${sep}node_modules`) || /[/\\](?:\.pnpm|\.yarn|_npx)[/\\]/.test(modules)) {
    return `Install ${name} ${version} with the program that installed it`;
  }
  const isGlobal = modules.endsWith(join(sep, "lib", "node_modules"));
  const prefix = isGlobal ? dirname(dirname(modules)) : dirname(modules);
  return shellLine(
    ["npm", "install", ...(isGlobal ? ["--global"] : []), "--prefix", prefix, `${name}@${version}`],
    env,
  );
}

function realpath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
