/**
 * Compactions of the context, told as one kind of event whichever form the agent has for them: updates of ACP's session
 * compaction, a tool call that stands for one (seed document 002, Context compaction), or a status of its own (kiro).
 */
import { readAirField } from "./air/namespace.ts";
import type { Compaction, TurnEventBody } from "./events.ts";
import { isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { num, str } from "./normalize.ts";

/** What an agent without ids says of the compaction that it is at (kiro). */
export type CompactionStatus = Omit<Compaction, "compactionId">;

const CONTRACT_VERSION = 1;
const MAX_COMPACTIONS = 100;
const MAX_ID_CHARS = 256;
const MAX_SUMMARY_CHARS = 256 * 1024;
const MAX_ERROR_CHARS = 16 * 1024;

const STATES: ReadonlyMap<unknown, Compaction["state"]> = new Map([
  ["pending", "running"],
  ["in_progress", "running"],
  ["completed", "completed"],
  ["failed", "failed"],
  ["cancelled", "cancelled"],
]);
/** `auto` is Claude Code's own word; `idle` = the adapter compacts between prompts by itself (claude-agent-acp 0.101). */
const TRIGGERS: ReadonlyMap<unknown, NonNullable<Compaction["trigger"]>> = new Map([
  ["manual", "manual"],
  ["automatic", "automatic"],
  ["auto", "automatic"],
  ["idle", "automatic"],
]);
/** The tool call shows its error in `content` too. */
const SHOWN_ERROR = /^Compaction failed: /;

type Facts = Partial<CompactionStatus>;

/** One compaction as far as it is known. */
interface Known {
  compaction: Compaction;
  /** Pieces of the summary, for as long as no whole one came. */
  streamed: string;
  /** It was told. */
  isTold: boolean;
}

export class Compactions {
  readonly #known = new Map<string, Known>();
  /** Tool calls that stand for a compaction. */
  readonly #calls = new Set<string>();
  #statuses = 0;

  /** A `compaction_update` or `compaction_summary_chunk`. The summary is told whole, with the end. */
  apply(update: Frame): TurnEventBody[] {
    const id = readId(update["compactionId"]);
    if (id === undefined) return [];
    if (update["sessionUpdate"] === "compaction_summary_chunk") {
      const known = this.#knownAs(id);
      known.streamed = (known.streamed + textOf(update["content"])).slice(0, MAX_SUMMARY_CHARS);
      return [];
    }
    const error = str(update["error"]);
    const summary = Array.isArray(update["summary"]) ? update["summary"].map(textOf).join("") : "";
    return this.#merge(id, {
      ...readFacts(readAirField(update["_meta"], "contextCompaction")),
      ...readState(update["status"]),
      ...(error === undefined ? {} : { error }),
      ...(summary === "" ? {} : { summary }),
    });
  }

  /**
   * A tool call that stands for a compaction; undefined = it is a tool call. `isMarked`: the backend knows it by another
   * sign than that of AIR. A call that names an input or a place does something and is told as one, whatever it is marked.
   */
  ofCall(update: Frame, isMarked: boolean): TurnEventBody[] | undefined {
    const id = readId(update["toolCallId"]);
    if (id === undefined) return undefined;
    const air = readFacts(readAirField(update["_meta"], "contextCompaction"));
    if (!this.#calls.has(id)) {
      if ((air === undefined && !isMarked) || acts(update)) return undefined;
      this.#calls.add(id);
    }
    const content = Array.isArray(update["content"]) ? update["content"] : [];
    const shown = content.map((block) => (isObject(block) ? textOf(block["content"]) : "")).join("");
    const isFailed = update["status"] === "failed" && shown !== "";
    return this.#merge(id, {
      ...(isFailed ? { error: shown.replace(SHOWN_ERROR, "") } : {}),
      ...readOwnFacts(update["rawOutput"]),
      ...air,
      ...readState(update["status"]),
    });
  }

  /** Whether an update is of a tool call that stands for a compaction. */
  isCall(update: Frame): boolean {
    const { toolCallId } = update;
    return typeof toolCallId === "string" && this.#calls.has(toolCallId);
  }

  /** The next state of the compaction that runs, or of a new one. */
  ofStatus(status: CompactionStatus): TurnEventBody[] {
    const running = this.#known.get(`compaction-${this.#statuses}`);
    if (running?.compaction.state !== "running") this.#statuses += 1;
    return this.#merge(`compaction-${this.#statuses}`, status);
  }

  #knownAs(id: string): Known {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const created: Known = { compaction: { compactionId: id, state: "running" }, streamed: "", isTold: false };
    this.#known.set(id, created);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_COMPACTIONS && oldest !== undefined) {
      this.#known.delete(oldest);
      this.#calls.delete(oldest);
    }
    return created;
  }

  /** The event, whole; none when nothing changed. What has ended does not run again. */
  #merge(id: string, facts: Facts): TurnEventBody[] {
    const known = this.#knownAs(id);
    const before = known.compaction;
    const state = facts.state === "running" && before.state !== "running" ? before.state : facts.state;
    const streamed = state === "completed" && known.streamed !== "" ? { summary: known.streamed } : {};
    const after: Compaction = { ...before, ...streamed, ...bounded(facts), ...(state === undefined ? {} : { state }) };
    if (known.isTold && JSON.stringify(after) === JSON.stringify(before)) return [];
    known.compaction = after;
    known.isTold = true;
    if (after.summary !== undefined) known.streamed = "";
    return [{ type: "compaction", ...after }];
  }
}

function readId(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARS ? value : undefined;
}

function readState(status: unknown): Facts {
  const state = STATES.get(status);
  return state === undefined ? {} : { state };
}

/** The facts of AIR; undefined when there are none that this version reads. */
function readFacts(value: unknown): Facts | undefined {
  return isObject(value) && value["version"] === CONTRACT_VERSION ? readOwnFacts(value) : undefined;
}

/** The plain client finds the same facts in `rawOutput` (recording claude-agent-acp 0.101.0 compact-ok). */
function readOwnFacts(value: unknown): Facts {
  if (!isObject(value)) return {};
  const trigger = TRIGGERS.get(value["trigger"]);
  const preTokens = count(value["preTokens"]);
  const postTokens = count(value["postTokens"]);
  const durationMs = count(value["durationMs"]);
  const error = str(value["error"]);
  return {
    ...(trigger === undefined ? {} : { trigger }),
    ...(preTokens === undefined ? {} : { preTokens }),
    ...(postTokens === undefined ? {} : { postTokens }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(error === undefined ? {} : { error }),
  };
}

function bounded(facts: Facts): Facts {
  const { error, summary } = facts;
  return {
    ...facts,
    ...(error === undefined ? {} : { error: error.slice(0, MAX_ERROR_CHARS) }),
    ...(summary === undefined ? {} : { summary: summary.slice(0, MAX_SUMMARY_CHARS) }),
  };
}

function count(value: unknown): number | undefined {
  const number = num(value);
  return number !== undefined && number >= 0 ? number : undefined;
}

function textOf(block: unknown): string {
  return isObject(block) ? (str(block["text"]) ?? "") : "";
}

function acts({ rawInput, locations }: Frame): boolean {
  const hasInput = isObject(rawInput) ? Object.keys(rawInput).length > 0 : rawInput != null;
  return hasInput || (Array.isArray(locations) && locations.length > 0);
}
