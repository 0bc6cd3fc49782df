/** `--format text`: the answer as it arrives on stdout, remarks and the closing card on stderr. */
import type { TurnEvent } from "../../acp/events.ts";
import { cleanLine } from "../../errors/redact.ts";
import type { StopSignal } from "../shared/exit-code.ts";
import { renderCard } from "../shared/card.ts";
import { renderChangeReport } from "../shared/change-report.ts";
import { partialNote, reportOf } from "../shared/report.ts";
import { AnswerView } from "./answer-view.ts";
import { MAX_NOTICE_CHARS } from "./presenter.ts";
import type { Presenter, RunEnd } from "./presenter.ts";
import { Remarks } from "./remarks.ts";
import type { Terminal } from "./terminal.ts";

/** How much of the answer's end is kept to see whether an explanation was already streamed. */
const TAIL_CHARS = 4096;

export class TextPresenter implements Presenter {
  readonly keepsText = false;
  readonly #terminal: Terminal;
  readonly #remarks = new Remarks();
  readonly #answer: AnswerView;
  #tail = "";
  #hasBegun = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#answer = new AnswerView({
      print: (text) => {
        this.#tail = (text.length < TAIL_CHARS ? this.#tail + text : text).slice(-TAIL_CHARS);
        terminal.print(text);
      },
      say: (sentence) => terminal.say(sentence, "warning"),
    });
  }

  begin(backend: string): void {
    this.#hasBegun = true;
    this.#terminal.startStatus(backend);
  }

  event(event: TurnEvent): Promise<unknown> | undefined {
    if (event.type === "text" && !event.late) {
      if (event.superseded === undefined) this.#answer.text(event.text, event.messageId);
      else this.#answer.supersede(event.messageId ?? "");
    } else {
      if (event.late) this.#endAnswer();
      else if (event.type === "tool") this.#answer.boundary();
      for (const { text, tone } of this.#remarks.of(event)) this.#terminal.say(text, tone);
    }
    this.#terminal.follow(event);
    return this.#terminal.drained;
  }

  notice(sentence: string): void {
    this.#terminal.say(cleanLine(sentence, MAX_NOTICE_CHARS), "warning");
  }

  queued(waits: boolean): void {
    this.#terminal.queued(waits);
  }

  stopping(signal: StopSignal): void {
    if (!this.#hasBegun) return;
    this.#terminal.stopping(`${signal === "SIGINT" ? "Ctrl-C again" : "a second signal"} ends it at once`);
  }

  end({ outcome, words, deniedByPolicy }: RunEnd): void {
    this.#terminal.stopStatus();
    // The text is not kept; what is there nevertheless are words of the adapter, all there was for an answer.
    if (this.#tail === "") this.#terminal.print(outcome.text);
    this.#endAnswer();
    for (const { text, tone } of this.#remarks.rest()) this.#terminal.say(text, tone);
    for (const warning of outcome.warnings) {
      for (const { text, tone } of this.#remarks.warning(warning)) this.#terminal.say(text, tone);
    }
    const partial = partialNote(outcome);
    if (partial !== undefined) this.#terminal.say(partial, "warning");
    const card = reportOf(outcome, { ...words, shown: this.#tail });
    if (card !== undefined) {
      const [lead, ...rest] = renderCard(card);
      this.#terminal.say(lead!, card.tone === "failure" ? "failure" : "warning");
      if (rest.length > 0) this.#terminal.say(rest.join("\n"));
    }
    if (outcome.changes !== undefined) this.#terminal.say(renderChangeReport(outcome.changes).join("\n"));
    if (deniedByPolicy) this.#terminal.say(denialSummary(outcome.denied.length), "warning");
  }

  #endAnswer(): void {
    this.#answer.finish();
    this.#terminal.endAnswer();
  }
}

function denialSummary(count: number): string {
  const what = count === 1 ? "1 permission request was" : `${count} permission requests were`;
  return `${what} denied, so the work may not be done; --approve all grants them.`;
}
