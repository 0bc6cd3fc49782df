/**
 * Builds the CLI when it is older than its sources, and has it install the tested adapters, as a user would. They stay
 * in `$OSTLER_HARNESS_HOME` (default: a folder in the system's temporary folder) for the next run.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import type { TestProject } from "vitest/node";
import { buildWhenStale } from "../built-cli.ts";
import { OSTLER } from "./ask.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** XDG_DATA_HOME under which Ostler finds the adapters. */
    adaptersHome: string;
  }
}

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** Runs once, before the first scenario. */
export default async function setup(project: TestProject): Promise<void> {
  await buildWhenStale();
  const adaptersHome = process.env["OSTLER_HARNESS_HOME"] ?? join(tmpdir(), "ostler-harness");
  for (const backend of ["codex", "claude"]) await install(backend, adaptersHome);
  project.provide("adaptersHome", adaptersHome);
}

/** `ostler backends install` leaves an adapter of the tested version alone. */
async function install(backend: string, adaptersHome: string): Promise<void> {
  const env = { XDG_DATA_HOME: adaptersHome, OSTLER_HOME: undefined };
  await execa(process.execPath, [OSTLER, "backends", "install", backend], { cwd: PROJECT, env });
}
