/** `ostler doctor`: what keeps an agent from working, for a person or as JSON. Exit code 0 when everything asked about works. */
import { resolve } from "node:path";
import { EXIT } from "../../errors/kinds.ts";
import { stripControls } from "../../errors/redact.ts";
import { loadConfig } from "../../host/config.ts";
import { inspectBackends } from "../../host/doctor.ts";
import type { DoctorReport } from "../../host/doctor.ts";
import { signalExitCode } from "../shared/exit-code.ts";
import { harmlessJson } from "./harmless-json.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { DOCTOR_OPTIONS } from "./options.ts";
import type { DoctorOptions } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";
import { UsageError } from "../../host/usage-error.ts";

export async function doctor(argv: readonly string[], io: Io): Promise<number> {
  const { options, words } = parseArguments(argv, DOCTOR_OPTIONS);
  if (words.length > 0)
    throw new UsageError(
      `ostler doctor takes no words, only options; to look at one agent: ostler doctor -b ${words[0]}`,
    );
  using interrupt = new Interrupt(io);
  const report = await inspect(options, io, interrupt.signal).catch((error: unknown) => {
    if (interrupt.received === undefined) throw error;
  });
  if (interrupt.received !== undefined || report === undefined) return signalExitCode(interrupt.received ?? "SIGINT");
  const stdout = new BatchedOutput(io.stdout);
  stdout.write(options.json ? harmlessJson(report) : stripControls(renderDoctor(report).join("\n")));
  stdout.write("\n");
  await stdout.finish();
  return report.ok ? EXIT.completed : EXIT.failed;
}

async function inspect(options: DoctorOptions, io: Io, signal: AbortSignal): Promise<DoctorReport> {
  const { cwd, env } = io;
  const configFile = options.config === undefined ? {} : { configFile: resolve(cwd, options.config) };
  const loaded = await loadConfig({ cwd, env, signal, ...configFile });
  const only = options.backend === undefined ? {} : { only: options.backend };
  return inspectBackends({ loaded, env, cwd, smoke: options.smoke, signal, ...only });
}

/** The report as lines: a mark, what was looked at, what was found. */
export function renderDoctor({ node, state, config, backends }: DoctorReport): string[] {
  return [
    line(node.ok, `Node ${node.version}`),
    line(state.writable, `State folder ${state.path}`, state.problem),
    line(true, `Configuration: ${config.sources.length === 0 ? "defaults, no file" : config.sources.join(", ")}`),
    ...config.warnings.map((warning) => line(false, warning)),
    ...backends.flatMap(renderBackend),
  ];
}

function renderBackend(report: DoctorReport["backends"][number]): string[] {
  const { backend, label, status, at, version, testedVersion, missing, environment, login, loginHints, smoke } = report;
  if (status === "missing") return ["", line(false, `${label} (${backend})`, missing)];
  const tested = testedVersion === undefined || testedVersion === version ? "" : ` (tested with ${testedVersion})`;
  return [
    "",
    line(smoke?.ok ?? true, `${label} (${backend})`, smoke?.sentence),
    ...[
      at === undefined ? "" : `    at ${at}${version === undefined ? "" : `, version ${version}${tested}`}`,
      login === "unknown" ? "" : `    login ${login === "found" ? "found" : "not found"}`,
      ...(login === "found" ? [] : loginHints.map((hint) => `    ${hint}`)),
      environment.length === 0 ? "" : `    gets ${environment.join(", ")}`,
    ].filter((text) => text !== ""),
  ];
}

function line(ok: boolean, what: string, problem?: string): string {
  return `${ok ? "✓" : "✗"} ${what}${problem === undefined ? "" : `: ${problem}`}`;
}
