import { expect, test } from "vitest";
import type { ChangeReport } from "../../../src/acp/events.ts";
import { renderChangeReport, scrubReport } from "../../../src/surfaces/shared/change-report.ts";

const list = (more: Partial<Extract<ChangeReport, { status: "reported" }>> = {}): ChangeReport => ({
  status: "reported",
  paths: ["/w/a", "/w/b"],
  declaredComplete: true,
  truncated: false,
  ...more,
});
const INCOMPLETE = "The agent does not say that the list is complete; commands may have changed more.";

test.each<{ from: string; report: ChangeReport; lines: readonly string[] }>([
  { from: "a complete list", report: list(), lines: ["Files that the agent changed:", "  /w/a", "  /w/b"] },
  {
    from: "a list that is not declared complete",
    report: list({ declaredComplete: false }),
    lines: ["Files that the agent changed:", "  /w/a", "  /w/b", INCOMPLETE],
  },
  {
    from: "a cut list with an uncertainty",
    report: list({ truncated: true, uncertainty: "May omit renames." }),
    lines: [
      "Files that the agent changed:",
      "  /w/a",
      "  /w/b",
      "The list is cut: there are more.",
      "May omit renames.",
    ],
  },
  {
    from: "an empty list",
    report: list({ paths: [], declaredComplete: false }),
    lines: ["The agent tells of no file that it changed.", INCOMPLETE],
  },
  {
    from: "words and a name with control characters and a secret",
    report: list({ paths: ["/w/a\u001b[2Jb"], uncertainty: `x\ny TOKEN=ghp_${"A".repeat(36)}` }),
    lines: ["Files that the agent changed:", "  /w/ab", "x y TOKEN=[redacted]"],
  },
  ...(
    [
      ["cancelled", "the turn was cancelled"],
      ["timeout", "the agent could not tell in time"],
      ["invalidOutput", "what the agent found out cannot be used"],
      ["providerError", "the turn failed, or the agent's look at its changes did"],
      ["notReported", "the agent did not tell"],
      ["unsupported", "this agent does not tell which files it changes"],
      ["a reason\nof its own", "a reason of its own"],
      ["constructor", "constructor"],
    ] as const
  ).map(([reason, why]): { from: string; report: ChangeReport; lines: readonly string[] } => ({
    from: `unavailable: ${reason}`,
    report: { status: "unavailable", reason },
    lines: [`Which files changed is not known: ${why}.`],
  })),
])("in sentences: $from", ({ report, lines }) => {
  expect(renderChangeReport(report)).toEqual(lines);
});

test("for a program the paths are as they came, and the agent's words are scrubbed", () => {
  const secret = `TOKEN=ghp_${"A".repeat(36)}`;
  expect([
    scrubReport(list({ paths: [`/w/${secret}`], uncertainty: secret })),
    scrubReport({ status: "unavailable", reason: secret }),
  ]).toEqual([
    list({ paths: [`/w/${secret}`], uncertainty: "TOKEN=[redacted]" }),
    { status: "unavailable", reason: "TOKEN=[redacted]" },
  ]);
});
