/** `ostler runs prune`: removes runs that are over, whole, and says which of them stay and why. */
import { systemCode } from "../../errors/system-code.ts";
import { pruneRuns } from "../../failures/runs/prune.ts";
import type { RunRegistry } from "../../failures/runs/registry.ts";
import type { KeptReason, PruneDecision, PruneRules, RunFacts } from "../../failures/runs/retention.ts";
import { UsageError } from "../../host/usage-error.ts";
import { findRun } from "./find-run.ts";
import type { Told } from "./incidents-command.ts";
import type { Io } from "./io.ts";
import type { OptionValues } from "./options.ts";
import { alignedRows } from "./rows.ts";
import type { RUNS_OPTIONS } from "./runs-options.ts";
import { clockTime } from "./shown-session.ts";

const KIB = 1024;
const MIB = 1024 * 1024;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

const STAYS: Readonly<Record<KeptReason, (id: string) => string>> = {
  running: (id) => `${id} stays: it goes on; ostler runs stop ${id} ends it`,
  orphaned: (id) => `${id} stays: its process lives; ostler runs stop ${id} ends it`,
  untold: (id) =>
    `${id} stays: nobody was told of all that failed in it; ostler incidents --run ${id} --history shows it`,
  unreadable: (id) => `${id} stays: its metadata cannot be read`,
};

type PruneOptions = OptionValues<Pick<typeof RUNS_OPTIONS, "older-than" | "keep" | "dry-run" | "config">>;

/**
 * With nothing said, what the configuration says. Throws UsageError for rules that exclude each other, and an error of
 * kind `session_not_found` (exit 4) for a run that is not there.
 */
export async function prune(
  words: readonly string[],
  options: PruneOptions,
  { registry, io }: { readonly registry: RunRegistry; readonly io: Io },
): Promise<Told> {
  const rules = await readRules(words, options, registry, io);
  const dryRun = options["dry-run"];
  const { removed, kept, problems } = pruneRuns(registry, rules, { dryRun });
  const stays = kept.map(({ id, because }) => STAYS[because](id));
  const [failed] = problems.map((error) => `A run cannot be removed (${systemCode(error) || "unknown reason"})`);
  // Who named a run wants to know that it is still there; a rule leaves what it has to.
  const problem = failed ?? ("ids" in rules ? stays[0] : undefined);
  const bytes = removed.reduce((sum, run) => sum + run.bytes, 0);
  const listed = removed.map((run) => ({ id: run.id, bytes: run.bytes }));
  return {
    text: [...textOf({ removed, kept }, bytes, dryRun), ...stays.filter((line) => line !== problem)].join("\n"),
    json: { dryRun, removed: listed, kept, bytes, ...(problem !== undefined && { problem }) },
    ...(problem !== undefined && { problem }),
  };
}

async function readRules(
  words: readonly string[],
  { "older-than": olderThan, keep, config: configFile }: PruneOptions,
  registry: RunRegistry,
  { cwd, env }: Io,
): Promise<PruneRules> {
  const isByRule = olderThan !== undefined || keep !== undefined;
  if (words.length > 0 && isByRule)
    throw new UsageError("Name the runs, or say which with --older-than and --keep; not both");
  if (words.length > 0) return { ids: words.map((word) => findRun(registry, word).id) };
  if (isByRule) return { olderThanMs: olderThan === undefined ? undefined : readAge(olderThan), keep };
  const { loadConfig } = await import("../../host/config.ts");
  const { config } = await loadConfig({ cwd, env, ...(configFile !== undefined && { configFile }) });
  return config.retention;
}

/** `30d` in milliseconds. Throws UsageError. */
function readAge(text: string): number {
  const [, number, unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?)([a-z])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs !== undefined) return Number(number) * unitMs;
  throw new UsageError(`--older-than cannot be "${text}"; it is a number with s, m, h, d or w behind it, such as 30d`);
}

function textOf({ removed }: PruneDecision, bytes: number, dryRun: boolean): string[] {
  if (removed.length === 0) return [dryRun ? "Nothing would be removed" : "Nothing was removed"];
  const what = `${removed.length} ${removed.length === 1 ? "run" : "runs"}, ${shortBytes(bytes)}`;
  return dryRun ? [`Would remove ${what}:`, ...alignedRows(removed.map(rowOf))] : [`Removed ${what}`];
}

function rowOf({ id, meta, bytes }: RunFacts): string[] {
  if (meta === "unreadable") return [id];
  return [id, meta.status, clockTime(meta.endedAt ?? meta.createdAt), shortBytes(bytes)];
}

function shortBytes(bytes: number): string {
  return bytes < MIB ? `${Math.ceil(bytes / KIB)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}
