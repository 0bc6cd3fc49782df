/** Whether the sessions that were kept can be read. Only looks; Ostler itself sets a damaged store aside. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { fine, shellLine, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { shortPath } from "./paths.ts";
import type { Paths } from "./paths.ts";

/** Nothing when there is no store. */
export async function inspectStore({ state }: Pick<Paths, "state">, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const file = join(state, "store.sqlite");
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return [];
  const name = shortPath(file, env);
  const aside = shellLine(["mv", file, `${file}.damaged`], env);
  // Opening a pipe would wait for whoever writes into it.
  if (!found.isFile()) return [wrong("store", `${name} is no file`, aside)];
  try {
    const [{ DatabaseSync }, { STORE_VERSION, hasOwnTables, storeVersion }] = await Promise.all([
      import("node:sqlite"),
      import("./store-schema.ts"),
    ]);
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const [first] = database.prepare("PRAGMA quick_check(1)").all();
      const verdict = String(Object.values(first ?? {})[0]);
      if (verdict !== "ok") return [wrong("store", `${name} is damaged: ${verdict}`, aside)];
      if (!hasOwnTables(database)) {
        const foreign = `${name} has tables that are not Ostler's: the next session sets it aside and begins a new one`;
        return [wrong("store", foreign, aside)];
      }
      if (storeVersion(database) <= STORE_VERSION) return [fine("store", name)];
      return [
        wrong("store", `${name} was written by a newer Ostler`, "Update Ostler, or set OSTLER_HOME to another folder"),
      ];
    } finally {
      database.close();
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [wrong("store", `${name} cannot be read: ${why}`, aside)];
  }
}
