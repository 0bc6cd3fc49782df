/**
 * How a session is set at this moment. The agent may change its model or mode by itself (recording claude-agent-acp
 * 0.101.0 refusal-fallback: another model answers after a refusal): each change is one event, and what only repeats what
 * was told is none.
 */
import type { TurnEventBody } from "./events.ts";
import type { Frame } from "./frames.ts";
import { readMode } from "./normalize.ts";
import { modeOption, modelOption, offersOf, withNewOptions } from "./session-info.ts";
import type { ExtensionReading } from "./ports.ts";
import type { ConfigOption, SessionInfo, SessionOffers } from "./session-info.ts";
import type { SessionLink, SessionSetup } from "./session-link.ts";

/** A session as it was opened. */
export interface OpenedSession {
  readonly sessionId: string;
  /** Name of the backend. */
  readonly backend: string;
  /** Name and version of the agent. */
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly mode?: string | undefined;
  readonly info: SessionInfo;
}

/** The session that these made. */
export function openedSession(link: SessionLink, setup: SessionSetup): OpenedSession {
  const { id: sessionId, model, modes, info } = setup;
  return { sessionId, backend: link.backend.id, agent: link.agent, model, mode: modes?.current ?? undefined, info };
}

export class SessionNow {
  #opened: OpenedSession | undefined;

  /** From here on changes are told. Of a session that nobody opened here (a child, a replay) only modes are. */
  begin(opened: OpenedSession): void {
    this.#opened = opened;
  }

  get model(): string | undefined {
    return this.#opened?.model;
  }

  get mode(): string | undefined {
    return this.#opened?.mode;
  }

  get offers(): SessionOffers {
    return this.#opened === undefined ? { options: [] } : offersOf(this.#opened.info, this.#opened);
  }

  /** The event that says how the session is set; undefined for one that was not opened here. */
  describe(): (TurnEventBody & { readonly type: "session" }) | undefined {
    if (this.#opened === undefined) return undefined;
    const { sessionId, backend, agent, model, mode } = this.#opened;
    return {
      type: "session",
      sessionId,
      backend,
      ...(agent !== undefined && { agent }),
      ...(model !== undefined && { model }),
      ...(mode !== undefined && { mode }),
    };
  }

  /** A `current_mode_update`. */
  modeChanged(update: Frame): TurnEventBody[] {
    const modeId = readMode(update);
    if (modeId === undefined) return [];
    if (this.#opened !== undefined) this.#opened = { ...this.#opened, mode: modeId };
    return [{ type: "mode", modeId }];
  }

  /** The agent switched its mode or model, and said so outside ACP. */
  agentChanged({ mode, model }: Pick<ExtensionReading, "mode" | "model">): TurnEventBody[] {
    const isNew = model !== undefined && this.#opened !== undefined && this.#opened.model !== model;
    if (isNew && this.#opened !== undefined) this.#opened = { ...this.#opened, model };
    const events = mode === undefined ? [] : this.modeChanged({ currentModeId: mode });
    const told = isNew ? this.describe() : undefined;
    return told === undefined ? events : [...events, told];
  }

  /** A `config_option_update`. */
  optionsChanged(update: Frame): TurnEventBody[] {
    const before = this.#opened;
    if (before === undefined) return [];
    const info = withNewOptions(before.info, update);
    const option = modelOption(info.options);
    const model = option?.current === undefined || isModel(before.model, option) ? before.model : option.current;
    const mode = modeOption(info.options)?.current ?? before.mode;
    this.#opened = { ...before, info, model, mode };
    const told = model === before.model ? undefined : this.describe();
    return [
      ...(told === undefined ? [] : [told]),
      ...(mode === undefined || mode === before.mode ? [] : [{ type: "mode", modeId: mode } as const]),
    ];
  }
}

/** Whether the option stands on this model; codex's `id[effort]` is the model of its option, which has no effort. */
function isModel(model: string | undefined, { current, values }: ConfigOption): boolean {
  if (model === current) return true;
  return model !== undefined && !values.includes(model) && model.startsWith(`${current}[`);
}
