/** Whether a running agent can serve another need, and how it is said when it cannot. */
import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkBinding } from "../../src/acp/runtime-binding.ts";
import type { RuntimeBinding, RuntimeSpec } from "../../src/acp/runtime-binding.ts";
import { backendFor } from "../../src/backends/registry.ts";
import { AcpWorkspaceBindingError } from "../../src/errors/runtime-error.ts";
import { chunk, end, logOf, turns } from "../fixtures/agents/scenario.ts";
import { play, rejectionOf, start } from "./drive.ts";
import type { Started } from "./drive.ts";

const SECRET = "sk-ant-REDACTME0123456789";

function spec(binding: Partial<RuntimeBinding> = {}, settings: Parameters<typeof backendFor>[1] = {}): RuntimeSpec {
  const usual = { command: { file: "/bin/agent", args: ["--acp"] }, cwd: "/work", env: { A: "1" }, approval: "reads" };
  return { backend: backendFor("mine", settings), binding: { ...usual, approval: "reads", ...binding }, program: "p" };
}

/** The error of a need that does not fit. */
function misfit(have: RuntimeSpec, need: RuntimeSpec): AcpWorkspaceBindingError {
  try {
    checkBinding(have, need);
  } catch (error) {
    if (error instanceof AcpWorkspaceBindingError) return error;
    throw error;
  }
  throw new Error("It fits");
}

describe("a need that fits", () => {
  test.each<{ from: string; have: RuntimeSpec; need: RuntimeSpec }>([
    { from: "the same", have: spec(), need: spec() },
    {
      from: "variables in another order",
      have: spec({ env: { A: "1", B: "2" } }),
      need: spec({ env: { B: "2", A: "1" } }),
    },
    { from: "no questions", have: spec({ takesQuestions: false }), need: spec() },
    { from: "a gate of nothing", have: spec({ gate: undefined }), need: spec() },
    { from: "another version of the program", have: { ...spec(), program: "p1" }, need: { ...spec(), program: "p2" } },
  ])("$from", ({ have, need }) => {
    expect(() => checkBinding(have, need)).not.toThrow();
  });
});

describe("a need that does not fit names what differs", () => {
  test.each<{ from: string; need: RuntimeSpec; named: string }>([
    { from: "folder", need: spec({ cwd: "/work/below" }), named: "folder" },
    { from: "model", need: spec({ model: "opus" }), named: "model" },
    { from: "approval", need: spec({ approval: "all" }), named: "approval" },
    { from: "gate", need: spec({ gate: "required" }), named: "gate" },
    {
      from: "whether questions are declared",
      need: spec({ takesQuestions: true }),
      named: "answer to whether questions are taken",
    },
    { from: "program", need: spec({ command: { file: "/bin/other", args: ["--acp"] } }), named: "command" },
    { from: "arguments", need: spec({ command: { file: "/bin/agent", args: [] } }), named: "command" },
    {
      from: "arguments that only look the same",
      need: spec({ command: { file: "/bin/agent --acp", args: [] } }),
      named: "command",
    },
    { from: "a variable of another value", need: spec({ env: { A: "2" } }), named: "environment (A)" },
    { from: "a variable more", need: spec({ env: { A: "1", B: "" } }), named: "environment (B)" },
    { from: "a variable less", need: spec({ env: {} }), named: "environment (A)" },
    { from: "habits", need: spec({}, { profile: "claude" }), named: "backend" },
    { from: "what is declared", need: spec({}, { air: false }), named: "backend" },
    {
      from: "several",
      need: spec({ cwd: "/elsewhere", model: "opus", env: { A: "1", Z: "9" } }),
      named: "folder, another model, another environment (Z)",
    },
    {
      from: "many variables",
      need: spec({ env: Object.fromEntries(["A", "B", "C", "D", "E", "F", "G"].map((name) => [name, "x"])) }),
      named: "environment (A, B, C, D, E and 2 more)",
    },
  ])("$from", ({ need, named }) => {
    const error = misfit(spec(), need);
    expect(error.message).toBe(`Agent "mine" is running already, but with another ${named}`);
    expect(error).toMatchObject({ kind: "configuration", transient: false, failure: { replaySafety: "not_sent" } });
  });

  test("values of variables stay hidden, on both sides", () => {
    const error = misfit(spec({ env: { API_KEY: `${SECRET}1` } }), spec({ env: { API_KEY: `${SECRET}2` } }));
    expect(error.message).toContain("API_KEY");
    expect(JSON.stringify([error.message, error.failure, error.cause])).not.toMatch(/REDACTME/);
  });
});

describe("a session in another folder than its process", () => {
  const capable = { agentCapabilities: { loadSession: true } };
  test.each<{ from: string; open: (agent: Started, cwd: string) => Promise<unknown> }>([
    { from: "a new one", open: ({ runtime }, cwd) => runtime.openSession({ cwd }) },
    {
      from: "one of an earlier process",
      open: ({ runtime }, cwd) => runtime.resumeSession({ cwd, sessionId: "s9", via: "load" }),
    },
  ])("$from is refused before anything is sent", async ({ open }) => {
    const other = mkdtempSync(join(tmpdir(), "ostler-other-"));
    await using agent = await start({ initializeResult: capable });
    const error = await rejectionOf(open(agent, other));
    expect(error).toBeInstanceOf(AcpWorkspaceBindingError);
    expect(error).toMatchObject({ failure: { kind: "configuration", retry: "never", rule: "runtime-binding" } });
    expect(error.message).toContain("serves no other folder");
    expect(logOf(agent.log).flatMap(({ frame }) => frame?.method ?? [])).toEqual(["initialize"]);
  });

  test("a link to its folder is its folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "ostler-folder-"));
    const link = join(mkdtempSync(join(tmpdir(), "ostler-link-")), "to");
    symlinkSync(folder, link);
    await using agent = await start(turns([chunk("ok"), end()]), { cwd: folder });
    expect((await play(await agent.runtime.openSession({ cwd: link }))).outcome).toMatchObject({ text: "ok" });
    expect((await play(await agent.runtime.openSession({ cwd: `${folder}/` }))).outcome).toMatchObject({ text: "ok" });
  });
});
