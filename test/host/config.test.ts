import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DEFAULT_CONFIG } from "../../src/host/config-defaults.ts";
import { backendSettings, diagnoseConfig, loadConfig } from "../../src/host/config.ts";
import { UsageError } from "../../src/host/usage-error.ts";

let home: string;
const user = ".config/ostler/config.json";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ostler-config-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(path: string, content: unknown): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

function load(options: { cwd?: string; configFile?: string; env?: NodeJS.ProcessEnv } = {}) {
  const cwd = join(home, options.cwd ?? "project");
  mkdirSync(cwd, { recursive: true });
  const { configFile, env } = options;
  return loadConfig({ cwd, env: { HOME: home, ...env }, ...(configFile !== undefined && { configFile }) });
}

/** The part of the published defaults that a user can look up: literals, not the module under test. */
const documentedDefaults = {
  approve: "reads",
  confined: false,
  failures: { strictRetry: false },
  notify: {},
  timeouts: {
    handshakeS: 60,
    sessionS: 90,
    firstByteS: 120,
    idleS: 300,
    toolS: 3600,
    turnS: 7200,
    cancelGraceS: 5,
    permissionS: 300,
  },
  restart: { burst: 5, periodS: 60 },
  retry: { retries: 3 },
  limits: { lineBytes: 67_108_864, queue: 20 },
  retention: { days: 30, mib: 2048 },
};

test("without any file: the documented defaults, no warning, no source", async () => {
  const loaded = await load();
  expect(loaded).toEqual({ config: { ...documentedDefaults, backends: {} }, warnings: [], sources: [] });
});

test("without any file zod is not loaded", () => {
  const script = `
    import { registerHooks } from "node:module";
    registerHooks({ load(url, context, next) { if (url.includes("/zod/")) console.log(url); return next(url, context); } });
    const { loadConfig } = await import(${JSON.stringify(new URL("../../src/host/config.ts", import.meta.url).href)});
    await loadConfig({ cwd: process.argv[1], env: { HOME: process.argv[1] } });
    console.log("loaded");`;
  const run = () =>
    execFileSync(process.execPath, ["--input-type=module", "-e", script, home], { encoding: "utf8" })
      .trim()
      .split("\n");
  expect(run()).toEqual(["loaded"]);
  write(user, {});
  expect(run().length, "the same script sees zod when there is a file").toBeGreaterThan(1);
});

test("the user's file, project files from the outside in, then --config", async () => {
  const first = write(user, { approve: "all", timeouts: { idleS: 200, toolS: 200, turnS: 200, sessionS: 50 } });
  const second = write("project/.ostler.json", { approve: "reads", timeouts: { idleS: 150, toolS: 150 } });
  const third = write("project/deep/er/.ostler.json", { timeouts: { idleS: 100 } });
  const fourth = write("mine.json", { timeouts: { turnS: 9000 }, approve: "all" });
  const { config, warnings, sources } = await load({ cwd: "project/deep/er", configFile: fourth });
  expect(config.timeouts).toMatchObject({ idleS: 100, toolS: 150, turnS: 9000, sessionS: 50, handshakeS: 60 });
  expect(config.approve).toBe("all");
  expect(warnings).toEqual([]);
  expect(sources).toEqual([first, second, third, fourth]);
});

test.each([
  { from: "XDG_CONFIG_HOME", env: { XDG_CONFIG_HOME: "/xdg" }, file: "xdg/ostler/config.json" },
  { from: "OSTLER_HOME", env: { OSTLER_HOME: "/one" }, file: "one/config.json" },
])("the user's file is looked for in $from", async ({ env, file }) => {
  const path = write(file, { retry: { retries: 1 } });
  const here = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, home + value]));
  const { config, sources } = await load({ env: here });
  expect({ retries: config.retry.retries, sources }).toEqual({ retries: 1, sources: [path] });
});

