/** A log may be read as often as one likes: what is journaled stays as it is, and what was lost is found again. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Failure } from "../../../src/errors/failure.ts";
import { IncidentFold } from "../../../src/failures/incidents/fold.ts";
import { scrubEntry } from "../../../src/failures/log/scrub-entry.ts";
import { Observer } from "../../../src/failures/observation/observer.ts";
import type { Incident, JournalEvent } from "../../../src/failures/records.ts";
import type { RunEntry, RunLine } from "../../../src/failures/run-lines.ts";
import { TOKENS } from "../../errors/secrets.ts";
import { recordedLines, recordingNames } from "./recorded-lines.ts";
import { CWD, RUN_ID, SESSION, WatchedRun } from "./watched-run.ts";

const RUNS = { numRuns: 80 };
const HOME = "/home/jane/project";
const COMMANDS = ["npm test", `curl -H "Authorization: Bearer ${TOKENS["anthropic"]}"`, `cd ${HOME} && make`];
const SESSIONS = [SESSION, "child"];
const CALLS = ["a", "b", "c"];

type Step = (run: WatchedRun) => void;

const call = fc.constantFrom(...CALLS);
const session = fc.constantFrom(...SESSIONS);
const command = fc.constantFrom(...COMMANDS);
const intent = fc.record(
  {
    operationId: fc.constantFrom("u", null),
    attemptId: fc.constantFrom("one", "two"),
    expectedExitCodes: fc.constantFrom([1], []),
    env: fc.constant([{ name: "TOKEN", value: TOKENS["github"] }]),
    cwd: fc.constantFrom(HOME, "relative"),
  },
  { requiredKeys: [] },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(call, command, intent, session).map(
      ([id, text, more, where]): Step =>
        (run) =>
          run.start(id, text, more, where),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(call, fc.constantFrom(0, 0, 1, 2), session).map(
      ([id, code, where]): Step =>
        (run) =>
          run.end(id, code, where),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(call, fc.constantFrom("failed", "completed", "cancelled", "refused"), session).map(
      ([id, status, where]): Step =>
        (run) =>
          run.ended(id, { status }, where),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(call, fc.constantFrom("allow_once", "reject_once", "cancelled")).map(
      ([id, answer]): Step =>
        (run) =>
          run.permission(id, answer),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Step>((run) => run.prompt()) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.integer({ min: 102, max: 108 }), fc.constantFrom("end_turn", "cancelled")).map(
      ([id, stopReason]): Step =>
        (run) =>
          run.answer(id, { stopReason }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Step>((run) => run.out({ method: "session/cancel", params: { sessionId: SESSION } })),
  },
  { weight: 1, arbitrary: fc.constant<Step>((run) => run.line({ d: "err", text: "time goes on" }, 6000)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("completed", "failed", "empty", "cancelled").map(
      (outcome): Step =>
        (run) =>
          run.turn(`t${run.lines.length}`, outcome),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom("session_failure", "rpc_error", "timeout"), fc.integer({ min: 1, max: 3 })).map(
      ([source, revision]): Step =>
        (run) =>
          judged(run, { source, revision }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (expected): Step =>
        (run) =>
          restart(run, expected),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(call, command, intent).map(
      ([callId, text, more]): Step =>
        (run) =>
          runCall(run, callId, text, more),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(call, fc.constantFrom(0, 1, null)).map(([callId, exitCode]): Step => (run) => {
      const end = { exitCode, signal: null, timedOut: false, cancelled: false };
      run.event({ type: "call", state: "ended", callId, tool: "run", ...end });
    }),
  },
);

const logs = fc.tuple(fc.array(step, { minLength: 5, maxLength: 60 }), fc.boolean(), fc.boolean());

describe("a log that is read again", () => {
  test("changes nothing", () => {
    fc.assert(
      fc.property(logs, ([steps, trusted, air]) => {
        const run = played(steps, trusted, air);
        const before = run.incidents;
        const accepted = readAgain(run.lines, trusted, foldOf(run.events)).filter(({ wasNew }) => wasNew);
        expect(accepted).toEqual([]);
        expect(run.incidents).toEqual(before);
      }),
      RUNS,
    );
  });

  test("after a crash gives what the run would have given, from whichever record on the journal was lost", () => {
    fc.assert(
      fc.property(logs, fc.double({ min: 0, max: 1, noNaN: true }), ([steps, trusted, air], cut) => {
        const run = played(steps, trusted, air);
        const kept = run.events.slice(0, Math.floor(run.events.length * cut));
        const fold = foldOf(kept);
        readAgain(run.lines, trusted, fold);
        expect([...fold.state.incidents.values()].map(shown)).toEqual(run.incidents.map(shown));
      }),
      RUNS,
    );
  });

  test("without its secrets gives the same as the live frames", () => {
    fc.assert(
      fc.property(logs, ([steps, trusted, air]) => {
        const run = played(steps, trusted, air);
        const fold = new IncidentFold();
        readAgain(run.lines.map(scrubbed), trusted, fold);
        expect([...fold.state.incidents.values()].map(shown)).toEqual(run.incidents.map(shown));
        const written = JSON.stringify(run.events);
        for (const secret of Object.values(TOKENS)) expect(written).not.toContain(secret);
        expect(written).not.toContain("/home/jane");
      }),
      RUNS,
    );
  });
});

test("an observer that begins late tells a new failure of an old id from the old one", () => {
  const run = new WatchedRun();
  run.start("call_1", "npm test");
  run.end("call_1", 1);
  const before = run.lines.length;
  const fold = foldOf(run.events);
  // The next process of Ostler did not read the log again, and the agent counts its calls anew.
  run.event({ type: "started", n: 1, pid: 43, cwd: CWD, resumed: true });
  run.start("call_1", "npm test");
  run.end("call_1", 1);
  const told = readAgain(run.lines.slice(before), false, fold);
  expect(told.map(({ event, wasNew }) => [event.id, wasNew])).toEqual([[run.failures[1]?.id, true]]);
  expect([...fold.state.incidents.values()].map(shown)).toEqual(run.incidents.map(shown));
});

test("recordings read again, scrubbed: nothing new", () => {
  for (const name of recordingNames()) {
    const fold = new IncidentFold();
    readAgain(recordedLines(name), false, fold);
    const again = readAgain(recordedLines(name).map(scrubbed), false, fold).filter(({ wasNew }) => wasNew);
    expect([name, again]).toEqual([name, []]);
  }
});

function played(steps: readonly Step[], trusted: boolean, air: boolean): WatchedRun {
  const run = new WatchedRun({ trusted, air });
  for (const play of steps) play(run);
  run.take(run.observer.runOver());
  return run;
}

function foldOf(events: readonly JournalEvent[]): IncidentFold {
  const fold = new IncidentFold();
  for (const event of events) fold.apply({ event, observedAt: 0 });
  return fold;
}

function readAgain(lines: readonly RunLine[], trusted: boolean, fold: IncidentFold) {
  const observer = new Observer({ runId: RUN_ID, conversationId: "conversation-1", trusted });
  const told: { readonly event: JournalEvent; readonly wasNew: boolean }[] = [];
  const take = (events: readonly JournalEvent[]): void => {
    for (const event of events) told.push({ event, wasNew: fold.apply({ event, observedAt: 0 }) });
  };
  for (const line of lines) take(observer.observe(line, line.n * 1000, fold.state));
  take(observer.runOver());
  return told;
}

/** As it stands in the file. */
function scrubbed(line: RunLine): RunLine {
  const { t, n, ...entry } = line;
  const written: RunEntry = JSON.parse(`{${scrubEntry(entry).json}`);
  return { ...written, t, n };
}

