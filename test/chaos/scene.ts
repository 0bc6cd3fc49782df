/**
 * A scene: agents, what they do, what happens to them meanwhile, and how each turn may end. Plain data, drawn from the
 * seed and the number of the scene alone, so that one can be played again by itself.
 */
import type { TurnTimeouts } from "../../src/acp/types.ts";
import type { Action, Scenario } from "../fixtures/agents/scenario.ts";
import { chunk, err, reply } from "../fixtures/agents/scenario.ts";
import { drawAgentTurn, endlessTurn } from "./agent-turn.ts";
import type { AgentTurn, Ending } from "./agent-turn.ts";
import { drawGrandchild } from "./pieces.ts";
import type { PieceBox } from "./pieces.ts";
import { Random } from "./random.ts";

/** `early`: before the prompt. `same tick`: directly after it. */
export type Moment =
  | "early"
  | "same tick"
  /** Milliseconds after the prompt, or after the start of the CLI. */
  | { readonly afterMs: number }
  /** When so many events were read, or with the first output of the CLI. */
  | { readonly afterEvents: number };

export type Victim = "agent" | "launcher" | "grandchild" | "ostler";

export type Disturbance =
  | { readonly what: "nothing" }
  /** By the signal or by `cancel()`; a second one follows after so many milliseconds. SIGINT or SIGTERM for the CLI. */
  | { readonly what: "cancel"; readonly by: "signal" | "call"; readonly at: Moment; readonly againMs?: number }
  | { readonly what: "kill"; readonly victim: Victim; readonly at: Moment }
  /** The owner of the runtime stops it, or kills it. */
  | { readonly what: "stop" | "end"; readonly at: Moment }
  /** The reader of stdout leaves. */
  | { readonly what: "leave"; readonly at: Moment };

/** What becomes of the events of a turn. */
export type Reader = "reads" | "leaves" | "never";

export interface TurnPlan {
  readonly prompt: string;
  readonly agent: AgentTurn;
  readonly retries: number;
  readonly timeouts: TurnTimeouts;
  readonly disturbance: Disturbance;
  readonly reader: Reader;
}

/** How the agent's process begins, and what it shrugs off. */
export interface Start {
  readonly story: string;
  readonly launcher: "none" | "leaves" | "waits";
  readonly scenario: Scenario;
  /** The process never gets as far as a session: how every turn ends. */
  readonly endings: readonly Ending[] | undefined;
  readonly handshakeMs: number;
  readonly sessionMs: number;
}

export interface Scene {
  readonly number: number;
  readonly layer: "library" | "cli" | "conversation";
  readonly start: Start;
  /** The turns of each session, one after the other; the sessions run side by side. */
  readonly sessions: readonly (readonly TurnPlan[])[];
  /** Of the CLI. */
  readonly format: "ndjson" | "json" | "text";
  /** Of the runs in one conversation: how long after the one before each begins, and whether it is willing to wait. */
  readonly queue: readonly { readonly gapMs: number; readonly noWait: boolean }[];
}

/** Of the agents; short enough for one write to break it. */
export const LINE_BYTES = 262_144;
/** Deadlines of an agent that is not expected to miss one, on a machine that does other things as well. */
const PATIENT: TurnTimeouts = {
  wallMs: 30_000,
  firstByteMs: 30_000,
  idleMs: 30_000,
  toolMs: 30_000,
  cancelGraceMs: 5000,
};

const TURNS_PER_SESSION = { library: [1, 3], cli: [1, 1], conversation: [3, 5] } as const;

