/** What a configuration is refused for: guessing could start another program than the user meant. */
import { UsageError } from "./usage-error.ts";

/** One thing that nobody may guess. */
export interface ConfigFault {
  /** The file, for sentences. */
  readonly where: string;
  readonly sentence: string;
  /** What mends it, as a sentence. */
  readonly fix: string;
  /** The backend whose settings it spoils; absent = it may be any. */
  readonly backend?: string;
  readonly cause?: unknown;
}

/** Is told of a fault; when it returns, what is at fault is left out. */
export type OnFault = (fault: ConfigFault) => void;

/** Throws {@link UsageError}, which ends `ostler ask` with exit code 2. */
export const refuse: OnFault = ({ sentence, cause }) => {
  throw new UsageError(sentence, cause === undefined ? {} : { cause });
};

/** Whether the settings of a backend are not what the user wrote. */
export function isSpoilt(name: string, faults: readonly ConfigFault[]): boolean {
  return faults.some(({ backend }) => backend === undefined || backend === name);
}

/** What to do about a value in a file. */
export function correctionOf(where: string): string {
  return `Correct ${where}; docs/config.md lists every key`;
}
