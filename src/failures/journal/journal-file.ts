/** How the file of a journal is opened and synced. Descriptors are opened for one step, not kept. */
import { closeSync, constants, fdatasync, openSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
/** Without waiting for anybody, should the name be a pipe. */
const READ = O_RDONLY | O_NONBLOCK | O_NOCTTY;
const FLAGS = { read: READ, append: O_RDWR | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CREAT } as const;

const sync = promisify(fdatasync);

/** Paths of a journal and of its marker. */
export interface JournalFiles {
  readonly journal: string;
  readonly marker: string;
}

/** Those in a run's folder. */
export function journalFiles(folder: string): JournalFiles {
  const journal = join(folder, "failures.jsonl");
  return { journal, marker: `${journal}.observed` };
}

/** Opens it, for appending also one that is not there (0600). Throws the system's error. */
export function withFile<T>(file: string, use: keyof typeof FLAGS, act: (fd: number) => T): T {
  const fd = openSync(file, FLAGS[use], 0o600);
  try {
    return act(fd);
  } finally {
    closeSync(fd);
  }
}

/** What was written into it so far survives the system. Throws the system's error. */
export async function syncFile(file: string): Promise<void> {
  const fd = openSync(file, READ);
  try {
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}
