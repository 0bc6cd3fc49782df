import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadConfig } from "../../src/host/config.ts";
import { inspectBackends } from "../../src/host/doctor.ts";
import { readLoginHints } from "../../src/host/login-hints.ts";
import { UsageError } from "../../src/host/usage-error.ts";

const agent = fileURLToPath(new URL("probe-agent.mjs", import.meta.url));
let home: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "ostler-doctor-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  chmodSync(join(home, path), mode);
}

async function inspect(
  options: { env?: NodeJS.ProcessEnv; config?: unknown; only?: string; smoke?: boolean; signal?: AbortSignal } = {},
) {
  const { env: more, config, ...rest } = options;
  if (config !== undefined) write("ostler/config.json", JSON.stringify(config));
  const env = {
    PATH: join(home, "bin"),
    HOME: home,
    OSTLER_HOME: join(home, "ostler"),
    PROBE_FILE: join(home, "probe"),
    ...more,
  };
  return inspectBackends({ loaded: await loadConfig({ cwd: home, env }), env, cwd: home, ...rest });
}

async function inspectOne(only: string, options: Parameters<typeof inspect>[0] = {}) {
  const [report] = (await inspect({ ...options, only })).backends;
  return report;
}

test("a machine with nothing: every backend in order, how to install it, and not ok", async () => {
  const report = await inspect();
  expect(report.backends.map(({ backend, status }) => [backend, status])).toEqual([
    ["claude", "missing"],
    ["codex", "missing"],
    ["kiro", "missing"],
    ["demo", "found"],
  ]);
  expect(report.backends[1]).toMatchObject({
    install: "ostler backends install codex",
    searched: [join(home, "bin"), join(home, "ostler/adapters/node_modules/.bin")],
    testedVersion: "2.6.0",
  });
  expect(report.ok).toBe(false);
});

test("names of variables are told, values never", async () => {
  const env = { OPENAI_API_KEY: "sk-value", SSH_AUTH_SOCK: "/value", SLACK_BOT_TOKEN: "xoxb-value" };
  const report = await inspect({ env });
  expect(report.backends[1]?.environment).toEqual(expect.arrayContaining(["OPENAI_API_KEY", "SSH_AUTH_SOCK"]));
  expect(report.backends[1]?.environment).not.toContain("SLACK_BOT_TOKEN");
  expect(JSON.stringify(report)).not.toMatch(/value/);
});

test.each([
  { from: "codex, a key", profile: "codex", env: { OPENAI_API_KEY: "k" }, file: undefined, login: "found" },
  { from: "codex, a login file", profile: "codex", env: {}, file: ".codex/auth.json", login: "found" },
  {
    from: "codex, its own folder",
    profile: "codex",
    env: { CODEX_HOME: "/nowhere" },
    file: ".codex/auth.json",
    login: "not_found",
  },
  { from: "codex, an empty key", profile: "codex", env: { OPENAI_API_KEY: "" }, file: undefined, login: "not_found" },
  { from: "claude, a key", profile: "claude", env: { ANTHROPIC_API_KEY: "k" }, file: undefined, login: "found" },
  { from: "claude, a login file", profile: "claude", env: {}, file: ".claude/.credentials.json", login: "found" },
  { from: "kiro, a key", profile: "kiro", env: { KIRO_API_KEY: "k" }, file: undefined, login: "found" },
  { from: "kiro, a login that no file tells", profile: "kiro", env: {}, file: undefined, login: "unknown" },
  { from: "any other agent", profile: "generic", env: {}, file: undefined, login: "unknown" },
] as const)("login of $from: $login", ({ profile, env, file, login }) => {
  if (file !== undefined) write(file, "{}");
  const hints = readLoginHints(profile, { HOME: home, ...env });
  expect(hints.login).toBe(process.platform === "darwin" && login === "not_found" ? "unknown" : login);
  expect(hints.found === undefined).toBe(login !== "found");
});

