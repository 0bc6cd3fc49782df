/**
 * Months of use in small: many turns through one supervisor, over agents that answer, fail, are cancelled, ignore that,
 * and die. Looks at what the process holds whenever nothing runs.
 */
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Backend } from "../src/acp/ports.ts";
import type { RuntimeSpec } from "../src/acp/runtime-binding.ts";
import { createRuntime } from "../src/acp/runtime.ts";
import { createSupervisor } from "../src/acp/supervisor.ts";
import type { Supervisor } from "../src/acp/supervisor.ts";
import { backendFor } from "../src/backends/registry.ts";
import { heldWhenQuiet } from "../test/chaos/held.ts";
import type { Held } from "../test/chaos/held.ts";
import type { Action, Scenario } from "../test/fixtures/agents/scenario.ts";
import {
  agentCommand,
  chunk,
  end,
  err,
  permission,
  tool,
  toolUpdate,
  waitFor,
  waitForAnswer,
} from "../test/fixtures/agents/scenario.ts";

/** What the process holds after a garbage collection. */
export interface Look extends Held {
  /** Turns so far. */
  readonly turns: number;
  readonly residentMib: number;
  readonly heapMib: number;
}

export interface Soaked {
  /** Once before the first agent, after every `lookEvery` turns, and once when all agents have ended. */
  readonly looks: readonly Look[];
  /** How many turns ended how. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Agents that were started. */
  readonly starts: number;
}

const AGENTS = 4;
const LANES_PER_AGENT = 3;
const MAX_TURNS_PER_SESSION = 15;
const KEEP_ALIVE_MS = 600_000;
const CANCEL_GRACE_MS = 50;

/** What an agent does with a prompt of this text, and how often in 200 turns it is asked to. */
const TURNS: readonly (readonly [often: number, prompt: string, actions: readonly Action[]])[] = [
  [100, "answers", [chunk("works"), chunk(" well"), end()]],
  [40, "uses a tool", [tool("t1"), toolUpdate("t1", { status: "completed" }), chunk("works"), end()]],
  [20, "talks", [{ ...chunk("x".repeat(1000)), times: 100 }, end()]],
  [10, "asks", [tool("t2"), permission("t2", { id: "p" }), waitForAnswer("p"), end()]],
  [10, "fails", [err(-32603, "HTTP 402")]],
  [8, "is overloaded", [err(-32603, "HTTP 503")]],
  [6, "is cancelled", [chunk("…"), waitFor("session/cancel"), end("cancelled")]],
  [3, "ends empty", [end()]],
  [2, "ignores the cancel", [chunk("…"), { wait: { responseTo: "never" } }]],
  [1, "dies", [chunk("…"), { exit: 3 }]],
];
/** 200 turns, those of each kind spread evenly. */
const PATTERN: readonly string[] = TURNS.flatMap(([often, prompt]) =>
  Array.from({ length: often }, (_, nth) => ({ prompt, at: (nth + 0.5) / often })),
)
  .sort((one, other) => one.at - other.at)
  .map(({ prompt }) => prompt);

/** Runs `turns` turns and looks every `lookEvery`. Linux only. */
export async function soak({ turns, lookEvery }: { turns: number; lookEvery: number }): Promise<Soaked> {
  const outcomes = new Map<string, number>();
  let starts = 0;
  const supervisor = createSupervisor({
    start: ({ backend, binding }, signal) => {
      starts += 1;
      return createRuntime({ backend, ...binding, permissions: refuse, signal });
    },
    // The agents die because they are told to: nobody waits for the next one.
    intensity: { burst: Infinity, periodMs: 1, baseDelayMs: 0 },
    keepAliveMs: KEEP_ALIVE_MS,
  });
  const specs = Array.from({ length: AGENTS }, (_, index) => specOf(index));
  const looks = [await look(0)];
  let next = 0;
  for (let done = 0; done < turns; done += lookEvery) {
    let left = lookEvery;
    const takePrompt = (): string | undefined => (left-- > 0 ? PATTERN[next++ % PATTERN.length] : undefined);
    const lanes = specs.flatMap((spec) => Array.from({ length: LANES_PER_AGENT }, () => spec));
    await Promise.all(
      lanes.map((spec) =>
        runLane(supervisor, spec, takePrompt, (kind) => outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1)),
      ),
    );
    // One that died last is started again, so that every look sees as many.
    await Promise.all(specs.map(async (spec) => (await supervisor.acquire(spec)).release()));
    looks.push(await look(done + lookEvery));
  }
  await supervisor.stop();
  looks.push(await look(turns));
  return { looks, outcomes, starts };
}

const refuse = async () => ({ action: "select", optionId: "r", denied: true }) as const;

function specOf(index: number): RuntimeSpec {
  const scenario: Scenario = { prompts: Object.fromEntries(TURNS.map(([, prompt, actions]) => [prompt, [actions]])) };
  const backend: Backend = { ...backendFor(`soak-${index}`), sessionsPerRuntime: Infinity };
  const env = { PATH: process.env["PATH"] ?? "" };
  return {
    backend,
    program: backend.id,
    binding: { command: agentCommand(scenario), cwd: process.cwd(), env, approval: "reads" },
  };
}

/** Sessions, one after the other, until no prompt is left. */
async function runLane(
  supervisor: Supervisor,
  spec: RuntimeSpec,
  takePrompt: () => string | undefined,
  ended: (kind: string) => void,
): Promise<void> {
  let prompt = takePrompt();
  while (prompt !== undefined) {
    await using lease = await supervisor.acquire(spec);
    const session = await lease.runtime.openSession({ cwd: spec.binding.cwd }).catch(() => undefined);
    // Another session's turn killed the agent meanwhile.
    if (session === undefined) continue;
    for (let turn = 0; turn < MAX_TURNS_PER_SESSION && prompt !== undefined; turn += 1) {
      const running = session.prompt(prompt, {
        retries: 1,
        backoffMs: 1,
        timeouts: { cancelGraceMs: CANCEL_GRACE_MS },
      });
      for await (const event of running.events)
        if (event.type === "text" && prompt.includes("cancel")) running.cancel();
      ended((await running.outcome).kind);
      prompt = takePrompt();
      if (session.retired || lease.runtime.state === "dead") break;
    }
    await session.close();
  }
}

const BYTES_PER_MIB = 1024 * 1024;
let collect: (() => void) | undefined;

async function look(turns: number): Promise<Look> {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc");
  }
  const held = await heldWhenQuiet();
  collect?.();
  const [, pages = "0"] = readFileSync("/proc/self/statm", "utf8").split(" ");
  return {
    ...held,
    turns,
    residentMib: (Number(pages) * 4096) / BYTES_PER_MIB,
    heapMib: process.memoryUsage().heapUsed / BYTES_PER_MIB,
  };
}