/** Without what depends on when the journal was written. */
function shown({ id, operation, status, category, summary, occurrences, strikes, attempt }: Incident) {
  return { id, operation, status, category, summary, occurrences, strikes, attempt };
}

function judged(run: WatchedRun, { source, revision }: Pick<Failure, "source" | "revision">): void {
  const rest = { category: "service", severity: "error", title: "It broke", actions: [], retry: "never" } as const;
  const judgement = { kind: "service_error", transient: false, replaySafety: "unknown", rule: "test" } as const;
  const failure: Failure = { id: "t1:error", revision, source, ...rest, ...judgement };
  run.event({ type: "failure", failure, sessionId: SESSION, turnId: "t1" });
}

function restart(run: WatchedRun, expected: boolean): void {
  run.event({ type: "exited", n: 1, code: 1, signal: null, expected });
  run.event({ type: "started", n: 1, pid: 43, cwd: HOME });
}

function runCall(run: WatchedRun, callId: string, command: string, more: object): void {
  const input = { command, cwd: HOME, ...more };
  const refused = { by: "intent", reason: "it breaks a rule", attemptId: "one" } as const;
  const isRefused = JSON.stringify(more).includes("[]");
  if (isRefused) run.event({ type: "call", state: "refused", callId, tool: "run", input, ...refused });
  else run.event({ type: "call", state: "started", callId, tool: "run", input });
}