test.each([
  { from: "the user's file", where: user },
  { from: "a project file", where: ".ostler.json" },
])("too deep to be validated: $from is ignored, and nothing is approved", async ({ where }) => {
  write(where, `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
  const { config, warnings } = await load();
  expect(config.approve).toBe("none");
  expect(warnings).toEqual([expect.stringContaining("is nested too deeply")]);
});

test("--config: more than a page of text is refused", async () => {
  const file = write("mine.json", `{${" ".repeat(1024 * 1024)}}`);
  await expect(load({ configFile: file })).rejects.toThrow("is larger than 1 MiB");
});

test("the example of the design: a backend's settings over its defaults, and a new backend", async () => {
  write(user, {
    $schema: "./config.schema.json",
    defaultBackend: "claude",
    backends: {
      codex: { command: ["codex-acp"], env: {}, inheritEnv: ["OPENAI_API_KEY"], profile: "codex", air: true },
      mine: { command: ["my-agent", "--acp"], env: { A: "1" }, model: "m", mode: "ask" },
    },
  });
  const { config, warnings } = await load();
  expect(warnings).toEqual([]);
  expect(config.defaultBackend).toBe("claude");
  expect(config.backends["codex"]).toEqual({
    command: ["codex-acp"],
    env: {},
    inheritEnv: ["OPENAI_API_KEY"],
    profile: "codex",
    air: true,
    notices: false,
    terminalOutput: true,
  });
  expect(config.backends["mine"]).toMatchObject({ command: ["my-agent", "--acp"], env: { A: "1" }, model: "m" });
});

test("the settings of a backend are laid over each other file by file, its variables one by one", async () => {
  write(user, { backends: { codex: { env: { A: "user", B: "user" }, model: "user", air: false } } });
  const file = write("mine.json", { backends: { codex: { env: { B: "mine" }, notices: true } } });
  const { config } = await load({ configFile: file });
  expect(config.backends["codex"]).toEqual({
    env: { A: "user", B: "mine" },
    inheritEnv: [],
    model: "user",
    air: false,
    notices: true,
    terminalOutput: true,
  });
});

test.each([
  {
    from: "a number above its range",
    content: { timeouts: { idleS: 1e9 } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.timeouts.idleS,
    value: 86_400,
    warning: "timeouts.idleS must be at most 86400, so 86400 is used",
  },
  {
    from: "a number below its range",
    content: { retention: { days: -3 } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.retention.days,
    value: 1,
    warning: "retention.days must be at least 1, so 1 is used",
  },
  {
    from: "text for a number",
    content: { timeouts: { toolS: "5" } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.timeouts.toolS,
    value: 3600,
    warning: "timeouts.toolS must be a number, so it is ignored",
  },
  {
    from: "more retries than --retries takes",
    content: { retry: { retries: 21 } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.retry.retries,
    value: 20,
    warning: "retry.retries must be at most 20, so 20 is used",
  },
  {
    from: "half a retry",
    content: { retry: { retries: 1.5 } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.retry.retries,
    value: 3,
    warning: "retry.retries must be a whole number, so it is ignored",
  },
  {
    from: "a number for a section",
    content: { limits: 4 },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.limits,
    value: { lineBytes: 67_108_864, queue: 20 },
    warning: "limits must be an object, so it is ignored",
  },
  {
    from: "null for a flag",
    content: { backends: { codex: { air: null } } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.backends["codex"]?.air,
    value: true,
    warning: "backends.codex.air must be true or false, so it is ignored",
  },
  {
    from: "one bad variable among good ones",
    content: { backends: { codex: { env: { GOOD: "1", BAD: 2 } } } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.backends["codex"]?.env,
    value: { GOOD: "1" },
    warning: "backends.codex.env.BAD must be text, so it is ignored",
  },
  {
    from: "a list with a bad element, which must not let more through",
    content: { backends: { codex: { inheritEnv: ["A", 3] } } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.backends["codex"]?.inheritEnv,
    value: [],
    warning: "backends.codex.inheritEnv must be text, so it is ignored",
  },
  {
    from: "a misspelt section",
    content: { timeout: { idleS: 5 } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.timeouts.idleS,
    value: 300,
    warning: 'timeout is not a setting (did you mean "timeouts"?), so it is ignored',
  },
  {
    from: "a misspelt setting",
    content: { timeouts: { idelS: 5 } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.timeouts.idleS,
    value: 300,
    warning: 'timeouts.idelS is not a setting (did you mean "idleS"?), so it is ignored',
  },
  {
    from: "a key that is near to nothing, with control characters",
    content: { "\u001b[31mcolour of the sky": 1 },
    at: (config: typeof DEFAULT_CONFIG): unknown => config,
    value: DEFAULT_CONFIG,
    warning: '"colour of the sky" is not a setting, so it is ignored',
  },
  {
    from: "a new backend without a command",
    content: { backends: { codx: { model: "m" } } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.backends,
    value: {},
    warning: 'backends.codx has no command (did you mean "codex"?), so it is ignored',
  },
  {
    from: "a backend name that would be read as a flag",
    content: { backends: { "-x": { command: ["a"] } } },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.backends,
    value: {},
    warning: "backends.-x must be a name of letters, digits, dots, dashes and underscores, so it is ignored",
  },
  {
    from: "a default backend that does not exist",
    content: { defaultBackend: "claud" },
    at: (config: typeof DEFAULT_CONFIG): unknown => config.defaultBackend,
    value: undefined,
    warning: 'defaultBackend names no backend: claud (did you mean "claude"?), so it is ignored',
  },
])("$from: one warning", async ({ content, at, value, warning }) => {
  write(user, content);
  const { config, warnings } = await load();
  expect(at(config)).toEqual(value);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(warning);
});

test("several faults are said one by one, and the good settings stay", async () => {
  write(user, { approve: "none", timeouts: { idleS: 1e9, toolS: "x", turnS: 50 }, colour: 1, retry: [] });
  const { config, warnings } = await load();
  expect(warnings).toHaveLength(4);
  expect(config.timeouts).toMatchObject({ idleS: 86_400, toolS: 3600, turnS: 50 });
  expect(config.approve).toBe("none");
});

test.each([
  { from: "a missing brace", text: '{\n  "approve": "all",\n  "x": {', position: "line 3, column 9" },
  { from: "an empty file", text: "", position: "" },
  { from: "a value where V8 would quote the text around it", text: '{"key": sk-live-0123456789}', position: "" },
])("invalid JSON, $from: one warning, defaults, and nothing approved by itself", async ({ text, position }) => {
  write(user, text);
  const { config, warnings, sources } = await load();
  expect(config).toEqual({ ...DEFAULT_CONFIG, approve: "none" });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain("~/.config/ostler/config.json is not valid JSON");
  expect(warnings[0]).toContain(position);
  expect(warnings[0]).not.toContain("sk-live");
  expect(sources).toHaveLength(1);
});

test.each([
  { from: "a list", prepare: () => write(user, "[]") },
  { from: "text", prepare: () => write(user, '"reads"') },
  { from: "a folder in its place", prepare: () => mkdirSync(join(home, user), { recursive: true }) },
  { from: "a megabyte of something else", prepare: () => write(user, " ".repeat(1024 * 1024 + 1)) },
  {
    from: "a named pipe that nobody writes to",
    prepare: () => {
      mkdirSync(dirname(join(home, user)), { recursive: true });
      execFileSync("mkfifo", [join(home, user)]);
    },
  },
])("$from instead of a JSON object: one warning, defaults, nothing approved by itself", async ({ prepare }) => {
  prepare();
  const { config, warnings } = await load();
  expect(config).toEqual({ ...DEFAULT_CONFIG, approve: "none" });
  expect(warnings).toHaveLength(1);
});

test("a byte order mark is not a fault", async () => {
  write(user, '\uFEFF{"retry":{"retries":0}}');
  expect(await load()).toMatchObject({ config: { retry: { retries: 0 } }, warnings: [] });
});

test.each([
  { from: "a flag", content: { approve: true } },
  { from: "an unknown word", content: { approve: "write" } },
  { from: "null", content: { approve: null } },
  { from: "a misspelt key", content: { aprove: "reads" } },
  { from: "a key of another tool", content: { permissions: { defaultMode: "deny" } } },
  { from: "a gate that this version does not know", content: { gate: "optional" } },
  { from: "a misspelt gate", content: { gates: "required" } },
])("a permission setting that cannot be read approves nothing: $from", async ({ content }) => {
  write(user, content);
  const { config, warnings } = await load();
  expect(config.approve).toBe("none");
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain("nothing is approved by itself");
});

test.each([
  {
    from: "text for a command",
    content: { backends: { codex: { command: "codex-acp --x" } } },
    says: "backends.codex.command",
  },
  { from: "an empty command", content: { backends: { codex: { command: [] } } }, says: "backends.codex.command" },
  { from: "an empty program", content: { backends: { codex: { command: [""] } } }, says: "backends.codex.command" },
  { from: "a number among the arguments", content: { backends: { codex: { command: ["a", 1] } } }, says: "command" },
  {
    from: "a misspelt command",
    content: { backends: { codex: { comand: ["safe"] } } },
    says: 'did you mean "command"',
  },
  {
    from: "an unknown profile",
    content: { backends: { codex: { profile: "gpt" } } },
    says: "kiro, codex, claude, generic",
  },
  { from: "a misspelt profile", content: { backends: { codex: { profil: "codex" } } }, says: 'did you mean "profile"' },
  {
    from: "text for a backend",
    content: { backends: { codex: "codex-acp" } },
    says: "backends.codex must be an object",
  },
  { from: "a list of backends", content: { backends: [] }, says: "backends must be an object" },
])("what decides which program starts is never guessed: $from", async ({ content, says }) => {
  write(user, content);
  const error = await load().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(says) });
});

test("a diagnosis leaves out what would be refused, says it once, and approves nothing by itself", async () => {
  write(user, {
    approve: "all",
    retry: { retries: 1 },
    backends: { m: { command: [1, 2] }, codex: { profile: "gpt", model: "big" } },
  });
  const { config, warnings, faults } = await diagnoseConfig({ cwd: home, env: { HOME: home } });
  expect(config).toMatchObject({ approve: "none", retry: { retries: 1 }, backends: { codex: { model: "big" } } });
  expect(Object.keys(config.backends)).toEqual(["codex"]);
  expect(config.backends["codex"]).not.toHaveProperty("profile");
  expect({ warnings, faults: faults.map(({ sentence, backend }) => ({ sentence, backend })) }).toEqual({
    warnings: [],
    faults: [
      { sentence: "~/.config/ostler/config.json: backends.m.command must be text", backend: "m" },
      {
        sentence: "~/.config/ostler/config.json: backends.codex.profile must be one of kiro, codex, claude, generic",
        backend: "codex",
      },
    ],
  });
});

test("a diagnosis of what is fine changes nothing", async () => {
  write(user, { approve: "all" });
  const options = { cwd: home, env: { HOME: home } };
  expect(await diagnoseConfig(options)).toEqual({ ...(await loadConfig(options)), faults: [] });
});

test.each([
  { from: "a missing file", path: "nowhere.json", says: "does not exist" },
  { from: "a folder", path: ".", says: "is a folder" },
])("--config with $from is a usage error", async ({ path, says }) => {
  const error = await load({ configFile: join(home, path) }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(says) });
});

test("--config is relative to the working folder", async () => {
  write("project/own.json", { retry: { retries: 0 } });
  const { config } = await load({ configFile: "own.json" });
  expect(config.retry.retries).toBe(0);
});

test.each([
  { from: "approve", content: { approve: "all" }, name: "approve" },
  { from: "a command", content: { backends: { codex: { command: ["./evil"] } } }, name: "backends.codex.command" },
  {
    from: "environment",
    content: { backends: { codex: { env: { NODE_OPTIONS: "-r evil" } } } },
    name: "backends.codex.env",
  },
  {
    from: "inherited names",
    content: { backends: { codex: { inheritEnv: ["SECRET"] } } },
    name: "backends.codex.inheritEnv",
  },
  { from: "a mode", content: { backends: { codex: { mode: "agent-full-access" } } }, name: "backends.codex.mode" },
  { from: "a profile", content: { backends: { codex: { profile: "generic" } } }, name: "backends.codex.profile" },
  { from: "silence about failures", content: { backends: { codex: { air: false } } }, name: "backends.codex.air" },
  { from: "a longer deadline", content: { timeouts: { turnS: 7201 } }, name: "timeouts.turnS" },
  { from: "more retries", content: { retry: { retries: 4 } }, name: "retry.retries" },
  { from: "a larger bound", content: { limits: { lineBytes: 67_108_865 } }, name: "limits.lineBytes" },
  { from: "retention of evidence", content: { retention: { days: 1 } }, name: "retention" },
  { from: "restarts", content: { restart: { burst: 1 } }, name: "restart" },
])("a project file cannot set $from, and that is said once", async ({ content, name }) => {
  write("project/.ostler.json", content);
  const { config, warnings } = await load();
  expect({ ...config, backends: {} }).toEqual(DEFAULT_CONFIG);
  for (const settings of Object.values(config.backends)) {
    expect(settings).toEqual({ env: {}, inheritEnv: [], air: true, notices: false, terminalOutput: true });
  }
  expect(warnings).toEqual([`~/project/.ostler.json: a project file may only tighten, so ${name} is ignored`]);
});

test("a new backend in a project file is no backend", async () => {
  write("project/.ostler.json", { defaultBackend: "evil", backends: { evil: { command: ["./evil"] } } });
  const { config, warnings } = await load();
  expect(config).toEqual(DEFAULT_CONFIG);
  expect(warnings).toHaveLength(3);
});

test("a project file may tighten and choose among what there is", async () => {
  write(user, { approve: "all" });
  write("project/.ostler.json", {
    approve: "none",
    defaultBackend: "codex",
    backends: { codex: { model: "small", notices: true } },
    timeouts: { turnS: 60 },
    retry: { retries: 0 },
    limits: { queue: 1 },
  });
  const { config, warnings } = await load();
  expect(warnings).toEqual([]);
  expect(config).toMatchObject({
    approve: "none",
    defaultBackend: "codex",
    backends: { codex: { model: "small", notices: true } },
    timeouts: { turnS: 60 },
    retry: { retries: 0 },
    limits: { queue: 1 },
  });
});

test.each([
  { from: "an unusable command", content: { backends: { codex: { command: 5 } } } },
  { from: "a misspelt command", content: { backends: { codex: { comand: ["./evil"] } } } },
  { from: "text for its backends", content: { backends: "none" } },
])("a project file with $from stops nobody", async ({ content }) => {
  write("project/.ostler.json", content);
  const { config, warnings } = await load();
  expect(config.backends["codex"]?.command).toBeUndefined();
  expect(warnings).toHaveLength(1);
});

test("a project file that cannot be read approves nothing, even over the user's `all`", async () => {
  write(user, { approve: "all" });
  write("project/.ostler.json", "{");
  expect((await load()).config.approve).toBe("none");
});

test.each(["toString", "constructor", "__proto__", "unknown"])("a backend called %s has the defaults", async (name) => {
  write(user, `{"backends":{"__proto__":{"command":["evil"],"air":false}},"__proto__":{"approve":"all"}}`);
  const { config } = await load();
  expect(config.approve).toBe("reads");
  expect(backendSettings(config, name)).toEqual({
    env: {},
    inheritEnv: [],
    air: true,
    notices: false,
    terminalOutput: true,
  });
});

test("the gate is the user's alone, and one that cannot be read is required", async () => {
  write(user, { gate: true });
  expect((await load()).config.gate).toBe("required");
  write(user, { gate: "required" });
  expect((await load()).config.gate).toBe("required");
  expect((await load()).warnings).toEqual([]);
});

test("who is told of background commands is the user's to say", async () => {
  write(user, { notify: { command: ["tell-me", "--now"] } });
  write("project/.ostler.json", { notify: { command: ["evil"] } });
  const { config, warnings } = await load();
  expect(config.notify).toEqual({ command: ["tell-me", "--now"] });
  expect(warnings).toEqual([expect.stringContaining("a project file may only tighten, so notify is ignored")]);
});

test("confinement may be switched on by a project file and not off, and one that cannot be read is on", async () => {
  expect((await load()).config.confined).toBe(false);
  write(user, { confined: "yes" });
  expect((await load()).config.confined).toBe(true);
  write(user, { confined: true });
  write("project/.ostler.json", { confined: false, failures: { strictRetry: true } });
  const tightened = await load();
  expect(tightened.config).toMatchObject({ confined: true, failures: { strictRetry: false } });
  expect(tightened.warnings).toHaveLength(2);
  write(user, {});
  write("project/.ostler.json", { confined: true });
  expect((await load()).config.confined).toBe(true);
});
