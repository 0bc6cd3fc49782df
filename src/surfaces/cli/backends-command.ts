/** `ostler backends`: which agents are there, the installation of an adapter, and the end of a park. */
import { resolve } from "node:path";
import { readPark } from "../../acp/restart-policy.ts";
import type { Intensity, Park } from "../../acp/restart-policy.ts";
import { EXIT } from "../../errors/kinds.ts";
import { cleanLine, stripControls } from "../../errors/redact.ts";
import { checkBackendName } from "../../host/backend-names.ts";
import type { Config } from "../../host/config-defaults.ts";
import { loadConfig } from "../../host/config.ts";
import type { LoadedConfig } from "../../host/config.ts";
import { CrashFiles, identifyProgram } from "../../host/crash-ledger.ts";
import { inspectBackends } from "../../host/doctor.ts";
import { InstallError, installAdapter, isInstallable } from "../../host/install.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { UsageError } from "../../host/usage-error.ts";
import { signalExitCode } from "../shared/exit-code.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { BACKENDS_OPTIONS } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";
import { clockTime } from "./shown-session.ts";
import { unknownAction } from "./unknown-action.ts";

const MAX_TITLE_CHARS = 400;
const MAX_VERSION_CHARS = 60;
const USAGE = "write: ostler backends, ostler backends install codex|claude, or ostler backends resume NAME";

export async function backends(argv: readonly string[], io: Io): Promise<number> {
  const { words, options } = parseArguments(argv, BACKENDS_OPTIONS);
  const [action = "list", name, ...more] = words;
  if (action === "list" && name === undefined) return list(options.config, io);
  if ((action !== "install" && action !== "resume") || name === undefined || more.length > 0) {
    throw unknownAction("backends", words, { actions: ["list", "install", "resume"], usage: USAGE });
  }
  if (action === "resume") return resume(name, options.config, io);
  if (!isInstallable(name)) {
    const near = nearestName(name, ["codex", "claude"]);
    throw new UsageError(`Ostler cannot install "${name}"; ${near === undefined ? USAGE : `did you mean "${near}"?`}`);
  }
  return install(name, io);
}

async function list(configFile: string | undefined, io: Io): Promise<number> {
  using interrupt = new Interrupt(io);
  const { cwd, env } = io;
  const { signal } = interrupt;
  const loaded = await load(configFile, io, interrupt);
  if (loaded === undefined) return signalExitCode(interrupt.received ?? "SIGINT");
  const report = await inspectBackends({ loaded, env, cwd, signal });
  const ledger = new CrashFiles(ostlerPaths(env));
  const intensity = restartIntensity(loaded.config);
  const stderr = new BatchedOutput(io.stderr);
  const stdout = new BatchedOutput(io.stdout);
  for (const warning of loaded.warnings) stderr.write(`${warning}\n`);
  const width = Math.max(...report.backends.map(({ backend }) => backend.length));
  for (const { backend, status, at, command = [], version, install } of report.backends) {
    const program = at === undefined ? undefined : identifyProgram(at, { args: command.slice(1) }, cwd);
    const park = readPark(
      ledger.read(backend).filter((crash) => crash.program === program),
      intensity,
    );
    const where =
      status === "found"
        ? [
            at,
            version && cleanLine(version, MAX_VERSION_CHARS),
            park && `parked ${describePark(park)}; to start it again: ostler backends resume ${backend}`,
          ]
            .filter(Boolean)
            .join("  ")
        : `not found${install ? `; to install it: ${install}` : ""}`;
    stdout.write(`${backend.padEnd(width)}  ${oneLine(where)}\n`);
  }
  await Promise.all([stdout.finish(), stderr.finish()]);
  return EXIT.completed;
}

async function resume(backend: string, configFile: string | undefined, io: Io): Promise<number> {
  using interrupt = new Interrupt(io);
  const loaded = await load(configFile, io, interrupt);
  if (loaded === undefined) return signalExitCode(interrupt.received ?? "SIGINT");
  checkBackendName(loaded.config, backend);
  const { resumeBackend } = await import("../../host/resume-backend.ts");
  const { park, crashes, problems } = await resumeBackend({
    paths: ostlerPaths(io.env),
    backend,
    intensity: restartIntensity(loaded.config),
  });
  const stdout = new BatchedOutput(io.stdout);
  const stderr = new BatchedOutput(io.stderr);
  for (const problem of problems) stderr.write(`ostler: ${problem}\n`);
  const of = crashes === 1 ? "one crash is" : `${crashes} crashes are`;
  if (park !== undefined) stdout.write(`${backend} may start again; it was parked ${describePark(park)}\n`);
  else stdout.write(`${backend} was not parked${crashes === 0 ? "" : `; ${of} forgotten`}\n`);
  await Promise.all([stdout.finish(), stderr.finish()]);
  return problems.length === 0 ? EXIT.completed : EXIT.failed;
}

/** Undefined when the person stopped it. */
async function load(
  configFile: string | undefined,
  { cwd, env }: Io,
  interrupt: Interrupt,
): Promise<LoadedConfig | undefined> {
  const { signal } = interrupt;
  const file = configFile === undefined ? {} : { configFile: resolve(cwd, configFile) };
  return loadConfig({ cwd, env, signal, ...file }).catch((error: unknown) => {
    if (interrupt.received === undefined) throw error;
    return undefined;
  });
}

function restartIntensity({ restart }: Config): Intensity {
  return { burst: restart.burst, periodMs: restart.periodS * 1000 };
}

/** Local time to the minute, and the last words. They come from a file that somebody else may have written into. */
function describePark({ since, last }: Park): string {
  return `since ${clockTime(since)} (${cleanLine(last.title, MAX_TITLE_CHARS)})`;
}

/** A path stays what it is, but makes no further line. */
function oneLine(text: string): string {
  return stripControls(text).replace(/[\t\n\u2028\u2029]/g, " ");
}

async function install(backend: "codex" | "claude", io: Io): Promise<number> {
  using interrupt = new Interrupt(io);
  const stdout = new BatchedOutput(io.stdout);
  const stderr = new BatchedOutput(io.stderr);
  try {
    const { version, at } = await installAdapter({
      backend,
      paths: ostlerPaths(io.env),
      env: io.env,
      onProgress: (line) => stderr.write(`${line}\n`),
      signal: interrupt.signal,
    });
    stdout.write(`${backend} ${version} is installed: ${at}\n`);
    return EXIT.completed;
  } catch (error) {
    if (interrupt.received !== undefined) return signalExitCode(interrupt.received);
    if (!(error instanceof InstallError)) throw error;
    stderr.write(`ostler: ${error.message}\n`);
    return EXIT.failed;
  } finally {
    await Promise.all([stdout.finish(), stderr.finish()]);
  }
}