/** The scene of that number. */
export function drawScene(seed: number, number: number): Scene {
  const random = new Random(seed, number);
  const layer = random.weighted([
    [5, "library"],
    [4, "cli"],
    [2, "conversation"],
  ] as const);
  let ids = 0;
  const boxFor = (tag: string): PieceBox => ({ random, tag, newId: () => `${tag}.${(ids += 1)}` });
  const sessions =
    layer !== "library"
      ? 1
      : random.weighted([
          [3, 1],
          [2, 2],
          [1, 3],
        ] as const);
  const [fewest, most] = TURNS_PER_SESSION[layer];
  const turns = random.int(fewest, most);
  const plans = Array.from({ length: sessions }, (_, session) =>
    Array.from({ length: turns }, (_turn, turn) =>
      drawTurn(boxFor(`c${seed}-${number}-${session}-${turn}`), { layer, isAlone: sessions === 1 }),
    ),
  );
  const prompts = Object.fromEntries(plans.flat().map(({ prompt, agent }) => [prompt, agent.tries]));
  return {
    number,
    layer,
    start: drawStart(boxFor(`c${seed}-${number}`), prompts, layer),
    sessions: plans,
    queue: plans.flat().map(() => ({ gapMs: random.int(0, 600), noWait: random.chance(0.15) })),
    format: random.weighted([
      [4, "ndjson"],
      // Says nothing before the end, where a queue goes on when it has heard something.
      [layer === "conversation" ? 0 : 1, "json"],
      [1, "text"],
    ] as const),
  };
}

function drawTurn(box: PieceBox, { layer, isAlone }: { layer: Scene["layer"]; isAlone: boolean }): TurnPlan {
  const { random } = box;
  const retries = random.int(0, layer === "library" ? 2 : 1);
  const drawn = layer === "library" ? disturbLibrary(random) : disturbCli(random);
  const isCut = layer === "conversation" && drawn.what === "kill" && drawn.victim === "ostler";
  // A turn without an end says no more than its beginning.
  const at = random.chance(0.7) ? { afterEvents: 1 } : { afterMs: random.int(100, 3000) };
  const disturbance = isCut ? { ...drawn, at } : drawn;
  const agent = isCut ? endlessTurn(box) : drawFitting(box, retries, isAlone);
  const graceMs = random.int(100, 500);
  const impatient: TurnTimeouts = {
    wallMs: random.int(600, 2000),
    firstByteMs: random.int(100, 800),
    idleMs: random.int(100, 800),
    toolMs: random.int(100, 800),
    cancelGraceMs: graceMs,
  };
  const timeouts = agent.silent && !isCut ? impatient : PATIENT;
  return {
    prompt: box.tag,
    agent,
    retries,
    timeouts: disturbance.what === "nothing" ? timeouts : { ...timeouts, cancelGraceMs: graceMs },
    disturbance,
    reader:
      layer === "cli"
        ? "reads"
        : random.weighted([
            [6, "reads"],
            [1, "leaves"],
            [1, "never"],
          ] as const),
  };
}

function drawFitting(box: PieceBox, retries: number, isAlone: boolean): AgentTurn {
  const agent = drawAgentTurn(box, retries);
  return agent.alone && !isAlone ? drawFitting(box, retries, isAlone) : agent;
}

function drawMoment(random: Random, withinMs: number): Moment {
  return random.weighted<Moment>([
    [3, { afterMs: random.int(0, withinMs) }],
    [2, { afterEvents: random.int(1, 6) }],
  ]);
}

function disturbLibrary(random: Random): Disturbance {
  const at = drawMoment(random, 150);
  const by = random.pick(["signal", "call"] as const);
  const again = random.chance(0.4) ? { againMs: random.int(0, 60) } : {};
  return random.weighted<Disturbance>([
    [10, { what: "nothing" }],
    [1, { what: "cancel", by: "signal", at: "early" }],
    [2, { what: "cancel", by, at: "same tick", ...again }],
    [4, { what: "cancel", by, at, ...again }],
    [2, { what: "kill", victim: "agent", at }],
    [1, { what: "kill", victim: "launcher", at }],
    [1, { what: "kill", victim: "grandchild", at }],
    [1, { what: "stop", at }],
    [1, { what: "end", at }],
  ]);
}

function disturbCli(random: Random): Disturbance {
  const at = drawMoment(random, 700);
  const by = random.pick(["signal", "call"] as const);
  const again = random.chance(0.4) ? { againMs: random.int(0, 100) } : {};
  return random.weighted<Disturbance>([
    [5, { what: "nothing" }],
    [5, { what: "kill", victim: "ostler", at }],
    [4, { what: "cancel", by, at, ...again }],
    [2, { what: "kill", victim: "agent", at }],
    [1, { what: "kill", victim: "launcher", at }],
    [1, { what: "kill", victim: "grandchild", at }],
    [2, { what: "leave", at }],
  ]);
}

