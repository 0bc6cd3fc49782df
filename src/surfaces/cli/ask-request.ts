/** What `ostler ask` was asked for, checked as far as the arguments alone allow. */
import { UsageError } from "../../host/usage-error.ts";
import { ASK_OPTIONS } from "./options.ts";
import type { AskOptions } from "./options.ts";
import type { Parsed } from "./parse.ts";
import { parseArguments } from "./parse.ts";

export type Format = "text" | "json" | "ndjson" | "quiet";

export interface AskRequest {
  readonly options: AskOptions;
  readonly words: readonly string[];
  readonly format: Format;
  /** From `--config-option K=V`, by name. */
  readonly configOptions: Readonly<Record<string, string>>;
}

/** @throws UsageError with the sentence for the person. */
export function readAskRequest(argv: readonly string[]): AskRequest {
  return checkRequest(parseArguments(argv, ASK_OPTIONS));
}

/** Of a command that does other work with the options of `ask`. Throws as {@link readAskRequest}. */
export function checkRequest({ options, words }: Parsed<typeof ASK_OPTIONS>): AskRequest {
  if (options.backend !== undefined && options.agent !== undefined) {
    throw new UsageError("--backend and --agent both name an agent; give one of them");
  }
  if (options.profile !== undefined && options.agent === undefined) {
    throw new UsageError("--profile says whose habits --agent has; it means nothing without --agent");
  }
  if (options.session !== undefined && options.continue) {
    throw new UsageError("--session and --continue both name a session; give one of them");
  }
  if (options["no-wait"] && options.session === undefined && !options.continue) {
    throw new UsageError(
      "--no-wait is about a session that is in use; it means nothing without --session or --continue",
    );
  }
  if (options.approve !== undefined && options["permission-policy"] !== undefined) {
    throw new UsageError("--approve and --permission-policy both say what is allowed; give one of them");
  }
  return { options, words, format: readFormat(options), configOptions: readConfigOptions(options["config-option"]) };
}

function readFormat({ format, json }: AskOptions): Format {
  if (!json) return format ?? "text";
  if (format !== undefined && format !== "ndjson")
    throw new UsageError(`--json means --format ndjson, not ${format}; give one of them`);
  return "ndjson";
}

function readConfigOptions(pairs: readonly string[]): Record<string, string> {
  const entries = pairs.map((pair): [string, string] => {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError(`--config-option cannot be "${pair}"; it is a name, "=" and a value`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return Object.fromEntries(entries);
}
