/** A home folder made for one run of `ostler doctor`: fake programs, laid out as npm and people lay them out. */
import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CrashFiles, identifyProgram } from "../../../src/host/crash-ledger.ts";
import { ostlerPaths } from "../../../src/host/paths.ts";
import { TESTED_ADAPTERS } from "../../../src/host/tested-adapters.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { newFolder, run } from "./run-main.ts";
import type { Ran } from "./run-main.ts";

const SCRIPTED = new URL("../../fixtures/agents/scripted.mjs", import.meta.url).href;
/** A key of each harness, so that a row about something else has a login. */
const KEYS = { OPENAI_API_KEY: "key-of-openai", ANTHROPIC_API_KEY: "key-of-anthropic" };

/** What an adapter says about a login before its session is open (recordings, `_auth/status_update`). */
export const SIGNED_IN: Scenario = {
  on: { "session/new": [[authStatus("api_key", "Anthropic API key"), { default: true }]] },
};
export const SIGNED_OUT: Scenario = {
  on: { "session/new": [[authStatus("none", "Not logged in"), { default: true }]] },
};

function authStatus(kind: string, label: string) {
  return { send: { jsonrpc: "2.0", method: "_auth/status_update", params: { authStatus: { kind, label } } } } as const;
}

interface AdapterOptions {
  readonly version?: string;
  /** `engines.node`. */
  readonly node?: string;
  readonly scenario?: Scenario;
  /** In Ostler's own folder instead of a global npm prefix whose `bin` is in PATH. */
  readonly isOwn?: boolean;
  readonly hasNative?: boolean;
}

export class World {
  readonly home = realpathSync(newFolder());
  env: Record<string, string> = {
    HOME: this.home,
    PATH: join(this.home, "bin"),
    OSTLER_HOME: join(this.home, "ostler"),
  };

  path(name: string): string {
    return join(this.home, name);
  }

  file(name: string, content: string | Buffer, mode = 0o644): this {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
    chmodSync(this.path(name), mode);
    return this;
  }

  program(name: string, content: string | Buffer = "#!/bin/sh\nexit 0\n"): this {
    return this.file(`bin/${name}`, content, 0o755);
  }

  folder(name: string, mode = 0o755): this {
    mkdirSync(this.path(name), { recursive: true });
    chmodSync(this.path(name), mode);
    return this;
  }

  link(name: string, target: string): this {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    symlinkSync(target, this.path(name));
    return this;
  }

  /** The Node that runs the tests, as `node` in PATH. */
  node(): this {
    return this.link("bin/node", process.execPath);
  }

  keys(): this {
    this.env = { ...this.env, ...KEYS };
    return this;
  }

  config(config: object): this {
    return this.file("ostler/config.json", JSON.stringify(config));
  }

  /** An adapter as npm installs it, with its native program beside it. */
  adapter(backend: "codex" | "claude", options: AdapterOptions = {}): this {
    const { package: name, version: tested, binary, native } = TESTED_ADAPTERS[backend];
    const { version = tested, node, scenario = {}, isOwn = false, hasNative = true } = options;
    const modules = isOwn ? "ostler/adapters/node_modules" : "lib/node_modules";
    const platform = `${native}-${process.platform}-${process.arch}`;
    const manifest = {
      name,
      version,
      bin: { [binary]: "index.mjs" },
      ...(node !== undefined && { engines: { node } }),
    };
    this.file(`${modules}/${name}/package.json`, JSON.stringify(manifest));
    this.file(`${modules}/${name}/index.mjs`, script(scenario), 0o755);
    this.file(`${modules}/${native}/package.json`, JSON.stringify({ optionalDependencies: { [platform]: "1.0.0" } }));
    if (hasNative) this.file(`${modules}/${platform}/package.json`, "{}");
    return this.link(isOwn ? `${modules}/.bin/${binary}` : `bin/${binary}`, this.path(`${modules}/${name}/index.mjs`));
  }

  /** An agent that `node` runs, for backends of the configuration. */
  agent(name: string, scenario: Scenario = {}): this {
    return this.file(name, script(scenario), 0o755);
  }

  /** As the supervisor writes them down; the file in `bin` must be there already. */
  crashes(backend: string, count: number, { title, stderr }: { title: string; stderr: string }): this {
    const at = this.path(`bin/${backend}-acp`);
    const program = identifyProgram(at, { args: [] }, this.home);
    const files = new CrashFiles(ostlerPaths(this.env));
    for (let nth = 0; nth < count; nth += 1)
      files.add(backend, { at: Date.now() + nth, livedMs: 0, program, title, stderr });
    return this;
  }

  doctor(...argv: string[]): Promise<Ran> {
    return run(["doctor", ...argv], { folder: this.home, env: this.env });
  }
}

/** The scripted agent with a scenario of its own. */
function script(scenario: Scenario): string {
  const text = JSON.stringify(JSON.stringify(scenario));
  return `#!/usr/bin/env node\nprocess.argv[2] = ${text};\nawait import(${JSON.stringify(SCRIPTED)});\n`;
}
