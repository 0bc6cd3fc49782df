import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DEFAULT_TURN_TIMEOUTS, TurnClocks, nextDeadline } from "../../src/acp/clocks.ts";
import type { ClockName, ClockState } from "../../src/acp/clocks.ts";
import type { TurnTimeouts } from "../../src/acp/types.ts";

const TIMEOUTS: TurnTimeouts = {
  wallMs: 1000,
  idleMs: 100,
  toolMs: 500,
  firstByteMs: 50,
  cancelGraceMs: 5,
};
const BEGUN: ClockState = {
  startedAt: 0,
  attemptStartedAt: 0,
  firstFrameAt: undefined,
  lastFrameAt: 0,
  oldestToolAt: undefined,
  held: false,
};

test.each<{ from: string; state: Partial<ClockState>; timeouts?: Partial<TurnTimeouts>; clock: ClockName; at: number }>(
  [
    { from: "nothing heard yet", state: {}, clock: "first_byte", at: 50 },
    {
      from: "a second attempt has its own first byte",
      state: { attemptStartedAt: 200, lastFrameAt: 200 },
      clock: "first_byte",
      at: 250,
    },
    { from: "something heard", state: { firstFrameAt: 10, lastFrameAt: 30 }, clock: "idle", at: 130 },
    {
      from: "a tool in flight: silence does not count",
      state: { firstFrameAt: 10, lastFrameAt: 30, oldestToolAt: 20 },
      clock: "tool",
      at: 520,
    },
    {
      from: "a tool before the first frame was counted",
      state: { oldestToolAt: 5 },
      clock: "tool",
      at: 505,
    },
    {
      from: "held: a person decides",
      state: { firstFrameAt: 10, lastFrameAt: 30, held: true },
      clock: "wall",
      at: 1000,
    },
    {
      from: "held while a tool runs",
      state: { firstFrameAt: 1, oldestToolAt: 5, held: true },
      clock: "wall",
      at: 1000,
    },
    { from: "held before the first byte", state: { held: true }, clock: "wall", at: 1000 },
    {
      from: "the wall strikes before the idle clock",
      state: { firstFrameAt: 10, lastFrameAt: 950 },
      clock: "wall",
      at: 1000,
    },
    {
      from: "the wall strikes before the tool clock",
      state: { firstFrameAt: 10, lastFrameAt: 900, oldestToolAt: 900 },
      clock: "wall",
      at: 1000,
    },
    {
      from: "the wall counts from the turn, not from the attempt",
      state: { attemptStartedAt: 980, lastFrameAt: 980 },
      clock: "wall",
      at: 1000,
    },
    {
      from: "at the same moment the wall has it",
      state: { firstFrameAt: 1, lastFrameAt: 900 },
      clock: "wall",
      at: 1000,
    },
    {
      from: "a first-byte budget longer than the wall",
      state: {},
      timeouts: { firstByteMs: 5000 },
      clock: "wall",
      at: 1000,
    },
  ],
)("$from: $clock at $at", ({ state, timeouts = {}, clock, at }) => {
  expect(nextDeadline({ ...BEGUN, ...state }, { ...TIMEOUTS, ...timeouts })).toEqual({ clock, at });
});

test("the defaults are those of the product contract, section 3", () => {
  expect(DEFAULT_TURN_TIMEOUTS).toEqual({
    wallMs: 7_200_000,
    idleMs: 300_000,
    toolMs: 3_600_000,
    firstByteMs: 120_000,
    cancelGraceMs: 5000,
  });
});

/** Longer than every clock of a row. */
const ROW_MS = 10_000;

/** Runs clocks until one strikes; `during` is called once they run. */
async function strike(
  timeouts: Partial<TurnTimeouts>,
  during: (clocks: TurnClocks) => void = () => {},
): Promise<ClockName | undefined> {
  let struck: ClockName | undefined;
  during(new TurnClocks({ ...DEFAULT_TURN_TIMEOUTS, ...timeouts }, (clock) => (struck = clock)));
  await vi.advanceTimersByTimeAsync(ROW_MS);
  return struck;
}

describe("as time passes", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => vi.useRealTimers());

  test.each<{ from: string; timeouts: Partial<TurnTimeouts>; during?: (clocks: TurnClocks) => void; clock: ClockName }>(
    [
      { from: "nothing at all", timeouts: { firstByteMs: 20 }, clock: "first_byte" },
      { from: "the wall", timeouts: { wallMs: 20 }, clock: "wall" },
      {
        from: "a frame, then silence",
        timeouts: { firstByteMs: 20, idleMs: 30 },
        during: (clocks) => clocks.frame(),
        clock: "idle",
      },
      {
        from: "a tool that hangs",
        timeouts: { idleMs: 10, firstByteMs: 10, toolMs: 40 },
        during: (clocks) => {
          clocks.frame();
          clocks.toolStarted("t1");
        },
        clock: "tool",
      },
      {
        from: "a tool that ended",
        timeouts: { idleMs: 20, toolMs: 5000 },
        during: (clocks) => {
          clocks.frame();
          clocks.toolStarted("t1");
          clocks.toolEnded("t1");
        },
        clock: "idle",
      },
      {
        from: "a hold stops all but the wall",
        timeouts: { firstByteMs: 10, idleMs: 10, wallMs: 40 },
        during: (clocks) => clocks.hold(),
        clock: "wall",
      },
      {
        from: "two holds, one released twice",
        timeouts: { firstByteMs: 10, idleMs: 10, wallMs: 40 },
        during: (clocks) => {
          const release = clocks.hold();
          clocks.hold();
          release();
          release();
        },
        clock: "wall",
      },
      {
        from: "a released hold starts silence anew",
        timeouts: { firstByteMs: 5000, idleMs: 20 },
        during: (clocks) => {
          const release = clocks.hold();
          clocks.frame();
          release();
        },
        clock: "idle",
      },
      {
        from: "a tool that waited for a person has its whole time left",
        timeouts: { firstByteMs: 5000, idleMs: 5000, toolMs: 100, wallMs: 150 },
        during: (clocks) => {
          clocks.toolStarted("t1");
          setTimeout(clocks.hold(), 110);
        },
        clock: "wall",
      },
      {
        from: "a new attempt forgets the tools of the last",
        timeouts: { firstByteMs: 20, toolMs: 5000 },
        during: (clocks) => {
          clocks.toolStarted("t1");
          clocks.beginAttempt();
        },
        clock: "first_byte",
      },
    ],
  )("$from: $clock", async ({ timeouts, during, clock }) => {
    expect(await strike(timeouts, during)).toBe(clock);
  });

  test("stopped clocks never strike", async () => {
    const struck: ClockName[] = [];
    const clocks = new TurnClocks({ ...DEFAULT_TURN_TIMEOUTS, wallMs: 10 }, (clock) => struck.push(clock));
    clocks.stop();
    await strike({ wallMs: 40 });
    expect(struck).toEqual([]);
  });

  test("what is left of the wall shrinks", () => {
    const clocks = new TurnClocks({ ...DEFAULT_TURN_TIMEOUTS, wallMs: 1000 }, () => {});
    expect(clocks.wallLeftMs).toBeGreaterThan(900);
    expect(clocks.wallLeftMs).toBeLessThanOrEqual(1000);
    expect(clocks.elapsedMs).toBeGreaterThanOrEqual(0);
    clocks.stop();
  });
});
