/** Opens a session and puts it into the state that was asked for, before the first prompt. */
import { classifyError } from "../errors/classify.ts";
import { KINDS } from "../errors/kinds.ts";
import { readRawError } from "../errors/raw.ts";
import type { Verdict } from "../errors/verdict.ts";
import type { Connection } from "./connection.ts";
import { DeadlineExceeded, RpcError } from "./connection.ts";
import { RuntimeGone, startError } from "./death.ts";
import { plainVerdict } from "./make-failure.ts";
import { knownModels, modeSetting, modelSetting, optionSetting, readSessionInfo } from "./negotiate.ts";
import type { SessionInfo, Setting } from "./negotiate.ts";
import { isObject } from "./frames.ts";
import { str } from "./normalize.ts";
import type { Approval, Backend, EnvLogin } from "./ports.ts";
import type { SessionSetup } from "./session.ts";
import { requireAskingMode } from "./tool-gate.ts";

export interface OpenSessionOptions {
  /** Absolute path. */
  readonly cwd: string;
  readonly model?: string;
  readonly mode?: string;
  readonly configOptions?: Readonly<Record<string, string>>;
  /** In ACP's form. */
  readonly mcpServers?: readonly unknown[];
  /** Absolute paths besides `cwd`. */
  readonly additionalDirectories?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface OpenContext {
  readonly backend: Backend;
  readonly connection: Connection;
  readonly approval: Approval;
  /** Refuse a mode in which the agent does not ask. */
  readonly gate: "required" | undefined;
  readonly sessionMs: number;
  /** What to try once when the agent says that a login is missing. */
  readonly login: EnvLogin | undefined;
}

/** A control request that only changes a setting. */
const SETTING_MS = 30_000;
const INVALID_PARAMS = -32602;
const AUTH_REQUIRED = -32000;

/**
 * Throws the typed error of whatever went wrong, the reason of the signal at whatever step it aborts; a session that
 * opens after its deadline is closed again.
 */
export function setUpSession(options: OpenSessionOptions, context: OpenContext): Promise<SessionSetup> {
  return abortable(openAndSet(options, context), options.signal);
}

async function openAndSet(options: OpenSessionOptions, context: OpenContext): Promise<SessionSetup> {
  const { backend, connection, approval, sessionMs } = context;
  if (context.gate === "required" && options.mode !== undefined) requireAskingMode(backend, options.mode);
  const meta = backend.sessionMeta(approval);
  const params = {
    cwd: options.cwd,
    mcpServers: options.mcpServers ?? [],
    ...(options.additionalDirectories?.length ? { additionalDirectories: options.additionalDirectories } : {}),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
  const closeLate = (result: unknown): void => {
    const id = isObject(result) ? str(result["sessionId"]) : undefined;
    if (id !== undefined)
      void connection.request("session/close", { sessionId: id }, { deadlineMs: SETTING_MS }).catch(() => {});
  };
  const open = (): Promise<unknown> =>
    connection.request("session/new", params, { deadlineMs: sessionMs, onLate: closeLate });
  const { result, signedIn } = await attempt(context, "session/new", () => openSignedIn(open, context));
  if (options.signal?.aborted === true) {
    closeLate(result);
    throw options.signal.reason;
  }
  const answer = isObject(result) ? result : {};
  const id = str(answer["sessionId"]);
  if (id === undefined) {
    throw startError(
      {
        verdict: plainVerdict("protocol", "no-session-id"),
        source: "framing",
        title: `${backend.label} opened a session without an id`,
      },
      undefined,
    );
  }
  const info = readSessionInfo(answer);
  const { notes, mode } = await applySettings(id, info, options, context);
  if (context.gate === "required") {
    try {
      requireAskingMode(backend, mode ?? info.modes?.current);
    } catch (error) {
      closeLate(result);
      throw error;
    }
  }
  if (signedIn !== undefined) notes.unshift(signedIn);
  return {
    id,
    notes,
    modes: info.modes === undefined ? undefined : { ...info.modes, current: mode ?? info.modes.current },
    models: knownModels(info),
    model: options.model ?? info.currentModel,
  };
}

/** Opens a session; when a login is missing and the environment has one, signs in and opens again. */
async function openSignedIn(
  open: () => Promise<unknown>,
  { connection, login }: OpenContext,
): Promise<{ readonly result: unknown; readonly signedIn?: string }> {
  try {
    return { result: await open() };
  } catch (error) {
    if (login === undefined || !(error instanceof RpcError) || error.code !== AUTH_REQUIRED) throw error;
    try {
      await connection.request("authenticate", { methodId: login.methodId }, { deadlineMs: SETTING_MS });
      return { result: await open(), signedIn: login.note };
    } catch {
      // Codex with a config.toml that it cannot read asks for a login too, and no login helps: that is what to say.
      throw error;
    }
  }
}

async function applySettings(
  sessionId: string,
  info: SessionInfo,
  options: OpenSessionOptions,
  context: OpenContext,
): Promise<{ readonly notes: string[]; readonly mode: string | undefined }> {
  const notes: string[] = [];
  let mode = options.mode;
  const { backend, approval } = context;
  const asking = options.mode === undefined ? backend.modeToSet(info.modes, approval) : undefined;
  if (options.mode !== undefined) {
    checkMode(options.mode, info, backend);
    await set(context, sessionId, modeSetting(options.mode));
    if (backend.modeAsks(options.mode) === false) {
      notes.push(
        `Mode "${options.mode}" lets ${backend.label} act without asking: Ostler's permissions do not apply to what it allows itself`,
      );
    }
  } else if (asking !== undefined) {
    const failed = await trySet(context, sessionId, modeSetting(asking));
    if (!failed) mode = asking;
    else
      notes.push(
        `${backend.label} could not be put into mode "${asking}", which asks before it acts: it may act without asking`,
      );
  }
  if (options.model !== undefined) await setModel(context, sessionId, info, options.model);
  for (const [key, value] of Object.entries(options.configOptions ?? {}))
    await set(context, sessionId, optionSetting(key, value));
  return { notes, mode };
}

/** An empty list means the session has no modes; an absent one means nobody knows, so the harness decides. */
function checkMode(mode: string, info: SessionInfo, backend: Backend): void {
  const { modes } = info;
  if (modes === undefined || modes.available.includes(mode)) return;
  const list = modes.available.length === 0 ? "it has no modes" : `it has ${modes.available.join(", ")}`;
  throw startError(
    {
      verdict: plainVerdict("configuration", "mode-unknown"),
      source: "rpc_error",
      title: `${backend.label} has no mode "${mode}": ${list}`,
    },
    undefined,
  );
}

async function setModel(context: OpenContext, sessionId: string, info: SessionInfo, model: string): Promise<void> {
  const known = knownModels(info);
  if (known.length > 0 && !known.includes(model)) {
    const title = `${context.backend.label} has no model "${model}" for this account: it has ${known.slice(0, 8).join(", ")}${known.length > 8 ? ` and ${known.length - 8} more` : ""}`;
    throw startError(
      { verdict: plainVerdict("model_unavailable", "model-not-advertised"), source: "rpc_error", title },
      undefined,
      { advertised: known, modelId: model },
    );
  }
  await set(context, sessionId, modelSetting(info, model));
}

function set(context: OpenContext, sessionId: string, { method, params }: Setting): Promise<unknown> {
  return attempt(context, method, () =>
    context.connection.request(method, { sessionId, ...params }, { deadlineMs: SETTING_MS }),
  );
}

/** True when the harness refused; a dead process is still thrown. */
async function trySet(context: OpenContext, sessionId: string, { method, params }: Setting): Promise<boolean> {
  try {
    await context.connection.request(method, { sessionId, ...params }, { deadlineMs: SETTING_MS });
    return false;
  } catch (error) {
    if (error instanceof RpcError || error instanceof DeadlineExceeded) return true;
    throw toStartError(error, context, method);
  }
}

async function attempt<T>(context: OpenContext, method: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw toStartError(error, context, method);
  }
}

/** Whatever stopped a start, as the class that the library throws. */
export function toStartError(error: unknown, { backend }: Pick<OpenContext, "backend">, method: string): unknown {
  if (error instanceof RuntimeGone) return startError(error, error, { method });
  if (error instanceof DeadlineExceeded) {
    const isHandshake = method === "initialize";
    const verdict = plainVerdict(isHandshake ? "protocol" : "timeout", "request-deadline");
    const title = isHandshake
      ? `${backend.label} did not speak ACP within ${error.budgetMs / 1000} s`
      : `${backend.label}: ${error.message}`;
    return startError({ verdict, source: "timeout", title }, error, { method, budgetMs: error.budgetMs });
  }
  if (!(error instanceof RpcError)) return error;
  const raw = readRawError(error);
  const verdict = classifyError(raw, { profile: backend.profile });
  return startError({ verdict: startVerdict(verdict, error, method), source: "rpc_error", title: raw.text }, error);
}

/**
 * A reason that no row knows, or a complaint about our own parameters, means that no session can be had: the harness
 * cannot be used as it is (recordings protocol-errors), which is not an unknown turn.
 */
function startVerdict(verdict: Verdict, error: RpcError, method: string): Verdict {
  const { retry, needs } = KINDS.agent_spawn;
  const opens = method === "initialize" || method === "session/new";
  const unexplained =
    verdict.kind === "unknown" || (verdict.kind === "request_rejected" && error.code === INVALID_PARAMS);
  if (!opens || !unexplained) return verdict;
  return { ...verdict, kind: "agent_spawn", retry, ...(needs === undefined ? {} : { needs }) };
}

async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
