/** The kept session that a word on the command line names. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { startError } from "../../acp/death.ts";
import { plainVerdict } from "../../acp/make-failure.ts";
import type { ConversationRecord } from "../../host/conversation-records.ts";
import { shortPath } from "../../host/paths.ts";
import type { Store } from "../../host/store.ts";
import { UsageError } from "../../host/usage-error.ts";
import type { Io } from "./io.ts";

/** How much of an id is enough to tell one from another, and is shown for a session without a name. */
export const ID_CHARS = 8;

/** The folder of `-C`, absolute. Throws UsageError when there is none. */
export function readFolder(folder: string | undefined, io: Io): string {
  const cwd = resolve(io.cwd, folder ?? ".");
  if (folder === undefined || statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return cwd;
  throw new UsageError(`Cannot look in ${folder}: there is no such folder`);
}

/** The one of this folder, else the only one of that name; an id or its beginning names any, also one without a name. Throws kind `session_not_found`. */
export function findSession(store: Store, word: string, cwd: string, env: NodeJS.ProcessEnv): ConversationRecord {
  const here = store.find({ name: word, cwd }) ?? store.get(word);
  if (here !== undefined) return here;
  const all = store.list();
  const byId = word.length < ID_CHARS ? [] : all.filter(({ id }) => id.startsWith(word));
  if (byId.length === 1) return byId[0]!;
  const elsewhere = all.filter(({ name }) => name === word.trim());
  const [only, ...others] = elsewhere;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) {
    const folders = elsewhere.map(({ cwd: folder }) => shortPath(folder, env)).join(", ");
    throw new UsageError(`There are ${elsewhere.length} sessions called "${word}", in ${folders}; say which with -C`);
  }
  const title = `There is no session called "${word}"; ostler sessions lists all`;
  throw startError(
    { verdict: plainVerdict("session_not_found", "no-stored-session"), source: "spawn", title },
    undefined,
  );
}
