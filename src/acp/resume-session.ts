/** Gets back to a session of an earlier process: `session/load` or `session/resume` (kiro wire notes, section 6). */
import { startError } from "./death.ts";
import { plainVerdict } from "./make-failure.ts";
import { abortable } from "./abort.ts";
import {
  claimId,
  closeLateSession,
  openParams,
  prepareSession,
  readOpenedId,
  requireGate,
  signedIn,
} from "./open-session.ts";
import type { AgentCapabilities } from "./negotiate.ts";
import type { OpenContext, OpenSessionOptions } from "./open-session.ts";
import { GoalState } from "./air/goal.ts";
import { namePlanFile } from "./air/plan-file.ts";
import type { Frame } from "./frames.ts";
import { isObject } from "./frames.ts";
import type { Backend } from "./ports.ts";
import type { SessionListener } from "./session-feed.ts";
import type { SessionSetup } from "./session-link.ts";
import { UpdateReader } from "./update-reader.ts";

/** A session of an earlier process, and how to get back to it. */
export interface ResumeSessionOptions extends OpenSessionOptions {
  readonly sessionId: string;
  readonly via: "load" | "resume";
}

/** Hears the params of a frame of a session that is being reopened. */
export type ReplayListener = (params: Frame) => void;

/** Sends every frame of that session to `onFrame` and nowhere else, until the function that it returns is called. */
export type WatchReplay = (sessionId: string, onFrame: ReplayListener) => () => void;

/** A history may be long, but not endless: so many times the budget of one answer. */
const CAP_BUDGETS = 10;
const OTHER_ID = "The agent reopened the session under another id";
/** A pid as agents name the owner: `(PID 26121)`, `(owner pid 1920787, liveness verdict: live)`. */
const OWNER_PID = /\b(?:owner )?pid[ :=#]{1,2}(\d{1,10})\b/i;

/**
 * Reopens a session and prepares it as a new one. Throws the typed error: its kind says what to try next
 * (`session_not_found`, `busy`, `timeout`, `agent_died`). The budget of the answer starts anew with every frame of the
 * replay, up to ten times; the replay itself goes nowhere.
 */
export function setUpResumedSession(
  options: ResumeSessionOptions,
  context: OpenContext,
  watch: WatchReplay,
): Promise<SessionSetup> {
  return abortable(reopenAndSet(options, context, watch), options.signal);
}

async function reopenAndSet(
  options: ResumeSessionOptions,
  context: OpenContext,
  watch: WatchReplay,
): Promise<SessionSetup> {
  const { backend, approval, capabilities, env } = context;
  const { sessionId, via } = options;
  if (!capabilities[via]) {
    const title = `${backend.label} cannot ${via} a session`;
    throw startError({ verdict: plainVerdict("request_rejected", `no-${via}`), source: "rpc_error", title }, undefined);
  }
  requireGate(options, context);
  const meta = { ...backend.sessionMeta(approval, context.gate), ...backend.loadMeta(sessionId, env) };
  const params = { sessionId, ...openParams(options, Object.keys(meta).length === 0 ? undefined : meta) };
  let replayedFrames = 0;
  const { onEvent } = options;
  const tell = onEvent === undefined ? undefined : tellReplay(backend, capabilities, onEvent);
  const goal = new GoalState();
  const onFrame: ReplayListener = (frame) => {
    replayedFrames += 1;
    if (isObject(frame["update"])) goal.apply(frame["update"]);
    tell?.(frame);
  };
  const request: Reopening = { sessionId, method: `session/${via}`, params, onFrame };
  const { result, notes } = await signedIn(context, request.method, () => reopen(request, context, watch));
  // kiro V3 and the protocol itself answer without an id.
  const id = readOpenedId(result) ?? sessionId;
  claimId(id, context);
  const told = id === sessionId ? notes : [...notes, OTHER_ID];
  return { ...(await prepareSession(id, result, told, options, context)), replayedFrames, goal: goal.current };
}

interface Reopening {
  readonly sessionId: string;
  readonly method: string;
  readonly params: object;
  /** Called for every frame of the replay. */
  readonly onFrame: ReplayListener;
}

function reopen(request: Reopening, context: OpenContext, watch: WatchReplay): Promise<unknown> {
  const { sessionId, method, params, onFrame } = request;
  const { connection, sessionMs } = context;
  const options = {
    deadlineMs: sessionMs,
    capMs: CAP_BUDGETS * sessionMs,
    onLate: () => closeLateSession(sessionId, context),
  };
  return new Promise((resolve, reject) => {
    const deadline: { extend?: () => void } = {};
    const endWatch = watch(sessionId, (frame) => {
      onFrame(frame);
      deadline.extend?.();
    });
    deadline.extend = connection.send(method, params, options, (answer) => {
      endWatch();
      if ("error" in answer) reject(answer.error);
      else resolve(answer.result);
    });
  });
}

/** What the agent repeats, as events that say so; a reader of its own, because nothing of it is evidence for what comes. */
function tellReplay(backend: Backend, { air }: AgentCapabilities, onEvent: SessionListener): ReplayListener {
  const reader = new UpdateReader(backend, { profile: backend.profile, advertisedModels: [] });
  if (air.capabilities.has("planFile")) reader.plans.readFile = namePlanFile;
  return ({ update }) => {
    const events = isObject(update) ? reader.readAll(update) : [];
    for (const event of events) onEvent({ turnId: null, replayed: true, event });
  };
}

/** The pid of the process that an agent's error names as the owner of a session. */
export function readOwnerPid(text: string): number | undefined {
  const pid = OWNER_PID.exec(text)?.[1];
  return pid === undefined ? undefined : Number(pid);
}
