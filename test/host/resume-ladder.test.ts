import { describe, expect, test } from "vitest";
import type { Failure, FailureKind } from "../../src/errors/failure.ts";
import { KINDS } from "../../src/errors/kinds.ts";
import { climb, decideStep } from "../../src/host/resume-ladder.ts";
import type { LadderStep, Refusal, ReopenCapabilities, ReopenWay } from "../../src/host/resume-ladder.ts";

const BOTH: ReopenCapabilities = { load: true, resume: true };
const LOAD: ReopenCapabilities = { load: true, resume: false };
const RESUME: ReopenCapabilities = { load: false, resume: true };
const NONE: ReopenCapabilities = { load: false, resume: false };

function failure(kind: FailureKind, title: string = kind): Failure {
  const { retry } = KINDS[kind];
  return {
    id: "s1:start",
    revision: 1,
    kind,
    source: "rpc_error",
    category: "unknown",
    severity: "error",
    title,
    actions: [],
    retry,
    transient: retry !== "never",
    replaySafety: "not_sent",
    rule: "test",
  };
}

const refused = (via: ReopenWay, kind: FailureKind, ownerAlive?: boolean): Refusal => ({
  via,
  failure: failure(kind),
  ownerAlive,
});
const again = (via: ReopenWay, afterMs = 0, respawn = false): LadderStep => ({ do: "reopen", via, afterMs, respawn });

describe("the next rung", () => {
  test.each<{ from: string; can: ReopenCapabilities; refusals: readonly Refusal[]; step: object }>([
    { from: "load comes first", can: BOTH, refusals: [], step: again("load") },
    { from: "case C21: load not advertised but resume is", can: RESUME, refusals: [], step: again("resume") },
    {
      from: "nothing is advertised",
      can: NONE,
      refusals: [],
      step: { do: "open_new", why: "the agent cannot reopen a session", respawn: false },
    },
    {
      from: "case C21: not found, the other method is advertised",
      can: BOTH,
      refusals: [refused("load", "session_not_found")],
      step: again("resume"),
    },
    {
      from: "case C21: not found both ways",
      can: BOTH,
      refusals: [refused("load", "session_not_found"), refused("resume", "session_not_found")],
      step: { do: "open_new", why: "session_not_found", respawn: false },
    },
    {
      from: "case C21: not found, no other method",
      can: LOAD,
      refusals: [refused("load", "session_not_found")],
      step: { do: "open_new", why: "session_not_found", respawn: false },
    },
    {
      from: "case C21: the owner is alive",
      can: BOTH,
      refusals: [refused("load", "busy", true)],
      step: { do: "give_up" },
    },
    {
      from: "case C21: the owner is dead, second try",
      can: BOTH,
      refusals: [refused("load", "busy", false)],
      step: again("load", 1000),
    },
    {
      from: "case C21: the owner is unknown, third and fourth try",
      can: BOTH,
      refusals: [refused("load", "busy"), refused("load", "busy")],
      step: again("load", 2000),
    },
    {
      from: "case C21: the owner is dead, fourth try",
      can: LOAD,
      refusals: [refused("load", "busy", false), refused("load", "busy", false), refused("load", "busy", false)],
      step: again("load", 4000),
    },
    {
      from: "case C21: the owner is dead, four tries are over",
      can: LOAD,
      refusals: [1, 2, 3, 4].map(() => refused("load", "busy", false)),
      step: { do: "open_new", why: "busy", respawn: false },
    },
    {
      from: "case C21: the owner came back to life between two tries",
      can: LOAD,
      refusals: [refused("load", "busy", false), refused("load", "busy", true)],
      step: { do: "give_up" },
    },
    {
      from: "case C21: a bare internal error is an owner that nobody knows",
      can: LOAD,
      refusals: [refused("load", "unknown")],
      step: again("load", 1000),
    },
    { from: "case C21: a load that hangs", can: BOTH, refusals: [refused("load", "timeout")], step: { do: "give_up" } },
    {
      from: "kiro wire notes, section 6: the process ends instead of answering",
      can: LOAD,
      refusals: [refused("load", "agent_died")],
      step: again("load", 0, true),
    },
    {
      from: "kiro wire notes, section 6: and once more",
      can: LOAD,
      refusals: [refused("load", "agent_died"), refused("load", "agent_died")],
      step: { do: "open_new", why: "agent_died", respawn: true },
    },
    {
      from: "a service that is down says nothing about the session",
      can: LOAD,
      refusals: [1, 2, 3, 4].map(() => refused("load", "overloaded")),
      step: { do: "give_up" },
    },
    {
      from: "a login that is missing",
      can: BOTH,
      refusals: [refused("load", "auth")],
      step: { do: "give_up" },
    },
    {
      from: "advertised, then not known",
      can: BOTH,
      refusals: [refused("load", "request_rejected")],
      step: again("resume"),
    },
  ])("$from", ({ can, refusals, step }) => {
    expect(decideStep(can, refusals)).toMatchObject(step);
  });

  test.each(Object.keys(KINDS))("a refusal of kind %s always comes to an end", (kind) => {
    const refusals: Refusal[] = [];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table are the kinds
    const end = endOf(kind as FailureKind, refusals);
    expect(["open_new", "give_up"]).toContain(end.do);
    expect(refusals.length).toBeLessThanOrEqual(8);
  });
});