test("the version of an adapter is its package's, found through the link that npm makes", async () => {
  const folder = "ostler/adapters/node_modules/@agentclientprotocol/codex-acp";
  write(
    `${folder}/package.json`,
    JSON.stringify({ name: "@agentclientprotocol/codex-acp", version: "2.5.9", bin: { "codex-acp": "index.js" } }),
  );
  write(`ostler/adapters/node_modules/.bin/codex-acp`, "#!/usr/bin/env node\n", 0o755);
  expect(await inspectOne("codex"), "a program beside the package is not the package").not.toHaveProperty("version");
  rmSync(join(home, "ostler/adapters/node_modules/.bin/codex-acp"));
  write(`${folder}/index.js`, "#!/usr/bin/env node\n", 0o755);

  symlinkSync(join(home, folder, "index.js"), join(home, "ostler/adapters/node_modules/.bin/codex-acp"));
  expect(await inspectOne("codex")).toMatchObject({ status: "found", version: "2.5.9", testedVersion: "2.6.0" });
});

test("kiro is asked for its version", async () => {
  write("bin/kiro-cli", '#!/bin/sh\n[ "$1" = --version ] && echo "kiro-cli 2.18.0"\n', 0o755);
  expect(await inspectOne("kiro")).toMatchObject({ version: "2.18.0", command: [join(home, "bin/kiro-cli"), "acp"] });
});

test("a program of somebody's own is not started only to be looked at", async () => {
  const config = { backends: { mine: { command: [process.execPath, agent, "mine"] } } };
  const report = await inspectOne("mine", { config });
  expect(report).toMatchObject({ status: "found", command: [process.execPath, agent, "mine"] });
  expect(report?.findings.map(({ check }) => check)).not.toContain("start");
  expect(existsSync(join(home, "probe"))).toBe(false);
});

test("smoke starts the agent and opens a session", async () => {
  const config = { backends: { mine: { command: [process.execPath, agent, "mine"] } } };
  const report = await inspect({ config, only: "mine", smoke: true });
  expect(report.backends[0]?.findings).toContainEqual({ check: "start", ok: true, note: "starts and opens a session" });
  expect(report.ok).toBe(true);
});

test.each([
  { from: "no login", command: [process.execPath, agent, "mine"], env: { PROBE_FAILS: "session" }, kind: "auth" },
  {
    from: "a program that is no agent",
    command: [process.execPath, "-e", "process.exit(3)"],
    env: {},
    kind: "agent_spawn",
  },
])("smoke says what failed: $from", async ({ command, env, kind }) => {
  const report = await inspect({ config: { backends: { mine: { command } } }, only: "mine", smoke: true, env });
  expect(report.ok).toBe(false);
  expect(report.backends[0]?.findings).toContainEqual(
    expect.objectContaining({ ok: false, failure: expect.objectContaining({ kind }) }),
  );
});

test("smoke leaves alone what is missing", async () => {
  expect((await inspectOne("codex", { smoke: true }))?.findings.map(({ check }) => check)).toEqual(["program"]);
});

test("an unknown name is a usage error", async () => {
  await expect(inspect({ only: "codx" })).rejects.toThrow(UsageError);
});

test("the configuration's files and warnings are part of the report", async () => {
  const { config, findings } = await inspect({ config: { colour: 1 } });
  expect(config).toEqual({ sources: [join(home, "ostler/config.json")] });
  expect(findings).toContainEqual({
    check: "config",
    ok: true,
    problem: "~/ostler/config.json: colour is not a setting, so it is ignored",
    fix: "Correct ~/ostler/config.json; docs/config.md lists every key",
  });
});

test("a stop ends the agent that is looked at, and no other is started", async () => {
  const abort = new AbortController();
  write("bin/silent", `#!/bin/sh\necho "$1 $$" >>"$HOME/started"\nexec /bin/sleep 60\n`, 0o755);
  const config = { backends: { one: { command: ["silent", "one"] }, two: { command: ["silent", "two"] } } };
  const watcher = watch(home);
  const isStarted = new Promise<void>((resolve) => {
    watcher.on("change", (_type, file) => {
      if (file === "started" && readFileSync(join(home, file), "utf8") !== "") resolve();
    });
  });
  const inspecting = inspect({ config, smoke: true, signal: abort.signal });
  await isStarted;
  watcher.close();
  abort.abort(new Error("stopped"));
  await expect(inspecting).rejects.toThrow("stopped");
  const [, name, pid] = /^(\w+) (\d+)\n$/.exec(readFileSync(join(home, "started"), "utf8")) ?? [];
  expect(name).toBe("one");
  expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
});
