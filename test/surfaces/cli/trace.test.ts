/** `--trace`: what it holds can be played again, and it never costs a turn. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentOption, chunk, end, tool, turns } from "../../fixtures/agents/scenario.ts";
import { newFolder, run } from "./run-main.ts";

const RECORDINGS = join(import.meta.dirname, "../../fixtures/recordings");
const REPLAY = join(import.meta.dirname, "../../fixtures/agents/replay.mjs");
const OSTLER = join(import.meta.dirname, "../../../src/surfaces/cli/ostler.ts");
const KEY = "sk-ant-api03-abcdefghijklmnop";

/** Plays a recording or a trace; the result without what differs from run to run, and the new trace. */
async function play(file: string, profile: string) {
  const folder = newFolder();
  const config = { backends: { replay: { command: [process.execPath, REPLAY, file], profile } } };
  const flags = ["-b", "replay", "--format", "json", "--retries", "0", "--approve", "all", "--trace", "t.jsonl"];
  const { exitCode, stdout } = await run(["ask", ...flags, "Do the task"], { folder, config });
  const { durationMs: _, failure, ...result }: { durationMs: number; failure: object | null } = JSON.parse(stdout);
  return { exitCode, result: { ...result, failure: failure === null ? null : { ...failure, id: "" } }, folder };
}

test.each([
  { recording: "claude-agent-acp/0.101.0/air/bash-allow.jsonl", profile: "claude", outcome: "completed" },
  { recording: "claude-agent-acp/0.101.0/air/refusal-bare.jsonl", profile: "claude", outcome: "refused" },
  { recording: "claude-agent-acp/0.101.0/air/claude-binary-exits.jsonl", profile: "claude", outcome: "failed" },
  { recording: "codex-acp/2.6.0/air/http-402.jsonl", profile: "codex", outcome: "failed" },
])("the trace of $recording ends as it did", async ({ recording, profile, outcome }) => {
  const first = await play(join(RECORDINGS, recording), profile);
  const again = await play(join(first.folder, "t.jsonl"), profile);
  expect(first.result).toMatchObject({ outcome });
  expect(again.result).toEqual(first.result);
  expect(again.exitCode).toBe(first.exitCode);
  const lines = readFileSync(join(first.folder, "t.jsonl"), "utf8").trimEnd().split("\n");
  const entries = lines.map((line): { dir: string; ms: number } => JSON.parse(line));
  expect(entries[0]).toMatchObject({ dir: "out", frame: { method: "initialize" } });
  expect(entries.at(-1)).toMatchObject({ dir: "exit", signal: null });
  expect(entries.every(({ ms }) => Number.isInteger(ms))).toBe(true);
});

test("secrets of the prompt, of a title and of an MCP server are not in it; the person sees the title", async () => {
  const folder = newFolder();
  writeFileSync(
    join(folder, "mcp.json"),
    JSON.stringify({ mcpServers: { db: { command: "db", env: { DB_CITY: "Ulm-on-the-Danube" } } } }),
  );
  const scenario = turns([{ stderr: `key ${KEY}\n` }, tool("t1", { title: `curl -u x:${KEY}` }), chunk("Hi"), end()]);
  const argv = ["ask", "--mcp", "mcp.json", "--trace", "t.jsonl", `my key is ${KEY}`];
  expect((await run(argv, { scenario, folder })).exitCode).toBe(0);
  const trace = readFileSync(join(folder, "t.jsonl"), "utf8");
  expect(trace).toContain("DB_CITY");
  expect(trace).not.toContain("abcdefghijklmnop");
  expect(trace).not.toContain("Danube");
  expect(statSync(join(folder, "t.jsonl")).mode & 0o777).toBe(0o600);
});

test("a file that cannot be written starts nothing", async () => {
  const { exitCode, stdout, stderr, log } = await run(["ask", "--trace", "none/t.jsonl", "hi"], {
    scenario: turns([end()]),
  });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(/^ostler: Cannot write the trace to \S+ \(ENOENT\)\n$/);
  expect(() => readFileSync(log)).toThrow("ENOENT");
});

test("a disk that is full ends the trace with a warning, and not the turn", () => {
  const folder = newFolder();
  const scenario = turns([chunk("x".repeat(200_000)), chunk("the end"), end()]);
  const agent = agentOption({ ...scenario, log: "/dev/null" }, folder);
  // A limit on the size of files is as good as a full disk.
  const line = `ulimit -f 40; exec "$0" "$1" ask --agent "$2" --trace t.jsonl hi`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", line, process.execPath, OSTLER, agent], {
    cwd: folder,
    env: { PATH: process.env["PATH"], OSTLER_HOME: join(folder, "home") },
    encoding: "utf8",
  });
  expect({ status, end: stdout.slice(-8) }).toEqual({ status: 0, end: "the end\n" });
  expect(stderr).toContain("The trace ends here: its file cannot be written any more (EFBIG)");
  const trace = readFileSync(join(folder, "t.jsonl"), "utf8");
  expect(trace.endsWith("}\n")).toBe(true);
});
