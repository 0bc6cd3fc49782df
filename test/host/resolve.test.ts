import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ostlerPaths } from "../../src/host/paths.ts";
import { resolveCommand } from "../../src/host/resolve.ts";

let home: string;
const adaptersBin = "home/adapters/node_modules/.bin";

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "ostler-resolve-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function program(path: string, content = "#!/bin/sh\necho found\n", mode = 0o755): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

function resolve(
  backend: string,
  options: { command?: string[]; path?: string[]; cwd?: string; adHoc?: boolean } = {},
) {
  const { command, adHoc = false, path = ["one", "two"], cwd = "work" } = options;
  const folders = path.map((folder) => (folder === "" || folder === "." ? folder : join(home, folder)));
  const env = { HOME: home, OSTLER_HOME: join(home, "home"), PATH: folders.join(":") };
  return resolveCommand({
    backend,
    adHoc,
    ...(command !== undefined && { command }),
    cwd: join(home, cwd),
    env,
    paths: ostlerPaths(env),
  });
}

test.each([
  { backend: "claude", binary: "claude-agent-acp", args: [] },
  { backend: "codex", binary: "codex-acp", args: [] },
  { backend: "kiro", binary: "kiro-cli", args: ["acp"] },
])("$backend is $binary $args, the first one in PATH", ({ backend, binary, args }) => {
  const first = program(`two/${binary}`);
  program(`three/${binary}`);
  program(`${adaptersBin}/${binary}`);
  expect(resolve(backend, { path: ["one", "two", "three"] })).toEqual({ found: { file: first, args }, at: first });
});

test("an adapter that Ostler installed comes after PATH and runs under our own Node", () => {
  const script = program("home/adapters/node_modules/codex-acp/index.js", "#!/usr/bin/env node\nconsole.log('hi')\n");
  mkdirSync(join(home, adaptersBin), { recursive: true });
  symlinkSync(script, join(home, adaptersBin, "codex-acp"));
  const resolution = resolve("codex");
  expect(resolution).toMatchObject({
    found: { file: process.execPath, args: [join(home, adaptersBin, "codex-acp")] },
    at: join(home, adaptersBin, "codex-acp"),
  });
  if (!("found" in resolution)) throw new Error("not found");
  const { file, args } = resolution.found;
  // PATH is empty: the shebang alone would find no node.
  expect(execFileSync(file, args, { encoding: "utf8", env: { PATH: "" } })).toBe("hi\n");
});

test("an installed adapter that is no Node script is run as it is", () => {
  const native = program(`${adaptersBin}/codex-acp`, "\u007fELF");
  expect(resolve("codex")).toEqual({ found: { file: native, args: [] }, at: native });
});

test("the config's command replaces the built-in one, arguments as given", () => {
  const file = program("one/kiro-cli");
  const command = ["kiro-cli", "acp", "--agent-engine", "v3", "$HOME; *"];
  expect(resolve("kiro", { command })).toEqual({
    found: { file, args: ["acp", "--agent-engine", "v3", "$HOME; *"] },
    at: file,
  });
});

test.each([
  { from: "a relative path with a slash", command: "./agents/mine", file: "work/agents/mine" },
  { from: "a path that climbs", command: "../other/mine", file: "other/mine" },
  { from: "the home folder", command: "~/bin/mine", file: "bin/mine" },
])("$from is resolved against the working folder, without PATH", ({ command, file }) => {
  const expected = program(file);
  program("one/mine");
  expect(resolve("mine", { command: [command, "--acp"] })).toEqual({
    found: { file: expected, args: ["--acp"] },
    at: expected,
  });
});

test("a program of the working folder is not picked up through an empty entry of PATH", () => {
  program("work/codex-acp");
  expect(resolve("codex", { path: ["", "one"] })).toHaveProperty("missing");
});

test("missing: exactly the folders that were searched, and the install command", () => {
  expect(resolve("codex", { path: ["one", "two", "one"] })).toEqual({
    missing: {
      program: "codex-acp",
      faults: [],
      searched: [join(home, "one"), join(home, "two"), join(home, adaptersBin)],
      install: "ostler backends install codex",
      sentence:
        "The agent codex is not installed (install it with: ostler backends install codex): codex-acp is not in ~/one, ~/two, ~/home/adapters/node_modules/.bin",
    },
  });
});

