/** What one attempt is given. Types only. */
import type { ClassifyContext } from "../errors/verdict.ts";
import type { Failure } from "../errors/failure.ts";
import type { Attempt } from "./attempt.ts";
import type { TurnClocks } from "./clocks.ts";
import type { RecordLatch } from "./latch.ts";
import type { Ending } from "./outcome.ts";
import type { Backend } from "./ports.ts";
import type { UpdateReader } from "./update-reader.ts";
import type { TurnEventBody } from "./events.ts";
import type { PromptBlock } from "./types.ts";

export interface AttemptOptions {
  readonly turnId: string;
  readonly attempt: number;
  readonly backend: Backend;
  readonly context: ClassifyContext;
  readonly latch: RecordLatch;
  readonly reader: UpdateReader;
  readonly clocks: TurnClocks;
  readonly keepText: boolean;
  /** What the person said, also where the agent is only asked to go on; absent = nobody asked for this work. */
  readonly blocks?: readonly PromptBlock[];
  /** The attempt that this one goes on from: what it said is of the same answer. */
  readonly from: Attempt | undefined;
  readonly emit: (event: TurnEventBody) => void;
  readonly onRecord: (failure: Failure) => void;
  /** Nobody can answer a permission request: the turn must end. */
  readonly onPermissionNeeded: (ending: Ending) => void;
  /** Called once. */
  readonly onEnd: (ending: Ending) => void;
}
