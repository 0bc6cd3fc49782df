/** One row of the harness tables: what the scripted service answers, how `ostler ask` is called, what must be true then. */
import type { FailureKind, RefusalInfo, RetryVerdict } from "../../src/errors/failure.ts";
import type { Interruption } from "./ask.ts";
import type { ScenarioHome } from "./scenario-home.ts";

/** The answers of a service, one per turn request; the last one answers all later requests. */
export type Script<Step> = readonly [Step, ...Step[]];

export interface Scenario<Step> {
  readonly name: string;
  /** What the service says; `nothing listens` = every connection is refused. */
  readonly service: Script<Step> | ((home: ScenarioHome) => Script<Step>) | "nothing listens";
  /** More arguments. A run whose row names no `--retries` gets `--retries 0`. */
  readonly ask?: readonly string[];
  /** Default `ndjson`. */
  readonly format?: "ndjson" | "json" | "text" | "quiet";
  /** Changes to the environment; null removes a variable. */
  readonly env?: Readonly<Record<string, string | null>>;
  /** Last changes to the scenario's files; returns more arguments, where they name such a file. */
  readonly prepare?: (home: ScenarioHome, serviceUrl: string) => readonly string[];
  readonly interrupt?: Interruption;
  /** Awaited when more of the answer is shown, before the service goes on with what it holds back. */
  readonly untilRelease?: () => Promise<void>;
  readonly expect: Expected;
}

/** A count that the harness's own retries decide: any number from the first to the second. */
export type Range = readonly [atLeast: number, atMost: number];

/** What must be true; a field left out means that nothing of the kind may be there. */
export interface Expected {
  readonly outcome: "completed" | "refused" | "truncated" | "empty" | "cancelled" | "failed";
  readonly exitCode: number;
  readonly failure?: { readonly kind: FailureKind; readonly retry: RetryVerdict };
  readonly refusal?: RefusalInfo;
  /** The whole answer. */
  readonly text?: string;
  /** Turn requests that reached the service. */
  readonly prompts: number | Range;
  /** Prompts that Ostler handed over; default 1. */
  readonly attempts?: number;
  /** Requests in which a second model was asked to approve a tool; default 0. */
  readonly secondModelAsked?: number;
  /** Files of the workspace afterwards, besides `notes.txt`. */
  readonly files?: readonly string[];
  /** codex's sandbox may leave its mount points in the workspace: codex 0.166 does so too when nobody else takes part. */
  readonly mountPointsMayStay?: true;
  /** The harness asks for hosts beyond 127.0.0.1, because the row takes its settings away; the proxy stops it. */
  readonly reachesOut?: true;
  /** All of stdout in a format that is not JSON. */
  readonly stdout?: string;
  /** Somewhere on stdout or stderr. */
  readonly says?: readonly RegExp[];
  /** Neither on stdout nor on stderr. */
  readonly never?: readonly RegExp[];
  /** In the body of the first turn request. */
  readonly sent?: readonly RegExp[];
}

/** The turn ended well. */
export function completed(text: string, more: Partial<Expected> = {}): Expected {
  return { outcome: "completed", exitCode: 0, text, prompts: 1, ...more };
}

/** The turn failed before it said anything. */
export function failed(
  kind: FailureKind,
  retry: RetryVerdict,
  exitCode: number,
  prompts: number | Range,
  more: Partial<Expected> = {},
): Expected {
  return { outcome: "failed", exitCode, failure: { kind, retry }, prompts, ...more };
}

/** The model or a filter said no. A field that the provider did not give is empty. */
export function refused(
  refusal: Partial<RefusalInfo>,
  prompts: number | Range,
  more: Partial<Expected> = {},
): Expected {
  return {
    outcome: "refused",
    exitCode: 7,
    refusal: { category: "", explanation: "", recommendedModel: "", ...refusal },
    prompts,
    ...more,
  };
}

/** The turn ended without an answer. */
export function empty(prompts: number, more: Partial<Expected> = {}): Expected {
  return { outcome: "empty", exitCode: 11, prompts, ...more };
}

/** Somebody ended the turn. */
export function cancelled(exitCode: number, more: Partial<Expected> = {}): Expected {
  return { outcome: "cancelled", exitCode, prompts: 1, ...more };
}
