import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AcpRuntimeError } from "../../src/errors/runtime-error.ts";
import { createHost } from "../../src/host/host.ts";
import type { HostOptions } from "../../src/host/host.ts";
import { UsageError } from "../../src/host/usage-error.ts";

const agent = fileURLToPath(new URL("probe-agent.mjs", import.meta.url));
let home: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "ostler-host-")));
  mkdirSync(join(home, "work"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function configure(config: unknown): void {
  mkdirSync(join(home, "ostler"), { recursive: true });
  writeFileSync(join(home, "ostler/config.json"), JSON.stringify(config));
}

function host(options: Omit<HostOptions, "env"> & { env?: NodeJS.ProcessEnv } = {}) {
  const env = {
    PATH: join(home, "bin"),
    HOME: home,
    OSTLER_HOME: join(home, "ostler"),
    PROBE_FILE: join(home, "probe"),
    ...options.env,
  };
  return createHost({ cwd: join(home, "work"), ...options, env });
}

/** The probe as a program in PATH, run by this very Node. */
function program(path: string, name: string): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${agent}' ${name} "$@"\n`);
  chmodSync(file, 0o755);
}

function probed(): { started?: string; ended?: string; args: string[]; cwd: string; env: Record<string, string> }[] {
  return readFileSync(join(home, "probe"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const probeCommand = (name: string) => [process.execPath, agent, name];

test("the demo agent answers, from configuration to outcome", async () => {
  await using demo = await host();
  const { runtime, backend } = await demo.openRuntime({ backend: "demo" });
  const session = await runtime.openSession({ cwd: join(home, "work") });
  const outcome = await session.prompt("hello").outcome;
  expect({ backend, kind: outcome.kind }).toEqual({ backend: "demo", kind: "completed" });
  expect(outcome.text).toContain("hello");
});

test("an agent gets its command, its folder, and the user's environment without Ostler's secrets", async () => {
  configure({ backends: { mine: { command: [...probeCommand("mine"), "--acp"], env: { ADDED: "1" } } } });
  await using own = await host({
    env: { SSH_AUTH_SOCK: "/s", TELEGRAM_BOT_TOKEN: "secret", OSTLER_X_TOKEN: "secret" },
  });
  await own.openRuntime({ backend: "mine" });
  const [start] = probed();
  expect(start).toMatchObject({ args: ["mine", "--acp"], cwd: join(home, "work") });
  expect(start?.env).toMatchObject({ SSH_AUTH_SOCK: "/s", ADDED: "1", HOME: home });
  expect(Object.values(start?.env ?? {})).not.toContain("secret");
});

test("serve passes the list and nothing else", async () => {
  configure({ backends: { mine: { command: probeCommand("mine"), inheritEnv: ["PROBE_FILE"] } } });
  await using own = await host({ surface: "serve", env: { SSH_AUTH_SOCK: "/s", OPENAI_API_KEY: "o" } });
  await own.openRuntime({ backend: "mine" });
  expect(Object.keys(probed()[0]?.env ?? {})).toEqual(expect.arrayContaining(["HOME", "PATH", "PROBE_FILE"]));
  expect(probed()[0]?.env).not.toHaveProperty("SSH_AUTH_SOCK");
  expect(probed()[0]?.env).not.toHaveProperty("OPENAI_API_KEY");
});

test("an ad-hoc command line is split like a shell would, and started without one", async () => {
  await using own = await host();
  const { backend } = await own.openRuntime({ agent: `'${process.execPath}' ${agent} "two words" $HOME` });
  expect(backend).toBe("agent");
  expect(probed()[0]?.args).toEqual(["two words", "$HOME"]);
});

test.each([
  { from: "said", profile: "kiro" as const, path: "bin/some-agent", expected: "kiro" },
  { from: "the program's name", profile: undefined, path: "bin/codex-acp", expected: "codex" },
  { from: "nothing", profile: undefined, path: "bin/some-agent", expected: "generic" },
])("the habits of an ad-hoc agent come from what was $from", async ({ profile, path, expected }) => {
  program(path, "x");
  await using own = await host();
  const options = { agent: path.slice("bin/".length), ...(profile !== undefined && { profile }) };
  const { runtime } = await own.openRuntime(options);
  expect(runtime.backend.profile).toBe(expected);
});

test("without a name the first one installed is started", async () => {
  program("bin/codex-acp", "codex");
  program("bin/kiro-cli", "kiro");
  await using own = await host();
  const { backend, notice } = await own.openRuntime();
  expect({ backend, notice, started: probed()[0]?.started }).toEqual({
    backend: "codex",
    notice: undefined,
    started: "codex",
  });
});

test("with none installed a terminal gets the demo and is told so; anything else an error that names the commands", async () => {
  await using own = await host();
  const { backend, notice } = await own.openRuntime({ isTty: true });
  expect({ backend, notice }).toEqual({ backend: "demo", notice: expect.stringContaining("backends install claude") });
  const error = await own.openRuntime().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AcpRuntimeError);
  expect(error).toMatchObject({
    failure: { kind: "agent_spawn", title: expect.stringContaining("backends install codex") },
  });
});

test("a missing program is a failure that names the folders and the install command", async () => {
  await using own = await host();
  const error = await own.openRuntime({ backend: "codex" }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    failure: {
      kind: "agent_spawn",
      retry: "never",
      replaySafety: "not_sent",
      title: expect.stringMatching(/ostler backends install codex.* is not in ~\/bin, /),
    },
  });
});

test.each([
  { from: "an unknown name", options: { backend: "claud" }, says: 'did you mean "claude"' },
  { from: "a name and a command line", options: { backend: "codex", agent: "x" }, says: "not both" },
  { from: "an open quote", options: { agent: "'x" }, says: "never closed" },
])("$from is a usage error, and nothing is started", async ({ options, says }) => {
  await using own = await host();
  const error = await own.openRuntime(options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({ message: expect.stringContaining(says) });
  expect(probed).toThrow("ENOENT");
});

test("close stops every agent, and a second close waits for the same", async () => {
  const own = await host();
  for (const name of ["first", "second", "third"]) await own.openRuntime({ agent: probeCommand(name).join(" ") });
  await Promise.all([own.close(), own.close()]);
  expect(
    probed()
      .flatMap(({ ended }) => ended ?? [])
      .toSorted(),
  ).toEqual(["first", "second", "third"]);
});

test("an agent that is asked for before the close and not started yet is not started any more", async () => {
  const own = await host();
  const opening = own.openRuntime({ agent: probeCommand("late").join(" ") });
  await own.close();
  await expect(opening).rejects.toThrow("Ostler is stopping");
  expect(probed).toThrow("ENOENT");
});

test("the configuration's warnings are there to be shown", async () => {
  configure({ colour: "red" });
  await using own = await host();
  expect(own.warnings).toHaveLength(1);
});
