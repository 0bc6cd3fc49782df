import { expect, test } from "vitest";
import { chooseBackend } from "../../src/host/choose-backend.ts";

const installed =
  (...names: string[]) =>
  (name: string) =>
    names.includes(name);

test.each([
  { from: "the config", config: { defaultBackend: "mine" }, isInstalled: installed("claude"), backend: "mine" },
  { from: "claude before codex", config: {}, isInstalled: installed("kiro", "codex", "claude"), backend: "claude" },
  { from: "codex before kiro", config: {}, isInstalled: installed("kiro", "codex"), backend: "codex" },
  { from: "kiro", config: {}, isInstalled: installed("kiro"), backend: "kiro" },
])("picks $backend by $from, on a terminal or not, and says nothing", ({ config, isInstalled, backend }) => {
  expect(chooseBackend({ config, isTty: true, isInstalled })).toEqual({ backend });
  expect(chooseBackend({ config, isTty: false, isInstalled })).toEqual({ backend });
});

test("with none installed a person gets the demo agent, and is told so with the install commands", () => {
  const choice = chooseBackend({ config: {}, isTty: true, isInstalled: installed() });
  expect(choice).toMatchObject({ backend: "demo", notice: expect.stringContaining("demo agent") });
  expect(choice).toMatchObject({ notice: expect.stringContaining("ostler backends install claude") });
});

test("with none installed a script gets the install commands instead of canned answers", () => {
  const choice = chooseBackend({ config: {}, isTty: false, isInstalled: installed() });
  expect(choice).not.toHaveProperty("backend");
  for (const command of ["ostler backends install claude", "ostler backends install codex", "cli.kiro.dev"]) {
    expect(choice).toMatchObject({ none: expect.stringContaining(command) });
  }
});
