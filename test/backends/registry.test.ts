import { describe, expect, test } from "vitest";
import type { Approval } from "../../src/acp/ports.ts";
import { KNOWN_BACKENDS, backendFor } from "../../src/backends/registry.ts";
import type { BackendHabits } from "../../src/backends/registry.ts";

const APPROVALS: readonly Approval[] = ["all", "reads", "none"];

test("the known backends, in the order in which an installed one is chosen", () => {
  expect(Object.keys(KNOWN_BACKENDS)).toEqual(["claude", "codex", "kiro", "demo"]);
});

test.each<{ from: string; id: string; habits?: BackendHabits; expected: object }>([
  { from: "a known name", id: "codex", expected: { id: "codex", profile: "codex", label: "Codex", air: true } },
  { from: "claude", id: "claude", expected: { id: "claude", profile: "claude", label: "Claude Agent" } },
  { from: "kiro", id: "kiro", expected: { id: "kiro", profile: "kiro", label: "Kiro" } },
  {
    from: "the demo agent has no habits of its own",
    id: "demo",
    expected: { id: "demo", profile: "generic", label: "Demo" },
  },
  { from: "a name from the config", id: "mine", expected: { id: "mine", profile: "generic", label: 'Agent "mine"' } },
  {
    from: "a name from the config with a profile",
    id: "mine",
    habits: { profile: "codex" },
    expected: { id: "mine", profile: "codex", label: "mine", retriesEmptyTurn: false },
  },
  {
    from: "a known name with another profile is that command",
    id: "codex",
    habits: { profile: "generic" },
    expected: { id: "codex", profile: "generic", retriesEmptyTurn: true },
  },
  { from: "a name of every object is a name", id: "constructor", expected: { id: "constructor", profile: "generic" } },
  { from: "__proto__ too", id: "__proto__", expected: { id: "__proto__", profile: "generic" } },
  { from: "air off", id: "claude", habits: { air: false }, expected: { air: false, profile: "claude" } },
  { from: "notices on", id: "claude", habits: { notices: true }, expected: { notices: true } },
  { from: "notices are off unless asked for", id: "claude", expected: { notices: false } },
  {
    from: "terminal output is declared",
    id: "codex",
    expected: { capabilityMeta: { terminal_output_delta: true } },
  },
  { from: "or not", id: "codex", habits: { terminalOutput: false }, expected: { capabilityMeta: {} } },
])("$from", ({ id, habits = {}, expected }) => {
  expect(backendFor(id, habits)).toMatchObject(expected);
});

test("settings of one do not leak into the next", () => {
  backendFor("claude", { air: false, terminalOutput: false });
  expect(backendFor("claude")).toMatchObject({ air: true, capabilityMeta: { terminal_output_delta: true } });
});

describe.each(Object.values(KNOWN_BACKENDS))("$id", (backend) => {
  test("whatever is approved, nothing it adds carries a secret or allows everything", () => {
    for (const approval of APPROVALS) {
      const told = JSON.stringify([backend.env(approval), backend.sessionMeta(approval) ?? {}]);
      expect(told).not.toMatch(/key|token|secret|full-access|bypass|"allowDangerouslySkipPermissions":true/i);
    }
  });

  test("its login sentence says what to do", () => {
    expect(backend.loginHint).toMatch(/^[A-Z].*[^.]$/);
  });

  test("it never sets a mode that does not ask, unless everything is approved", () => {
    const all = ["agent", "agent-full-access", "auto", "acceptEdits", "bypassPermissions", "default", "read-only"];
    for (const approval of APPROVALS.filter((one) => one !== "all")) {
      for (const current of [...all, null]) {
        const mode = backend.modeToSet({ current, available: all }, approval);
        expect(mode === undefined ? true : backend.modeAsks(mode)).toBe(true);
      }
    }
  });

  test("a mode with a name of every object is not known", () => {
    expect(["constructor", "toString", "__proto__"].map((mode) => backend.modeAsks(mode))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("notifications nobody knows are not read", () => {
    for (const method of ["_foo/bar", "constructor", "toString", "session/update"])
      expect(backend.readExtension(method, {})).toBeUndefined();
  });
});
