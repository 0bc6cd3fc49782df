/** Mode, model and options of a session before its first prompt, as they were asked for or as the backend needs them. */
import { nearestName } from "../errors/nearest-name.ts";
import { DeadlineExceeded, METHOD_NOT_FOUND, RpcError } from "./connection.ts";
import { startError } from "./death.ts";
import { plainVerdict } from "./make-failure.ts";
import { modeSetting, modelSetting, optionSetting } from "./negotiate.ts";
import type { Setting } from "./negotiate.ts";
import type { OpenContext, OpenSessionOptions } from "./open-session.ts";
import type { Backend } from "./ports.ts";
import { knownModels, modeOption, modelOption, withNewOptions } from "./session-info.ts";
import type { SessionInfo } from "./session-info.ts";
import { toStartError } from "./start-error.ts";

/** A control request that only changes something, in milliseconds. */
export const SETTING_MS = 30_000;
/** How many values a sentence lists. */
const MAX_LISTED = 8;

/** A session that is set as it was asked for. */
export interface AppliedSettings {
  /** What could not be set, and what its mode means. */
  readonly notes: readonly string[];
  /** Undefined when the agent's own was left. */
  readonly mode: string | undefined;
  readonly model: string | undefined;
  /** What the session offers now: another model may have other options. */
  readonly info: SessionInfo;
}

/** Sets what differs. Throws the typed error of a setting that was asked for. */
export async function applySettings(
  sessionId: string,
  opened: SessionInfo,
  options: OpenSessionOptions,
  context: OpenContext,
): Promise<AppliedSettings> {
  const { backend } = context;
  const notes: string[] = [];
  let info = opened;
  let { mode, model } = options;
  const change = async (setting: Setting, what: string): Promise<void> => {
    const before = info;
    info = withNewOptions(info, await set(context, sessionId, setting, what));
    // Another model may not have the mode that was set.
    if (info !== before) mode = info.modes?.current ?? mode;
  };
  if (mode !== undefined) {
    checkMode(mode, info, backend);
    notes.push(...modeNotes(mode, backend));
    await change(modeSetting(mode), "mode");
  } else {
    const asking = await setAskingMode(sessionId, info, context);
    mode = asking.mode;
    notes.push(...asking.notes);
  }
  if (model !== undefined) {
    checkModel(model, info, backend);
    await change(modelSetting(info, model), "model");
  }
  for (const [id, value] of Object.entries(options.configOptions ?? {})) {
    checkOption(id, value, info, backend);
    if (id === modelOption(info.options)?.id) model = value;
    if (id === (modeOption(info.options)?.id ?? "mode")) {
      mode = value;
      notes.push(...modeNotes(value, backend));
    }
    await change(optionSetting(id, value), `option "${id}"`);
  }
  return { notes, mode, model, info };
}

/** The mode that the backend wants before the first prompt; an agent that refuses it is said to act unasked. */
async function setAskingMode(
  sessionId: string,
  { modes }: SessionInfo,
  context: OpenContext,
): Promise<Pick<AppliedSettings, "mode" | "notes">> {
  const { backend, approval } = context;
  const asking = backend.modeToSet(modes, approval);
  if (asking === undefined) return { mode: undefined, notes: [] };
  const isSet = await trySet(context, sessionId, modeSetting(asking));
  if (isSet) return { mode: asking, notes: [] };
  const note = `${backend.label} could not be put into mode "${asking}", which asks before it acts: it may act without asking`;
  return { mode: undefined, notes: [note] };
}

function modeNotes(mode: string, backend: Backend): string[] {
  if (backend.modeAsks(mode) !== false) return [];
  return [
    `Mode "${mode}" lets ${backend.label} act without asking: Ostler's permissions do not apply to what it allows itself`,
  ];
}

/** An empty list means the session has no modes; an absent one means nobody knows, so the harness decides. */
function checkMode(mode: string, { modes }: SessionInfo, { label }: Backend): void {
  if (modes === undefined || modes.available.includes(mode)) return;
  throw unusable("mode-unknown", `${label} has no mode "${mode}": ${listed(mode, modes.available, "modes")}`);
}

function checkModel(model: string, info: SessionInfo, { label }: Backend): void {
  const known = knownModels(info);
  if (known.length === 0 || known.includes(model)) return;
  const title = `${label} has no model "${model}" for this account: ${listed(model, known, "models")}`;
  const verdict = plainVerdict("model_unavailable", "model-not-advertised");
  throw startError({ verdict, source: "rpc_error", title }, undefined, { advertised: known, modelId: model });
}

/** Where the agent lists its options, no other one is sent; an option without a list of values takes any. */
function checkOption(id: string, value: string, { options, tellsOptions }: SessionInfo, { label }: Backend): void {
  if (!tellsOptions) return;
  const option = options.find((one) => one.id === id);
  if (option === undefined) {
    const ids = options.map((one) => one.id);
    throw unusable("option-unknown", `${label} has no option "${id}": ${listed(id, ids, "options")}`);
  }
  const { values } = option;
  if (values.length === 0 || values.includes(value)) return;
  const title = `Option "${id}" of ${label} cannot be "${value}": ${listed(value, values, "values")}`;
  throw unusable("option-value-unknown", title);
}

/** `it has a, b and 3 more; did you mean "a"?` */
function listed(word: string, names: readonly string[], what: string): string {
  if (names.length === 0) return `it has no ${what}`;
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  const near = nearestName(word, names);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  return `it has ${names.slice(0, MAX_LISTED).join(", ")}${more}${hint}`;
}

function unusable(rule: string, title: string, cause?: unknown): Error {
  return startError({ verdict: plainVerdict("configuration", rule), source: "rpc_error", title }, cause);
}

async function set(
  context: OpenContext,
  sessionId: string,
  { method, params }: Setting,
  what: string,
): Promise<unknown> {
  try {
    return await context.connection.request(method, { sessionId, ...params }, { deadlineMs: SETTING_MS });
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== METHOD_NOT_FOUND) throw toStartError(error, context, method);
    throw unusable("setting-unsupported", `The ${what} of ${context.backend.label} cannot be chosen`, error);
  }
}

/** False when the harness refused; a dead process is still thrown. */
async function trySet(context: OpenContext, sessionId: string, { method, params }: Setting): Promise<boolean> {
  try {
    await context.connection.request(method, { sessionId, ...params }, { deadlineMs: SETTING_MS });
    return true;
  } catch (error) {
    if (error instanceof RpcError || error instanceof DeadlineExceeded) return false;
    throw toStartError(error, context, method);
  }
}
