/** What a part of the bench is. Types only. */

export interface Bench {
  /** For prepared frames; removed at the end. */
  readonly folder: string;
  /** How often every subject is measured; the subjects take turns, so that a change of load meets all of them. */
  readonly rounds: number;
  /** The command of an installed acpx, to compare with. */
  readonly acpx: string | undefined;
}

/** One row of a table, by the heading of its columns. */
export type Row = Readonly<Record<string, string>>;

export interface Part {
  /** For `--only`. */
  readonly name: string;
  readonly title: string;
  /** Takes minutes: runs only when `--only` names it. */
  readonly onlyByName?: true;
  readonly run: (bench: Bench) => Promise<readonly Row[]>;
}
