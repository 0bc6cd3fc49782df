/** One record to one line: scrubbed here, formatted by pino, appended by {@link SharedFile}. Loaded only when needed. */
import { join } from "node:path";
import { pino } from "pino";
import type { Logger } from "pino";
import type { LogRecord } from "./log.ts";
import { scrubFields } from "../errors/scrub-json.ts";
import type { ScrubLimits } from "../errors/scrub-json.ts";
import { SharedFile } from "./shared-file.ts";

const MAX_BYTES = 5 * 1024 * 1024;
const KEPT_FILES = 4;
const LIMITS: ScrubLimits = { maxDepth: 6, maxValues: 200, maxChars: 4000, masksNames: true };

export class LogWriter {
  readonly #logger: Logger;

  /** Opens `ostler.log` in this folder, making it. Throws the system's error. */
  constructor(folder: string, { maxBytes = MAX_BYTES, keptFiles = KEPT_FILES } = {}) {
    const file = new SharedFile(join(folder, "ostler.log"), { maxBytes, keptFiles });
    this.#logger = pino(
      { level: "trace", base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
      { write: (line) => file.append(line) },
    );
  }

  /** Throws the system's error. */
  write({ atMs, level, event, fields }: LogRecord): void {
    const time = new Date(atMs).toISOString();
    this.#logger[level]({ time, ostler: process.pid, event, ...scrubbed(fields) });
  }
}

/** A field that cannot even be read must not cost the record, or the log. */
function scrubbed(fields: LogRecord["fields"]): Readonly<Record<string, unknown>> {
  try {
    return scrubFields(fields, LIMITS);
  } catch {
    return { unreadable: Object.keys(fields) };
  }
}
