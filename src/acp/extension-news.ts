/**
 * Notifications outside ACP as events of a session: words that the agent repeats are told once, and of a list that it
 * sends whole only what changed.
 */
import type { Compactions } from "./compactions.ts";
import type { SubagentState, TurnEventBody } from "./events.ts";
import type { ExtensionReading } from "./ports.ts";

const MAX_TOLD = 1000;
const MAX_SUBAGENTS = 1000;

/** One line of an agent's list of its subagents. */
export interface RosterRow {
  readonly subagentId: string;
  readonly name?: string;
  readonly task?: string;
  readonly state: SubagentState;
}

export class ExtensionNews {
  readonly #compactions: Compactions;
  readonly #told = new Set<string>();
  /** Subagents that run, by the list. */
  readonly #running = new Map<string, RosterRow>();

  constructor(compactions: Compactions) {
    this.#compactions = compactions;
  }

  events({ events = [], once = [], compaction, roster }: ExtensionReading): readonly TurnEventBody[] {
    if (once.length === 0 && compaction === undefined && roster === undefined) return events;
    return [
      ...events,
      ...once.flatMap(({ key, text }) => this.#once(key, text)),
      ...(compaction === undefined ? [] : this.#compactions.ofStatus(compaction)),
      ...(roster === undefined ? [] : this.#changes(roster)),
    ];
  }

  #once(key: string, text: string): TurnEventBody[] {
    if (this.#told.has(key) || this.#told.size >= MAX_TOLD) return [];
    this.#told.add(key);
    return [{ type: "notice", from: "adapter", text }];
  }

  /** A subagent that is no longer on the list has ended. */
  #changes(rows: readonly RosterRow[]): TurnEventBody[] {
    const listed = new Set(rows.map(({ subagentId }) => subagentId));
    const gone = [...this.#running.values()].filter(({ subagentId }) => !listed.has(subagentId));
    const news = rows.filter(({ subagentId, state }) => (state === "running") !== this.#running.has(subagentId));
    const changed = [...news, ...gone.map((row): RosterRow => ({ ...row, state: "completed" }))];
    return changed.flatMap((row): TurnEventBody[] => {
      if (row.state !== "running") this.#running.delete(row.subagentId);
      else if (this.#running.size < MAX_SUBAGENTS) this.#running.set(row.subagentId, row);
      else return [];
      return [{ type: "subagent", ...row }];
    });
  }
}
