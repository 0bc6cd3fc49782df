/** `--format` to its presenter. */
import type { Format } from "./ask-request.ts";
import { JsonPresenter, QuietPresenter } from "./machine-presenters.ts";
import type { BatchedOutput } from "./output.ts";
import type { Presenter } from "./presenter.ts";
import type { Terminal } from "./terminal.ts";
import { TextPresenter } from "./text-presenter.ts";

export function createPresenter(format: Format, stdout: BatchedOutput, terminal: Terminal): Presenter {
  switch (format) {
    case "text":
      return new TextPresenter(terminal);
    case "quiet":
      return new QuietPresenter(terminal);
    case "json":
      return new JsonPresenter(stdout, terminal, { events: false });
    case "ndjson":
      return new JsonPresenter(stdout, terminal, { events: true });
  }
}
