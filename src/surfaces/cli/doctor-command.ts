/** `ostler doctor`: what keeps an agent from working, for a person or as JSON. Exit code 0 when everything asked about works. */
import { resolve } from "node:path";
import { EXIT } from "../../errors/kinds.ts";
import { stripControls } from "../../errors/redact.ts";
import { diagnoseConfig } from "../../host/config.ts";
import { inspectBackends } from "../../host/doctor.ts";
import type { DoctorReport } from "../../host/doctor.ts";
import type { Check, Finding } from "../../host/finding.ts";
import type { BackendReport } from "../../host/inspect-backend.ts";
import { UsageError } from "../../host/usage-error.ts";
import { signalExitCode } from "../shared/exit-code.ts";
import { harmlessJson } from "./harmless-json.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { DOCTOR_OPTIONS } from "./options.ts";
import type { DoctorOptions } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";

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
  stdout.write(options.json ? harmlessJson(report) : stripControls(renderDoctor(report, options).join("\n")));
  stdout.write("\n");
  await stdout.finish();
  return report.ok ? EXIT.completed : EXIT.failed;
}

async function inspect(options: DoctorOptions, io: Io, signal: AbortSignal): Promise<DoctorReport> {
  const { cwd, env } = io;
  const configFile = options.config === undefined ? {} : { configFile: resolve(cwd, options.config) };
  const { faults, ...loaded } = await diagnoseConfig({ cwd, env, signal, ...configFile });
  const only = options.backend === undefined ? {} : { only: options.backend };
  const timeout = options.timeout === undefined ? {} : { timeoutS: options.timeout };
  return inspectBackends({ loaded, faults, env, cwd, smoke: options.smoke, signal, ...only, ...timeout });
}

/** The report as lines: a mark, what was looked at, what was found, and below a problem what mends it. */
export function renderDoctor(
  { findings, backends }: Pick<DoctorReport, "findings" | "backends">,
  { verbose }: { readonly verbose: boolean },
): string[] {
  return [...renderFindings(findings, verbose), ...backends.flatMap((report) => renderBackend(report, verbose))];
}

function renderBackend(report: BackendReport, verbose: boolean): string[] {
  const { label, backend, findings, searched, environment } = report;
  const details = [
    ...(searched === undefined ? [] : ["  searched:", ...searched.map((folder) => `    ${folder}`)]),
    ...(report.status === "found" ? ["  gets the variables:", `    ${environment.join(" ")}`] : []),
  ];
  const lines = renderFindings(findings, verbose).map((line) => `  ${line}`);
  return ["", `${label} (${backend})`, ...lines, ...(verbose ? details : [])];
}

/** Notes that do not say by themselves what they are about. */
const NAMES: Partial<Record<Check, string>> = {
  state: "state folder ",
  store: "sessions ",
  config: "configuration: ",
  version: "version ",
  login: "login: ",
};
const SAID_LINES = 3;

/** What mends several problems in a row stands below the last of them. */
function renderFindings(findings: readonly Finding[], verbose: boolean): string[] {
  return findings.flatMap(({ fix, ...finding }, index) => {
    const isSaidBelow = fix === undefined || fix === findings[index + 1]?.fix;
    return renderFinding(isSaidBelow ? finding : { ...finding, fix }, verbose);
  });
}

function renderFinding({ check, ok, note, problem, fix, said }: Finding, verbose: boolean): string[] {
  if (problem === undefined) return [`✓ ${NAMES[check] ?? ""}${note ?? check}`];
  const heard = (said ?? "").split("\n").filter((line) => line !== "" && !problem.includes(line));
  return [
    `${ok ? "!" : "✗"} ${problem}`,
    ...heard.slice(verbose ? 0 : -SAID_LINES).map((line) => `  | ${line}`),
    ...(fix === undefined ? [] : [`  → ${fix}`]),
  ];
}
