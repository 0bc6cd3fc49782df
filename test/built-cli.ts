/** The command as `npm ci` leaves it, built again when a source is newer. */
import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

const PROJECT = fileURLToPath(new URL("..", import.meta.url));

/** Builds `dist` unless it is newer than every source. */
export async function buildWhenStale(): Promise<void> {
  if (isStale()) await execa("npm", ["run", "build"], { cwd: PROJECT });
}

function isStale(): boolean {
  const built = join(PROJECT, "dist/cli/ostler.cjs");
  if (!existsSync(built)) return true;
  const builtAt = statSync(built).mtimeMs;
  return globSync("src/**/*.ts", { cwd: PROJECT }).some((file) => statSync(join(PROJECT, file)).mtimeMs > builtAt);
}
