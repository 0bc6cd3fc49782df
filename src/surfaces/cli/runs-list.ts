/** The runs as a list: what each is, and under it what failed in it. Pure. */
import { cleanLine } from "../../errors/redact.ts";
import { listText } from "../../failures/pages/short-page.ts";
import { shortPath } from "../../host/paths.ts";
import type { SeenRun } from "./find-run.ts";
import { alignedRows } from "./rows.ts";
import { UNREADABLE } from "./shown-run.ts";
import { clockTime } from "./shown-session.ts";

const MAX_CELL_CHARS = 80;

/** One line per run, the newest first, and at most `maxBytes` (200) of failure text under each. */
export function listLines(
  seen: readonly SeenRun[],
  { env, maxBytes }: { readonly env: NodeJS.ProcessEnv; readonly maxBytes: number | undefined },
): string[] {
  if (seen.length === 0) return ["No runs yet"];
  const rows = alignedRows(seen.map((run) => cellsOf(run, env).map((cell) => cleanLine(cell, MAX_CELL_CHARS))));
  return seen.flatMap(({ state }, index) => {
    const failures = listText(state, maxBytes);
    return [rows[index] ?? "", ...(failures === "" ? [] : failures.split("\n").map((line) => `  ${line}`))];
  });
}

function cellsOf({ id, meta }: SeenRun, env: NodeJS.ProcessEnv): readonly string[] {
  if (meta === "unreadable") return [id, "unknown", "", UNREADABLE];
  return [id, meta.status, clockTime(meta.createdAt), meta.title, shortPath(meta.cwd, env)];
}
