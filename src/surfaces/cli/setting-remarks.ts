/** What is said on stderr when an agent changes its model or mode by itself. */
import type { TurnEvent } from "../../acp/events.ts";
import { cleanLine } from "../../errors/redact.ts";
import type { Remark } from "./remarks.ts";

const MAX_NAME_CHARS = 100;

export class SettingRemarks {
  #model: string | undefined;
  #mode: string | undefined;

  /** Nothing for the event that begins a turn: that is how the session was asked for. */
  of(event: TurnEvent & { readonly type: "session" | "mode" }): readonly Remark[] {
    if (event.type === "mode") return this.#modeIs(event.modeId);
    const before = this.#model;
    this.#model = event.model;
    this.#mode = event.mode ?? this.#mode;
    if (before === undefined || event.model === undefined || event.model === before) return [];
    return [{ text: `The agent goes on with the model ${name(event.model)}, not ${name(before)}`, tone: "warning" }];
  }

  #modeIs(mode: string): readonly Remark[] {
    const isNews = mode !== this.#mode;
    this.#mode = mode;
    return isNews ? [{ text: `· The mode is now ${name(mode)}`, tone: "dim" }] : [];
  }
}

function name(text: string): string {
  return cleanLine(text, MAX_NAME_CHARS);
}
