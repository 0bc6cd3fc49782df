/** Opens a session and puts it into the state that was asked for, before the first prompt. */
import { RpcError } from "./connection.ts";
import { abortable } from "./abort.ts";
import type { Connection } from "./connection.ts";
import { startError } from "./death.ts";
import { isObject } from "./frames.ts";
import { plainVerdict } from "./make-failure.ts";
import type { AgentCapabilities } from "./negotiate.ts";
import { str } from "./normalize.ts";
import type { Approval, Backend, EnvLogin, FailureSink, PermissionPolicy } from "./ports.ts";
import type { AskQuestion } from "./questions.ts";
import type { SessionListener } from "./session-feed.ts";
import { knownModels, readSessionInfo } from "./session-info.ts";
import { SETTING_MS, applySettings } from "./session-settings.ts";
import type { SessionSetup } from "./session-link.ts";
import { toStartError } from "./start-error.ts";
import { requireAskingMode } from "./tool-gate.ts";

export interface OpenSessionOptions {
  /** Absolute path: the folder that the runtime was started for. */
  readonly cwd: string;
  readonly model?: string;
  readonly mode?: string;
  readonly configOptions?: Readonly<Record<string, string>>;
  /** In ACP's form. */
  readonly mcpServers?: readonly unknown[];
  /** Absolute paths besides `cwd`. */
  readonly additionalDirectories?: readonly string[];
  readonly signal?: AbortSignal;
  /** Decides for this session instead of the runtime's. */
  readonly permissions?: PermissionPolicy;
  /** Asks a person for this session instead of the runtime's, which must have been given one. */
  readonly questions?: AskQuestion;
  /** Told of this session's failures instead of the runtime's. */
  readonly sink?: FailureSink;
  /** Hears everything the session tells, from the replay of an earlier process on. Must not throw. */
  readonly onEvent?: SessionListener;
  /** Sentences that the first turn tells the person before its own. */
  readonly notes?: readonly string[];
}

/** What opening a session needs to know of its runtime. */
export interface OpenContext {
  readonly backend: Backend;
  readonly connection: Connection;
  readonly capabilities: AgentCapabilities;
  /** Environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly approval: Approval;
  /** Refuse a mode in which the agent does not ask. */
  readonly gate: "required" | undefined;
  readonly sessionMs: number;
  /** What to try once when the agent says that a login is missing. */
  readonly login: EnvLogin | undefined;
  /** Takes the id that the agent gave the session; false = it is that of another one, which stays as it is. */
  readonly claim: (sessionId: string) => boolean;
}

const AUTH_REQUIRED = -32000;
/** Nobody waits for the end of a session longer than this, in milliseconds. */
const CLOSE_MS = 5000;

/**
 * Throws the typed error of whatever went wrong, the reason of the signal at whatever step it aborts; a session that
 * opens after its deadline is closed again.
 */
export function setUpSession(options: OpenSessionOptions, context: OpenContext): Promise<SessionSetup> {
  return abortable(openAndSet(options, context), options.signal);
}

async function openAndSet(options: OpenSessionOptions, context: OpenContext): Promise<SessionSetup> {
  const { backend, connection, approval, sessionMs } = context;
  requireGate(options, context);
  const closeLate = (result: unknown): void => closeLateSession(readOpenedId(result), context);
  const params = openParams(options, backend.sessionMeta(approval, context.gate));
  const { result, notes } = await signedIn(context, "session/new", () =>
    connection.request("session/new", params, { deadlineMs: sessionMs, onLate: closeLate }),
  );
  const id = readOpenedId(result);
  if (id !== undefined) {
    claimId(id, context);
    return await prepareSession(id, result, notes, options, context);
  }
  const title = `${backend.label} opened a session without an id`;
  throw startError({ verdict: plainVerdict("protocol", "no-session-id"), source: "framing", title }, undefined);
}

/** A mode that does not ask is refused before anything is opened. */
export function requireGate(options: OpenSessionOptions, { gate, backend }: OpenContext): void {
  if (gate === "required" && options.mode !== undefined) requireAskingMode(backend, options.mode);
}

/** What `session/new`, `session/load` and `session/resume` take alike. */
export function openParams(options: OpenSessionOptions, meta: Readonly<Record<string, unknown>> | undefined): object {
  return {
    cwd: options.cwd,
    mcpServers: options.mcpServers ?? [],
    ...(options.additionalDirectories?.length ? { additionalDirectories: options.additionalDirectories } : {}),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/** From the answer that opened a session to one that may be prompted. What cannot be had so is closed again. */
export async function prepareSession(
  id: string,
  result: unknown,
  notes: readonly string[],
  options: OpenSessionOptions,
  context: OpenContext,
): Promise<SessionSetup> {
  try {
    options.signal?.throwIfAborted();
    const info = readSessionInfo(isObject(result) ? result : {});
    const set = await applySettings(id, info, options, context);
    if (context.gate === "required") requireAskingMode(context.backend, set.mode ?? info.modes?.current);
    options.signal?.throwIfAborted();
    const { modes, currentModel } = set.info;
    return {
      id,
      notes: [...(options.notes ?? []), ...notes, ...set.notes],
      modes: modes === undefined ? undefined : { ...modes, current: set.mode ?? modes.current },
      models: knownModels(set.info),
      model: set.model ?? currentModel,
      info: set.info,
    };
  } catch (error) {
    void closeSession(id, context);
    throw error;
  }
}

/** Ends a session in the agent where the agent has a request for it; its record stays. Never throws, bounded. */
export async function closeSession(
  sessionId: string | undefined,
  { backend, capabilities, connection }: Pick<OpenContext, "backend" | "capabilities" | "connection">,
): Promise<void> {
  const request = sessionId === undefined ? undefined : backend.closeRequest(sessionId, capabilities);
  if (request === undefined) return;
  await connection.request(request.method, request.params, { deadlineMs: CLOSE_MS }).catch(() => {});
}

/** Opens a session; when a login is missing and the environment has one, signs in and opens again. */
export async function signedIn(
  context: OpenContext,
  method: string,
  open: () => Promise<unknown>,
): Promise<{ readonly result: unknown; readonly notes: readonly string[] }> {
  const { connection, login } = context;
  try {
    return { result: await open(), notes: [] };
  } catch (error) {
    const failed = toStartError(error, context, method);
    if (login === undefined || !(error instanceof RpcError) || error.code !== AUTH_REQUIRED) throw failed;
    try {
      await connection.request("authenticate", { methodId: login.methodId }, { deadlineMs: SETTING_MS });
      return { result: await open(), notes: [login.note] };
    } catch {
      // Codex with a config.toml that it cannot read asks for a login too, and no login helps: that is what to say.
      throw failed;
    }
  }
}

/** The id in the answer that opened a session; an empty one is none. */
export function readOpenedId(result: unknown): string | undefined {
  return (isObject(result) ? str(result["sessionId"]) : undefined) || undefined;
}

/** Throws the typed error of an agent that opens two sessions under one id. */
export function claimId(id: string, { backend, claim }: OpenContext): void {
  if (claim(id)) return;
  const title = `${backend.label} opened a session under the id of another one that is in use: ${id}`;
  throw startError({ verdict: plainVerdict("protocol", "session-id-taken"), source: "framing", title }, undefined);
}

/** Closes a session that opened when nobody waited for it any more, unless the id is by now that of another one. */
export function closeLateSession(id: string | undefined, context: OpenContext): void {
  if (id !== undefined && context.claim(id)) void closeSession(id, context);
}