function endOf(kind: FailureKind, refusals: Refusal[]): LadderStep {
  for (;;) {
    const step = decideStep(BOTH, refusals);
    if (step.do !== "reopen" || refusals.length > 20) return step;
    refusals.push(refused(step.via, kind));
  }
}

function rungs(answers: readonly (FailureKind | "ok")[], log: string[], signal?: AbortSignal) {
  let n = 0;
  return {
    can: () => BOTH,
    reopen: async (via: ReopenWay) => {
      log.push(via);
      const answer = answers[n++] ?? "ok";
      if (answer !== "ok") throw new Error(answer, { cause: failure(answer, `says ${answer}`) });
      return "old";
    },
    open: async () => {
      log.push("new");
      return "new";
    },
    respawn: async () => void log.push("respawn"),
    readRefusal: (error: unknown, via: ReopenWay): Refusal | undefined =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- thrown by reopen above
      ({ via, failure: (error as Error).cause as Failure }),
    signal,
    waitsMs: [1, 1, 1],
  };
}

describe("climbing", () => {
  test.each<{ from: string; answers: readonly (FailureKind | "ok")[]; log: readonly string[]; ends: object }>([
    { from: "at once", answers: ["ok"], log: ["load"], ends: { session: "old" } },
    {
      from: "the other way",
      answers: ["session_not_found", "ok"],
      log: ["load", "resume"],
      ends: { session: "old" },
    },
    {
      from: "not at all",
      answers: ["session_not_found", "session_not_found"],
      log: ["load", "resume", "new"],
      ends: {
        session: "new",
        contextLost:
          "Context was lost, this is a new session: the earlier one could not be reopened (says session_not_found)",
      },
    },
    {
      from: "a dead owner that lets go at last",
      answers: ["busy", "busy", "busy", "ok"],
      log: ["load", "load", "load", "load"],
      ends: { session: "old" },
    },
    {
      from: "a process that ends twice",
      answers: ["agent_died", "agent_died"],
      log: ["load", "respawn", "load", "respawn", "new"],
      ends: {
        session: "new",
        contextLost: "Context was lost, this is a new session: the earlier one could not be reopened (says agent_died)",
      },
    },
  ])("$from", async ({ answers, log, ends }) => {
    const seen: string[] = [];
    const climbed = await climb(rungs(answers, seen));
    expect(climbed).toEqual(ends);
    expect(seen).toEqual(log);
  });

  test("a session that must be left alone is not replaced", async () => {
    const log: string[] = [];
    await expect(climb(rungs(["auth"], log))).rejects.toThrow("auth");
    expect(log).toEqual(["load"]);
  });

  test("a stop ends the wait", async () => {
    const controller = new AbortController();
    const log: string[] = [];
    const climbing = climb({ ...rungs(["busy"], log, controller.signal), waitsMs: [60_000] });
    await Promise.resolve();
    controller.abort(new Error("stopped"));
    await expect(climbing).rejects.toThrow("stopped");
    expect(log).toEqual(["load"]);
  });
});