function drawStart(box: PieceBox, prompts: NonNullable<Scenario["prompts"]>, layer: Scene["layer"]): Start {
  const { random } = box;
  const traits: Action[] = [];
  const story: string[] = [];
  const has = (probability: number, name: string, ...actions: readonly Action[]): void => {
    if (!random.chance(probability)) return;
    traits.push(...actions);
    story.push(name);
  };
  has(0.15, "deaf to TERM", { ignoreSignals: ["SIGTERM"] });
  has(layer === "conversation" ? 0.5 : 0.15, "ignores the end of stdin", { ignoreStdinEnd: true });
  has(0.1, "noisy", { raw: "Welcome!\n\n[1]\n", times: random.int(1, 200) });
  has(0.1, "stderr", { stderr: `${"e".repeat(1023)}\n`, times: random.int(1, 300) });
  const grandchild = drawGrandchild(box);
  has(0.25, grandchild.name, ...grandchild.actions);
  const launcher = drawLauncher(random, JSON.stringify(prompts));
  if (launcher !== "none") story.push(`behind a launcher that ${launcher}`);
  const broken = random.chance(0.06) ? drawBrokenStart(random) : undefined;
  if (broken !== undefined) story.push(broken.story);
  return {
    story: story.join(", "),
    launcher,
    scenario: {
      ...(layer === "conversation" ? drawLoading(random) : {}),
      ...broken?.scenario,
      start: [...traits, ...(broken?.scenario.start ?? [])],
      prompts,
    },
    endings: broken?.endings,
    handshakeMs: broken?.handshakeMs ?? PATIENT.wallMs,
    sessionMs: broken?.sessionMs ?? PATIENT.wallMs,
  };
}

/** How the agent gets back to a session: not at all, as it should, with what was said before, or with an error. */
function drawLoading(random: Random): Scenario {
  if (random.chance(0.25)) return {};
  const load = random.pick<readonly Action[]>([
    [reply({})],
    [chunk("said before"), reply({})],
    [err(-32002, "Session not found")],
  ]);
  return { initializeResult: { agentCapabilities: { loadSession: true } }, on: { "session/load": [load] } };
}

/** Not one that would hide the end of the agent: by its own exit, or by its own copy of the agent's stdout. */
function drawLauncher(random: Random, prompts: string): Start["launcher"] {
  return random.weighted<Start["launcher"]>([
    [6, "none"],
    [prompts.includes("keepsStdout") ? 0 : 1, "leaves"],
    [prompts.includes("closeStdout") ? 0 : 1, "waits"],
  ]);
}

/** An agent with which no turn is possible. */
interface BrokenStart {
  readonly story: string;
  readonly scenario: Scenario;
  readonly endings: readonly Ending[];
  readonly handshakeMs?: number;
  readonly sessionMs?: number;
}

const breaks = (story: string, ending: Ending, scenario: Scenario): BrokenStart => ({
  story,
  scenario,
  endings: [ending],
});
const at = (method: string, ...actions: readonly Action[]): Scenario => ({ on: { [method]: [actions] } });

function drawBrokenStart(random: Random): BrokenStart {
  return random.pick([
    breaks("dies on start", "failed/agent_spawn", { start: [{ exit: 4 }] }),
    breaks("dies at initialize", "failed/agent_spawn", at("initialize", { exit: 3 })),
    breaks("wrong version", "failed/protocol", { initializeResult: { protocolVersion: 99 } }),
    breaks("session without an id", "failed/protocol", at("session/new", reply({}))),
    breaks("dies while it opens a session", "failed/agent_died", at("session/new", { kill: "SIGKILL" })),
    breaks("refuses a session", "failed/usage_limit", at("session/new", err(-32603, "HTTP 402"))),
    { ...breaks("never shakes hands", "failed/protocol", at("initialize")), handshakeMs: random.int(200, 900) },
    { ...breaks("opens no session", "failed/timeout", at("session/new")), sessionMs: random.int(200, 900) },
  ]);
}
