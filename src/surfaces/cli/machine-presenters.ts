/** The formats for programs: `json` and `ndjson` keep stdout pure JSON, `quiet` is the answer and nothing else. */
import type { TurnEvent } from "../../acp/events.ts";
import { cleanLine } from "../../errors/redact.ts";
import { renderChangeReport } from "../shared/change-report.ts";
import { reportOf } from "../shared/report.ts";
import { harmlessJson } from "./harmless-json.ts";
import type { BatchedOutput } from "./output.ts";
import { MAX_NOTICE_CHARS } from "./presenter.ts";
import type { Presenter, RunEnd } from "./presenter.ts";
import { ScrubbedEvents } from "./scrubbed-events.ts";
import type { Terminal } from "./terminal.ts";

/** One event a line, closing with exactly one result line; with `events: false` only the latter. */
export class JsonPresenter implements Presenter {
  readonly keepsText = true;
  readonly #stdout: BatchedOutput;
  readonly #terminal: Terminal;
  readonly #events: boolean;
  readonly #scrubbed = new ScrubbedEvents();

  constructor(stdout: BatchedOutput, terminal: Terminal, { events }: { readonly events: boolean }) {
    this.#stdout = stdout;
    this.#terminal = terminal;
    this.#events = events;
  }

  begin(): void {}

  queued(): void {}

  stopping(): void {}

  event(event: TurnEvent): Promise<unknown> | undefined {
    if (!this.#events) {
      // What Ostler has to say (a session that was begun anew, a turn that was cut) has no other place.
      if (event.type === "notice" && event.from === "ostler") this.notice(event.text);
      return undefined;
    }
    this.#writeLine(this.#scrubbed.of(event));
    return this.#stdout.drained;
  }

  notice(sentence: string): void {
    this.#terminal.say(cleanLine(sentence, MAX_NOTICE_CHARS));
  }

  end({ result }: RunEnd): void {
    this.#writeLine(result);
  }

  /** In two writes: a newline at the end of a very long answer would cost a copy of it. */
  #writeLine(value: object): void {
    this.#stdout.write(harmlessJson(value));
    this.#stdout.write("\n");
  }
}

/** The answer, whole, at the end; of everything else only the sentence that says why it is missing. */
export class QuietPresenter implements Presenter {
  readonly keepsText = true;
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  begin(): void {}

  queued(): void {}

  stopping(): void {}

  event(): undefined {}

  notice(): void {}

  end({ outcome, words }: RunEnd): void {
    this.#terminal.print(outcome.text);
    this.#terminal.endAnswer();
    const card = reportOf(outcome, words);
    if (card !== undefined) this.#terminal.say(card.lead);
    // Asked for by name.
    if (outcome.changes !== undefined) this.#terminal.say(renderChangeReport(outcome.changes).join("\n"));
  }
}
