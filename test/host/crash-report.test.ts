import { mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { writeCrashReport } from "../../src/host/crash-report.ts";
import { FlightRecorder } from "../../src/host/flight-recorder.ts";
import { ostlerPaths } from "../../src/host/paths.ts";

const newPaths = () => ostlerPaths({ OSTLER_HOME: mkdtempSync(join(tmpdir(), "ostler-crash-")) });

/** One frame as it stands in a report. */
function reported(dir: "in" | "out", frame: object): Record<string, unknown> {
  const recorder = new FlightRecorder();
  recorder.listen("codex")(dir, frame, JSON.stringify(frame).length);
  const file = writeCrashReport(newPaths(), { error: new Error("oops"), argv: [], recorder });
  const report: { agents: { frames: Record<string, unknown>[] }[] } = JSON.parse(readFileSync(file, "utf8"));
  return report.agents[0]?.frames[0] ?? {};
}

test.each([
  {
    from: "a prompt",
    frame: { id: 3, method: "session/prompt", params: { sessionId: "s1", prompt: [{ type: "text", text: "diary" }] } },
    becomes: { params: { sessionId: "s1", prompt: [{ type: "text", text: "[5 chars]" }] } },
  },
  {
    from: "a piece of an answer",
    frame: {
      method: "session/update",
      params: { update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "diary" } } },
    },
    becomes: {
      params: { update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "[5 chars]" } } },
    },
  },
  {
    from: "what a tool reads and writes",
    frame: {
      method: "session/update",
      params: {
        update: {
          toolCallId: "t1",
          kind: "edit",
          rawInput: { path: "diary.txt", lines: ["diary"] },
          rawOutput: "diary",
          content: [{ type: "diff", path: "diary.txt", oldText: "diary", newText: "diary" }],
        },
      },
    },
    becomes: {
      params: {
        update: {
          toolCallId: "t1",
          kind: "edit",
          rawInput: { path: "[9 chars]", lines: ["[5 chars]"] },
          rawOutput: "[5 chars]",
          content: [{ type: "diff", path: "[9 chars]", oldText: "[5 chars]", newText: "[5 chars]" }],
        },
      },
    },
  },
  {
    from: "an error, which is why one looks",
    frame: {
      id: 3,
      error: { code: -32603, message: "Internal error", data: { details: "key sk-ant-api03-abcdefgh" } },
    },
    becomes: { error: { code: -32603, message: "Internal error", data: { details: "key [redacted]" } } },
  },
])("nothing that was said stands in a report: $from", ({ frame, becomes }) => {
  const described = reported("in", frame);
  expect(described["frame"]).toMatchObject(becomes);
  expect(JSON.stringify(described)).not.toContain("diary");
});

test("reports are the owner's alone, and old ones go", () => {
  const paths = newPaths();
  const folder = join(paths.state, "crash-reports");
  const old = Array.from({ length: 25 }, (_, n) => `20250101T0000${10 + n}000Z-1.json`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of old) writeFileSync(join(folder, name), "{}");
  const file = writeCrashReport(paths, { error: new Error("oops"), argv: ["ask"], recorder: new FlightRecorder() });
  expect(readdirSync(folder).toSorted()).toEqual([...old.slice(-19), basename(file)]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(paths.state).mode & 0o777).toBe(0o700);
});

test("a full recorder and an endless error make a report of a bounded size", () => {
  const recorder = new FlightRecorder();
  for (let agent = 0; agent < 16; agent += 1) {
    const listen = recorder.listen("codex");
    for (let id = 0; id < 40; id += 1) listen("in", { id, result: { title: "x".repeat(4000) } }, 4050);
  }
  const error = new Error("x".repeat(1_000_000));
  error.cause = error;
  const file = writeCrashReport(newPaths(), { error, argv: ["y".repeat(1_000_000)], recorder });
  expect(statSync(file).size).toBeLessThan(2_000_000);
});
