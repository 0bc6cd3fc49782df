/** Mode, model and options of a session before its first prompt, as they were asked for or as the backend needs them. */
import { DeadlineExceeded, RpcError } from "./connection.ts";
import { startError } from "./death.ts";
import { plainVerdict } from "./make-failure.ts";
import { knownModels, modeSetting, modelSetting, optionSetting } from "./negotiate.ts";
import type { SessionInfo, Setting } from "./negotiate.ts";
import type { OpenContext, OpenSessionOptions } from "./open-session.ts";
import type { Backend } from "./ports.ts";
import { toStartError } from "./start-error.ts";

/** A control request that only changes something, in milliseconds. */
export const SETTING_MS = 30_000;

/** Sets what differs; the notes say what could not be set. Throws the typed error of a setting that was asked for. */
export async function applySettings(
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

async function set(context: OpenContext, sessionId: string, { method, params }: Setting): Promise<void> {
  try {
    await context.connection.request(method, { sessionId, ...params }, { deadlineMs: SETTING_MS });
  } catch (error) {
    throw toStartError(error, context, method);
  }
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
