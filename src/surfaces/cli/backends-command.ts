/** `ostler backends`: which agents are there, and the installation of an adapter. */
import { resolve } from "node:path";
import { EXIT } from "../../errors/kinds.ts";
import { stripControls } from "../../errors/redact.ts";
import { loadConfig } from "../../host/config.ts";
import { inspectBackends } from "../../host/doctor.ts";
import { InstallError, installAdapter, isInstallable } from "../../host/install.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { UsageError } from "../../host/usage-error.ts";
import { signalExitCode } from "../shared/exit-code.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { BACKENDS_OPTIONS } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";

const USAGE = "write: ostler backends, or ostler backends install codex|claude";

export async function backends(argv: readonly string[], io: Io): Promise<number> {
  const { words, options } = parseArguments(argv, BACKENDS_OPTIONS);
  const [action = "list", name, ...more] = words;
  if (action === "list" && name === undefined) return list(options.config, io);
  if (action !== "install" || name === undefined || more.length > 0) {
    throw new UsageError(`Cannot make sense of "${["backends", ...words].join(" ")}"; ${USAGE}`);
  }
  if (!isInstallable(name)) throw new UsageError(`Ostler cannot install "${name}"; ${USAGE}`);
  return install(name, io);
}

async function list(configFile: string | undefined, io: Io): Promise<number> {
  using interrupt = new Interrupt(io);
  const { cwd, env } = io;
  const { signal } = interrupt;
  const loaded = await loadConfig({
    cwd,
    env,
    signal,
    ...(configFile === undefined ? {} : { configFile: resolve(cwd, configFile) }),
  }).catch((error: unknown) => {
    if (interrupt.received === undefined) throw error;
  });
  if (loaded === undefined) return signalExitCode(interrupt.received ?? "SIGINT");
  const report = await inspectBackends({ loaded, env, cwd, signal });
  const stderr = new BatchedOutput(io.stderr);
  const stdout = new BatchedOutput(io.stdout);
  for (const warning of loaded.warnings) stderr.write(`${warning}\n`);
  const width = Math.max(...report.backends.map(({ backend }) => backend.length));
  for (const { backend, status, at, version, install } of report.backends) {
    const where =
      status === "found"
        ? [at, version].filter(Boolean).join("  ")
        : `not found${install ? `; to install it: ${install}` : ""}`;
    stdout.write(`${backend.padEnd(width)}  ${stripControls(where)}\n`);
  }
  await Promise.all([stdout.finish(), stderr.finish()]);
  return EXIT.completed;
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
