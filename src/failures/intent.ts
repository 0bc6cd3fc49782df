/** What a command declares before it runs. Types; the rules stand in `observation/intent-rules.ts`. */

/** The declared part of a call of `run`, after validation: an absent field declares nothing. */
export interface RunIntent {
  /** One logical operation across modified retries. */
  readonly operationId?: string;
  /** One execution, to be named as evidence. */
  readonly attemptId?: string;
  /** Exit codes that are no failure: 1 to 16 distinct integers from 1 to 255. */
  readonly expectedExitCodes?: readonly number[];
}
