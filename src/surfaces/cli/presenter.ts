/** One presenter per `--format`: what the person, or the program that called, gets to see of a run. */
import type { TurnEvent } from "../../acp/events.ts";
import type { TurnOutcome } from "../../acp/types.ts";
import type { CardWords } from "../shared/failure-card.ts";
import type { StopSignal } from "../shared/exit-code.ts";
import type { ResultLine } from "../shared/result.ts";

/** A sentence of Ostler itself may quote a config file or a folder. */
export const MAX_NOTICE_CHARS = 1000;

export interface RunEnd {
  readonly outcome: TurnOutcome;
  readonly result: ResultLine;
  readonly words: CardWords;
  /** Ends with code 5 because of a denial nobody asked for. */
  readonly deniedByPolicy: boolean;
}

export interface Presenter {
  /** The whole answer is needed at the end. */
  readonly keepsText: boolean;
  /** The turn may be about to start; shows that something happens. */
  begin(backend: string): void;
  /** Returns a promise while a reader is behind: the next event waits for it. */
  event(event: TurnEvent): Promise<unknown> | undefined;
  /** A sentence of Ostler itself. */
  notice(sentence: string): void;
  /** The turn waits until somebody else is done with its session, or does so no more. */
  queued(waits: boolean): void;
  /** The first signal came; the agent may take a moment to stop. */
  stopping(signal: StopSignal): void;
  end(end: RunEnd): void;
}
