/** Why a runtime is gone, told once and given to everything that waited for it. */
import { classifyStderr } from "../errors/classify.ts";
import type { AcpError } from "../errors/acp-error.ts";
import type { AcpRuntimeError } from "../errors/runtime-error.ts";
import type { FailureKind, FailureSource, Profile } from "../errors/failure.ts";
import { cleanBlock, cleanLine } from "../errors/redact.ts";
import { toError } from "../errors/typed.ts";
import type { ErrorDetails } from "../errors/typed.ts";
import type { Verdict } from "../errors/verdict.ts";
import type { ExitFact } from "./child.ts";
import { DeadlineExceeded } from "./connection.ts";
import { makeFailure, plainVerdict } from "./make-failure.ts";
import type { Ending } from "./outcome.ts";

/** Shown to people: one line of stderr (bridge semantics, section 9). The whole tail goes into the details. */
const LAST_LINE_CHARS = 200;
const TAIL_CHARS = 4000;
/** Stack frames, Node's last words, and the diary that claude-agent-acp keeps of every session (recordings). */
const NOISE_LINE = /^(?:\s+at |Node\.js v\d|\s*\^+\s*$|\[(?:session\/\w+|idle-compaction|authStatus)\] )/;
const ERROR_LINE = /^(?:\w{0,40}Error|error|fatal|panic)\b/i;

/** The process or its pipe is gone. Rejects what was pending on the connection. */
export class RuntimeGone extends Error {
  readonly verdict: Verdict;
  readonly source: FailureSource;
  readonly title: string;
  readonly details: string;
  readonly exit: ExitFact | null;

  constructor(facts: {
    verdict: Verdict;
    source: FailureSource;
    title: string;
    details?: string;
    exit?: ExitFact | null;
  }) {
    super(facts.title);
    this.name = "RuntimeGone";
    this.verdict = facts.verdict;
    this.source = facts.source;
    this.title = facts.title;
    this.details = facts.details ?? "";
    this.exit = facts.exit ?? null;
  }
}

/** What an exit means: the reason stands in stderr, the fact in the code (kiro wire notes, section 13). */
export function goneByExit(
  label: string,
  exit: ExitFact | null,
  stderr: string,
  profile: Profile,
  during: FailureKind,
): RuntimeGone {
  const verdict = classifyStderr(stderr, { profile }) ?? plainVerdict(during, "exit");
  const last = lastLine(stderr);
  const title = `${label} ${describeExit(exit)}${last === "" ? "" : `: ${last}`}`;
  return new RuntimeGone({ verdict, source: "exit", title, details: cleanBlock(stderr, TAIL_CHARS, "end"), exit });
}

/** How a rejected prompt ended when the agent did not answer it itself. */
export function endingOf(error: Error, lastHeard: string): Ending {
  if (error instanceof RuntimeGone) {
    const { verdict, source, title, details } = error;
    return { type: "fact", verdict, source, title, details, cause: error };
  }
  if (error instanceof DeadlineExceeded) {
    const title = `${error.message}; last heard: ${lastHeard}`;
    return {
      type: "fact",
      verdict: plainVerdict("timeout", "request-deadline"),
      source: "timeout",
      title,
      cause: error,
    };
  }
  throw error;
}

/** A failure outside any turn, as the class that `createRuntime` and `openSession` throw. */
export function startError(
  facts: { verdict: Verdict; source: FailureSource; title: string; details?: string },
  cause: unknown,
  more: Omit<ErrorDetails, "cause"> = {},
): AcpError | AcpRuntimeError {
  const failure = makeFailure({ ...facts, id: "start:error", revision: 1, replaySafety: "not_sent" });
  return toError(failure, { cause, ...more, ...exitOf(cause) });
}

/** How the process ended, where that is what went wrong. */
export function exitOf(cause: unknown): Pick<ErrorDetails, "exitCode" | "signal"> {
  const exit = cause instanceof RuntimeGone ? cause.exit : null;
  return exit === null ? {} : { exitCode: exit.code, signal: exit.signal };
}

function describeExit(exit: ExitFact | null): string {
  if (exit === null) return "closed its output and went on running";
  return exit.signal === null ? `exited with code ${exit.code ?? "unknown"}` : `was killed by ${exit.signal}`;
}

/** The line that says why: the last one that names an error, else the last one. Node ends a crash with its version. */
function lastLine(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !NOISE_LINE.test(line));
  return cleanLine(lines.findLast((line) => ERROR_LINE.test(line)) ?? lines.at(-1) ?? "", LAST_LINE_CHARS);
}
