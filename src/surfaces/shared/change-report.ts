/** The files that a turn changed, as its agent tells them, in sentences for every surface. Pure. */
import type { ChangeReport } from "../../acp/events.ts";
import { cleanLine } from "../../errors/redact.ts";

const MAX_WORDS_CHARS = 500;

/** Why there is no list: the contract's reasons (seed document 002), codex's `notReported`, and our own `unsupported`. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["cancelled", "the turn was cancelled"],
  ["timeout", "the agent could not tell in time"],
  ["invalidOutput", "what the agent found out cannot be used"],
  ["providerError", "the turn failed, or the agent's look at its changes did"],
  ["notReported", "the agent did not tell"],
  ["unsupported", "this agent does not tell which files it changes"],
]);

/** The list with everything that limits it, or why there is none. An unavailable list is never an empty one. */
export function renderChangeReport(report: ChangeReport): readonly string[] {
  if (report.status === "unavailable") {
    const why = REASONS.get(report.reason) ?? cleanLine(report.reason, MAX_WORDS_CHARS);
    return [`Which files changed is not known: ${why}.`];
  }
  const { paths, declaredComplete, truncated, uncertainty } = report;
  const list = paths.map((path) => `  ${cleanLine(path, MAX_WORDS_CHARS)}`);
  return [
    ...(list.length === 0
      ? ["The agent tells of no file that it changed."]
      : ["Files that the agent changed:", ...list]),
    ...(truncated ? ["The list is cut: there are more."] : []),
    ...(declaredComplete ? [] : ["The agent does not say that the list is complete; commands may have changed more."]),
    ...(uncertainty === undefined ? [] : [cleanLine(uncertainty, MAX_WORDS_CHARS)]),
  ];
}

/** The report for a program: the agent's own words scrubbed, the paths as they came. */
export function scrubReport(report: ChangeReport): ChangeReport {
  if (report.status === "unavailable") return { ...report, reason: cleanLine(report.reason, MAX_WORDS_CHARS) };
  const { uncertainty } = report;
  return uncertainty === undefined ? report : { ...report, uncertainty: cleanLine(uncertainty, MAX_WORDS_CHARS) };
}