test.each([
  { backend: "claude", install: "ostler backends install claude" },
  { backend: "kiro", install: "curl -fsSL https://cli.kiro.dev/install | bash" },
])("missing $backend names its own install command", ({ backend, install }) => {
  expect(resolve(backend)).toMatchObject({ missing: { install, sentence: expect.stringContaining(install) } });
});

test("missing: a long PATH is shortened in the sentence, and the details have the rest", () => {
  const path = Array.from({ length: 40 }, (_, index) => `folder-${index}`);
  const resolution = resolve("codex", { path });
  if (!("missing" in resolution)) throw new Error("found");
  expect(resolution.missing.searched).toHaveLength(41);
  const { sentence, details } = resolution.missing;
  expect(sentence).toContain(
    ": codex-acp is not in ~/folder-0, ~/folder-1, ~/home/adapters/node_modules/.bin and 38 other folders of PATH",
  );
  expect(sentence).not.toContain("folder-2");
  expect(details).toMatch(/^Also searched: ~\/folder-2, ~\/folder-3, .*, ~\/folder-39$/);
});

test.each([
  {
    from: "a name",
    command: "foo",
    sentence: "The agent cannot be started: foo is not in ~/one, ~/two, ~/home/adapters/node_modules/.bin",
  },
  { from: "a path", command: "./foo", sentence: "The agent cannot be started: ~/work/foo does not exist" },
])("missing: of a command line that is $from the program is named", ({ command, sentence }) => {
  expect(resolve("agent", { command: [command], adHoc: true })).toMatchObject({ missing: { sentence } });
  expect(resolve("agent", { command: [command], adHoc: true })).not.toHaveProperty("missing.details");
});

test("missing: one folder more than are named", () => {
  expect(resolve("agent", { command: ["foo"], path: ["one", "two", "three"], adHoc: true })).toMatchObject({
    missing: {
      sentence:
        "The agent cannot be started: foo is not in ~/one, ~/two, ~/home/adapters/node_modules/.bin and one other folder of PATH",
      details: "Also searched: ~/three",
    },
  });
});

test("missing: a backend of the config has no install command to offer", () => {
  const resolution = resolve("mine", { command: ["my-agent"] });
  expect(resolution).toMatchObject({ missing: { program: "my-agent" } });
  expect(JSON.stringify(resolution)).not.toContain("nstall it with");
});

test.each([
  {
    from: "not executable",
    prepare: () => program("one/codex-acp", "text", 0o644),
    says: "~/one/codex-acp is not executable",
  },
  {
    from: "a folder",
    prepare: () => mkdirSync(join(home, "one/codex-acp"), { recursive: true }),
    says: "~/one/codex-acp is a folder",
  },
])("what is there and $from is named, and a good one after it is taken", ({ prepare, says }) => {
  prepare();
  expect(resolve("codex")).toMatchObject({ missing: { sentence: expect.stringContaining(says) } });
  const file = program("two/codex-acp");
  expect(resolve("codex")).toMatchObject({ found: { file } });
});

test.each([
  { from: "does not exist", prepare: () => "", says: "~/work/agent does not exist" },
  {
    from: "is a folder",
    prepare: () => mkdirSync(join(home, "work/agent"), { recursive: true }),
    says: "~/work/agent is a folder",
  },
  {
    from: "is not executable",
    prepare: () => program("work/agent", "x", 0o600),
    says: "~/work/agent is not executable",
  },
  { from: "lies below a file", prepare: () => program("work"), says: "~/work/agent does not exist" },
])("a program given as a path that $from is named as such", ({ prepare, says }) => {
  prepare();
  expect(resolve("mine", { command: ["./agent"] })).toMatchObject({
    missing: { searched: [join(home, "work/agent")], sentence: expect.stringContaining(says) },
  });
});

test.each(["toString", "constructor", "unknown"])(
  "a backend called %s is looked for by its name, like any other",
  (name) => {
    expect(resolve(name)).toMatchObject({ missing: { program: name } });
  },
);

test("the demo agent is part of the package and run by our own Node", () => {
  const resolution = resolve("demo", { path: [] });
  expect(resolution).toMatchObject({ found: { file: process.execPath } });
  expect(JSON.stringify(resolution)).toMatch(/demo\/agent\.ts/);
});
