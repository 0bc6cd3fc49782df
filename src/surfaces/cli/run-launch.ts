/** The words of `ostler run` and `ostler watch` as what a supervisor is told. */
import { currentOwnerName, thisSystem } from "../../acp/this-process.ts";
import { readIntent } from "../../failures/observation/intent-rules.ts";
import { splitCommandLine } from "../../host/command-line.ts";
import type { CommandLaunch } from "../../host/command-run-launch.ts";
import { loadConfig } from "../../host/config.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { openStore } from "../../host/store.ts";
import { UsageError } from "../../host/usage-error.ts";
import { findSession, readFolder } from "./find-session.ts";
import type { Io } from "./io.ts";
import type { OptionValues } from "./options.ts";
import { parseArguments } from "./parse.ts";
import type { RUN_OPTIONS, WATCH_OPTIONS } from "./run-options.ts";

const MS_PER_S = 1000;

type SharedOptions = Omit<OptionValues<typeof RUN_OPTIONS>, "operation-id" | "confined">;

/** The command line up to `--`, and the command behind it. Throws UsageError where there is none, or words before it. */
export function splitCommand<Table extends typeof RUN_OPTIONS | typeof WATCH_OPTIONS>(
  name: "run" | "watch",
  argv: readonly string[],
  table: Table,
): { readonly options: OptionValues<Table>; readonly command: readonly [string, ...string[]] } {
  const at = argv.indexOf("--");
  const { words, options } = parseArguments(at < 0 ? argv : argv.slice(0, at), table);
  const [program, ...args] = at < 0 ? [] : argv.slice(at + 1);
  if (program !== undefined && program !== "" && words.length === 0) return { options, command: [program, ...args] };
  const meant = [...words, ...(program === undefined ? [] : [program, ...args])].join(" ") || "make test";
  throw new UsageError(`Write the command behind "--": ostler ${name} -- ${meant}`);
}

/** What both commands have in common. Throws UsageError, and kind `session_not_found` for a session that is not kept. */
export async function readLaunch(
  given: {
    readonly kind: CommandLaunch["kind"];
    readonly command: CommandLaunch["command"];
    readonly options: SharedOptions;
    readonly operationId?: string | undefined;
  },
  io: Io,
): Promise<{ readonly launch: CommandLaunch; readonly warnings: readonly string[]; readonly confines: boolean }> {
  const { kind, command, options, operationId } = given;
  const { session, timeout, wait, notify } = options;
  const cwd = readFolder(options.cwd, io);
  const codes = options["expect-exit"].map((text) => readCode("expect-exit", text));
  const reading = readIntent({ operationId, ...(codes.length > 0 && { expectedExitCodes: [...new Set(codes)] }) });
  if (!reading.ok) throw new UsageError(inOptions(reading.reason));
  if (notify !== undefined && options["no-notify"]) throw new UsageError("--notify and --no-notify exclude each other");
  const configFile = options.config === undefined ? {} : { configFile: options.config };
  const { config, warnings } = await loadConfig({ cwd, env: io.env, ...configFile });
  const [program, ...args] = notify === undefined ? (config.notify?.command ?? []) : splitCommandLine(notify);
  return {
    launch: {
      kind,
      command,
      cwd,
      owner: session === undefined ? thisShell() : conversationOf(session, cwd, io),
      ...reading.intent,
      ...(timeout !== undefined && { timeoutMs: timeout * MS_PER_S }),
      callback: !options["no-notify"],
      ...(program !== undefined && { notifyCommand: [program, ...args] as const }),
      confined: false,
      awaited: wait,
      retention: config.retention,
    },
    warnings,
    confines: config.confined,
  };
}

/** An exit code as it is written: 0 to 255. Throws UsageError. */
export function readCode(option: string, text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 255) return Number(text);
  throw new UsageError(`--${option} cannot be "${text}"; it is an exit code, a whole number from 0 to 255`);
}

/** Whoever waits for `ostler`: calls of the same shell have it in common. */
function thisShell(): string {
  return `process:${thisSystem()}:${currentOwnerName(process.ppid)}`;
}

function conversationOf(name: string, cwd: string, io: Io): string {
  using store = openStore(ostlerPaths(io.env));
  return `session:${findSession(store, name, cwd, io.env).id}`;
}

/** The rules name the fields as agents write them. */
function inOptions(reason: string): string {
  return reason
    .replace("operationId", "--operation-id")
    .replace("expectedExitCodes must be a list of", "--expect-exit takes");
}
