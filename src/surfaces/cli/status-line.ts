/** The one live line at the bottom of a terminal while a turn runs. Pure: state and time in, text out. */
import type { TurnEvent } from "../../acp/events.ts";
import { cleanLine } from "../../errors/redact.ts";

/** No terminal is wider than it matters. */
const MAX_TOOL_CHARS = 300;

export interface StatusState {
  readonly backend: string;
  readonly startedAtMs: number;
  readonly activity:
    | "starting"
    | "waiting"
    | "thinking"
    | "answering"
    | "queued"
    /** The turn is over, its background work is not. */
    | "outlasted"
    /** `runs` once it is known to: a pending call may still have to be allowed. */
    | { readonly tool: string; readonly runs: boolean }
    | { readonly retryAtMs: number }
    /** How it is stopped at once. */
    | { readonly stopping: string };
}

/** What the event says about what is going on now. */
export function statusAfter(state: StatusState, event: TurnEvent, nowMs: number): StatusState {
  if (event.late || isStopping(state)) return state;
  switch (event.type) {
    case "session":
      return { ...state, backend: event.backend, activity: "waiting" };
    case "text":
      return state.activity === "answering" ? state : { ...state, activity: "answering" };
    case "thought":
      return state.activity === "thinking" ? state : { ...state, activity: "thinking" };
    case "tool": {
      const { title, status } = event;
      const isOpen = status === "pending" || status === "in_progress";
      return { ...state, activity: isOpen ? { tool: title, runs: status === "in_progress" } : "waiting" };
    }
    case "permission": {
      const isAllowed = event.answer?.denied === false;
      return { ...state, activity: isAllowed ? { tool: event.request.title, runs: true } : "waiting" };
    }
    case "subagent": {
      if ("event" in event) return state;
      const { state: does, name, task, subagentId } = event;
      return { ...state, activity: does === "running" ? { tool: name ?? task ?? subagentId, runs: true } : "waiting" };
    }
    case "retry":
      return { ...state, activity: { retryAtMs: nowMs + (event.delayMs ?? 0) } };
    default:
      return state;
  }
}

/** While the session is somebody else's, and once it is ours. */
export function statusQueued(state: StatusState, waits: boolean): StatusState {
  return isStopping(state) ? state : { ...state, activity: waits ? "queued" : "starting" };
}

/** The turn is over, and what it left in the background is waited for. */
export function statusOutlasted(state: StatusState): StatusState {
  return isStopping(state) ? state : { ...state, activity: "outlasted" };
}

/** At most `columns - 1` cells wide, so that a terminal never wraps it. */
export function renderStatus(state: StatusState, nowMs: number, columns: number): string {
  const seconds = Math.floor((nowMs - state.startedAtMs) / 1000);
  const elapsed = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return fit(`${state.backend} · ${elapsed} · ${describe(state.activity, nowMs)}`, columns - 1);
}

/** The last thing that is said: what still arrives does not change it. */
function isStopping({ activity }: StatusState): boolean {
  return typeof activity === "object" && "stopping" in activity;
}

function describe(activity: StatusState["activity"], nowMs: number): string {
  if (activity === "queued") return "waits until the session is free";
  if (activity === "outlasted") return "waits for background work";
  if (typeof activity === "string") return activity;
  if ("stopping" in activity) return `stopping; ${activity.stopping}`;
  if ("tool" in activity) return `${activity.runs ? "runs " : ""}${cleanLine(activity.tool, MAX_TOOL_CHARS)}`;
  const seconds = Math.ceil((activity.retryAtMs - nowMs) / 1000);
  return seconds > 0 ? `next try in ${seconds} s` : "tries again";
}

/** Letters outside of ASCII may take two cells; counting each as two is safe everywhere. */
function fit(text: string, cells: number): string {
  let used = 0;
  let fitted = "";
  for (const letter of text) {
    used += letter < "\u{7f}" ? 1 : 2;
    if (used > cells - 1) return `${fitted}…`;
    fitted += letter;
  }
  return fitted;
}
