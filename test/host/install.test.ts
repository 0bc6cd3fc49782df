import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { InstallError, installAdapter, isInstallable } from "../../src/host/install.ts";
import type { InstallOptions } from "../../src/host/install.ts";
import { ostlerPaths } from "../../src/host/paths.ts";
import { TESTED_ADAPTERS } from "../../src/host/tested-adapters.ts";
import { fakeAdapter, startRegistry } from "./fake-registry.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ostler-install-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const codex = fakeAdapter({
  name: "@agentclientprotocol/codex-acp",
  version: "2.6.0",
  binary: "codex-acp",
  native: "@openai/codex",
});
const claude = fakeAdapter({
  name: "@agentclientprotocol/claude-agent-acp",
  version: "0.101.0",
  binary: "claude-agent-acp",
  native: "@anthropic-ai/claude-agent-sdk",
});

function install(backend: InstallOptions["backend"], env: NodeJS.ProcessEnv, signal?: AbortSignal) {
  const lines: string[] = [];
  const whole = { PATH: process.env["PATH"], HOME: home, OSTLER_HOME: join(home, "ostler"), ...env };
  const installed = installAdapter({
    backend,
    paths: ostlerPaths(whole),
    env: whole,
    onProgress: (line) => lines.push(line),
    ...(signal !== undefined && { signal }),
  });
  return Object.assign(installed, { lines });
}

/** An npm that writes what a real one wrote in that situation, and fails. */
function failingNpm(stderr: string, body = ""): NodeJS.ProcessEnv {
  const folder = join(home, "bin");
  mkdirSync(folder);
  writeFileSync(join(folder, "npm"), `#!/bin/sh\n${body}\ncat >&2 <<'END'\n${stderr}\nEND\nexit 1\n`);
  chmodSync(join(folder, "npm"), 0o755);
  return { PATH: `${folder}:/usr/bin:/bin` };
}

test("the tested versions are the ones of the recordings", () => {
  expect(TESTED_ADAPTERS.codex).toMatchObject({ package: "@agentclientprotocol/codex-acp", version: "2.6.0" });
  expect(TESTED_ADAPTERS.claude).toMatchObject({
    package: "@agentclientprotocol/claude-agent-acp",
    version: "0.101.0",
  });
  expect(["codex", "claude", "kiro", "toString"].filter(isInstallable)).toEqual(["codex", "claude"]);
});

test("installs an adapter with its native program, keeps the other, and asks nobody when it is there", async () => {
  await using registry = await startRegistry([...codex, ...claude]);
  // A user who leaves optional packages out and saves nothing globally would get an adapter without its program.
  const env = { NPM_CONFIG_REGISTRY: registry.url, NPM_CONFIG_OMIT: "optional", NPM_CONFIG_GLOBAL: "true" };
  const bin = join(home, "ostler/adapters/node_modules/.bin");

  const first = install("codex", env);
  expect(await first).toEqual({ version: "2.6.0", at: join(bin, "codex-acp") });
  expect(first.lines[0]).toContain("@agentclientprotocol/codex-acp 2.6.0");
  expect(execFileSync(join(bin, "codex-acp"), { encoding: "utf8" })).toBe("codex-acp 2.6.0\n");

  expect(await install("claude", env)).toEqual({ version: "0.101.0", at: join(bin, "claude-agent-acp") });
  expect(execFileSync(join(bin, "codex-acp"), { encoding: "utf8" })).toBe("codex-acp 2.6.0\n");
  expect(JSON.parse(readFileSync(join(home, "ostler/adapters/package.json"), "utf8"))).toMatchObject({
    dependencies: { "@agentclientprotocol/codex-acp": "2.6.0", "@agentclientprotocol/claude-agent-acp": "0.101.0" },
  });

  const before = registry.requests.length;
  expect(before).toBeGreaterThan(0);
  const again = install("codex", env);
  expect(await again).toEqual({ version: "2.6.0", at: join(bin, "codex-acp") });
  expect(again.lines).toEqual(["@agentclientprotocol/codex-acp 2.6.0 is already there"]);
  expect(registry.requests).toHaveLength(before);
});

test("an older version is replaced by the tested one", async () => {
  const folder = join(home, "ostler/adapters/node_modules/@agentclientprotocol/codex-acp");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "@agentclientprotocol/codex-acp", version: "1.0.0" }),
  );
  await using registry = await startRegistry(codex);
  expect(await install("codex", { NPM_CONFIG_REGISTRY: registry.url })).toMatchObject({ version: "2.6.0" });
});

test("npm's success is not believed when the native program is missing", async () => {
  await using registry = await startRegistry(codex.slice(0, 2));
  const error = await install("codex", { NPM_CONFIG_REGISTRY: registry.url }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InstallError);
  expect(error).toMatchObject({
    reason: "unusable",
    message: `npm reported success, yet the program of @openai/codex for ${process.platform}-${process.arch} is missing`,
  });
});

test("a registry that cannot be reached is told as such, without npm's page of errors", async () => {
  const registry = await startRegistry([]);
  await registry[Symbol.asyncDispose]();
  const attempt = install("codex", { NPM_CONFIG_REGISTRY: registry.url });
  const error = await attempt.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason: "offline", message: expect.stringContaining("registry cannot be reached") });
  expect(error).toMatchObject({ details: expect.stringContaining("ECONNREFUSED") });
  expect(attempt.lines.join("\n")).not.toMatch(/npm error|at ClientRequest|\.js:\d+/);
});

test("a version that the registry does not have is told in npm's words", async () => {
  await using registry = await startRegistry([]);
  const error = await install("codex", { NPM_CONFIG_REGISTRY: registry.url }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    reason: "failed",
    message: expect.stringMatching(/^npm could not install the adapter: .*404/),
  });
});

test("without npm: what is needed and where it was looked for", async () => {
  const error = await install("codex", { PATH: join(home, "nowhere") }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    reason: "no_npm",
    message: expect.stringContaining("npm is needed"),
    details: expect.stringContaining("nowhere"),
  });
  expect(existsSync(join(home, "ostler"))).toBe(false);
});

test.each([
  {
    from: "npm 11, a full disk",
    stderr: "npm error code ENOSPC\nnpm error nospc There appears to be insufficient space",
    reason: "no_space",
    says: "no space left",
  },
  {
    from: "npm 10, a quota",
    stderr: "npm ERR! code EDQUOT\nnpm ERR! errno -122",
    reason: "no_space",
    says: "no space left",
  },
  {
    from: "npm 11, a folder of somebody else's",
    stderr: "npm error code EACCES\nnpm error syscall mkdir",
    reason: "no_access",
    says: "not permitted",
  },
  { from: "npm 11, no name service", stderr: "npm error code EAI_AGAIN", reason: "offline", says: "cannot be reached" },
  {
    from: "anything else",
    stderr: "npm error code EBADENGINE\nnpm error engine Unsupported engine",
    reason: "failed",
    says: ": engine Unsupported engine",
  },
  { from: "no word at all", stderr: "", reason: "failed", says: "npm could not install the adapter" },
])("$from: $reason", async ({ stderr, reason, says }) => {
  const error = await install("codex", failingNpm(stderr)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason, message: expect.stringContaining(says) });
});

test("a file where the folder should be is told as such", async () => {
  mkdirSync(join(home, "ostler"));
  writeFileSync(join(home, "ostler/adapters"), "");
  const error = await install("codex", {}).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason: "failed", message: "The folder ~/ostler/adapters cannot be made (EEXIST)" });
});

test("a stop ends npm", async () => {
  const controller = new AbortController();
  const env = failingNpm("", "echo started\nexec sleep 60");
  const lines: string[] = [];
  const whole = { HOME: home, OSTLER_HOME: join(home, "ostler"), ...env };
  const error = await installAdapter({
    backend: "codex",
    paths: ostlerPaths(whole),
    env: whole,
    signal: controller.signal,
    onProgress: (line) => {
      lines.push(line);
      if (line === "started") controller.abort();
    },
  }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason: "failed", message: "The installation was stopped" });
  expect(lines.at(-1)).toBe("started");
});
