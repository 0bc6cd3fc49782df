/** `ostler doctor` in broken worlds: what is wrong, the one command that mends it, and nothing else. */
import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { ostlerPaths } from "../../../src/host/paths.ts";
import { openStore } from "../../../src/host/store.ts";
import { thisSystem } from "../../../src/acp/this-process.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { processesIn } from "../../fixtures/agents/scenario.ts";
import { SIGNED_IN, SIGNED_OUT, World } from "./doctor-world.ts";
import { run } from "./run-main.ts";

const OTHER_MACHINE = process.arch === "arm64" ? { machine: 62, name: "x64" } : { machine: 183, name: "arm64" };
const NODE_FIX = `export PATH=${dirname(process.execPath)}:"$PATH"`;
const NEVER: Scenario = { on: { initialize: [[]] } };
const REFUSES_LOGIN = refusesSession(-32000, "Authentication required");

function refusesSession(code: number, message: string): Scenario {
  return { on: { "session/new": [[{ send: { jsonrpc: "2.0", id: "$P", error: { code, message } } }]] } };
}

/** The head of an ELF program for that machine; with a loader it asks for it. */
function elf(machine: number, loader = ""): Buffer {
  const head = Buffer.alloc(512);
  head.write("\x7FELF\x02\x01\x01", "latin1");
  head.writeUInt16LE(machine, 18);
  head.writeBigUInt64LE(64n, 32);
  head.writeUInt16LE(56, 54);
  head.writeUInt16LE(loader === "" ? 0 : 1, 56);
  head.writeUInt32LE(3, 64);
  head.writeBigUInt64LE(256n, 72);
  head.writeBigUInt64LE(BigInt(loader.length + 1), 96);
  head.write(loader, 256);
  return head;
}

const thisMachine = process.arch === "arm64" ? 183 : 62;

interface Row {
  readonly from: string;
  readonly world: (world: World) => World;
  readonly argv: readonly string[];
  /** Lines as they are printed, in order, without their indent. */
  readonly says: readonly string[];
  readonly never?: readonly (string | RegExp)[];
  /** Default 1. */
  readonly exitCode?: number;
  /** The fix is run in a shell, and doctor is content then. */
  readonly mends?: true;
}

const codex = ["-b", "codex"];
const smoke = [...codex, "--smoke", "--timeout", "10"];
/** A machine on which codex works, but for what the row changes. */
const healthy = (world: World) => world.node().keys().adapter("codex");

const PROGRAM_ROWS: Row[] = [
  {
    from: "nothing installed",
    world: (world) => world,
    argv: codex,
    says: ["✗ codex-acp is not in any of the 2 folders searched", "→ ostler backends install codex"],
    never: ["login", "node is", "~/bin"],
  },
  {
    from: "nothing installed, all folders wanted",
    world: (world) => world,
    argv: [...codex, "--verbose"],
    says: ["→ ostler backends install codex", "searched:"],
    never: ["login"],
  },
  {
    from: "a program that is not executable",
    world: (world) => world.keys().file("bin/codex-acp", "#!/bin/sh\n"),
    argv: codex,
    says: ["✗ ~/bin/codex-acp is not executable", "→ chmod +x ~/bin/codex-acp"],
    never: ["install", "folders searched"],
    mends: true,
  },
  {
    from: "a folder of that name",
    world: (world) => world.folder("bin/codex-acp"),
    argv: codex,
    says: ["✗ ~/bin/codex-acp is a folder", "→ ostler backends install codex"],
  },
  {
    from: "a link to nothing",
    world: (world) => world.link("bin/codex-acp", "/nowhere/index.js"),
    argv: codex,
    says: ["✗ ~/bin/codex-acp is a link to /nowhere/index.js, which does not exist", "→ ostler backends install codex"],
    never: ["folders searched"],
  },
  {
    from: "an interpreter that does not exist",
    world: (world) => world.program("codex-acp", "#!/no/such/node\n"),
    argv: codex,
    says: [
      "✗ ~/bin/codex-acp is run by /no/such/node, which does not exist",
      "→ rm ~/bin/codex-acp && ostler backends install codex",
    ],
    never: ["login", "asks before"],
  },
  {
    from: "an interpreter that env does not find",
    world: (world) => world.program("codex-acp", "#!/usr/bin/env -S pyth0n -u\n"),
    argv: codex,
    says: ["✗ codex-acp is run by pyth0n, which is not in its PATH", "→ Install pyth0n, or put its folder into PATH"],
    never: ["needs Node", "login"],
  },
  {
    from: "Windows line ends",
    world: (world) => world.node().keys().program("codex-acp", "#!/bin/sh\r\nexit 0\r\n"),
    argv: codex,
    says: [
      "✗ ~/bin/codex-acp has Windows line ends, so its first line names no program",
      "→ sed -i 's/\\r$//' ~/bin/codex-acp",
    ],
    mends: true,
  },
  {
    from: "an empty file",
    world: (world) => world.program("codex-acp", ""),
    argv: codex,
    says: ["✗ ~/bin/codex-acp is an empty file", "→ rm ~/bin/codex-acp && ostler backends install codex"],
  },
  {
    from: "the program of another machine",
    world: (world) => world.program("kiro-cli", elf(OTHER_MACHINE.machine)),
    argv: ["-b", "kiro"],
    says: [
      `✗ ~/bin/kiro-cli is a program for ${OTHER_MACHINE.name}, and this machine is ${process.arch}`,
      "→ rm ~/bin/kiro-cli && curl -fsSL https://cli.kiro.dev/install | bash",
    ],
    never: ["login"],
  },
  {
    from: "the program of another system",
    world: (world) => world.program("kiro-cli", Buffer.from("MZ\x90\0", "latin1")),
    argv: ["-b", "kiro"],
    says: [
      "✗ ~/bin/kiro-cli is a program for Windows",
      "→ rm ~/bin/kiro-cli && curl -fsSL https://cli.kiro.dev/install | bash",
    ],
  },
  {
    from: "the loader of another C library",
    world: (world) => world.program("kiro-cli", elf(thisMachine, "/lib/ld-none.so.1")),
    argv: ["-b", "kiro"],
    says: ["✗ ~/bin/kiro-cli needs /lib/ld-none.so.1, which this system does not have"],
  },
  {
    from: "a command of the configuration that is not there",
    world: (world) => world.config({ backends: { mine: { command: ["~/agents/mine", "--acp"] } } }),
    argv: ["-b", "mine"],
    says: [
      "✗ ~/agents/mine does not exist",
      "→ Correct backends.mine.command in ~/ostler/config.json: it names the program to start",
    ],
    never: ["install"],
  },
  {
    from: "a configured program that cannot run",
    world: (world) => world.program("mine", "#!/no/such/sh\n").config({ backends: { mine: { command: ["mine"] } } }),
    argv: ["-b", "mine"],
    says: [
      "✗ ~/bin/mine is run by /no/such/sh, which does not exist",
      "→ Replace ~/bin/mine, or correct backends.mine.command in ~/ostler/config.json",
    ],
  },
];

const NODE_ROWS: Row[] = [
  {
    from: "an old Node in PATH",
    world: (world) => world.keys().adapter("codex", { node: ">=22" }).program("node", "#!/bin/sh\necho v18.20.0\n"),
    argv: codex,
    says: ["✗ codex-acp needs Node >=22, and gets 18.20.0 from ~/bin/node", `→ ${NODE_FIX}`],
    never: ["login", "asks before"],
    mends: true,
  },
  {
    from: "the same, of claude, with --smoke: it is not started in vain",
    world: (world) => world.keys().adapter("claude", { node: ">=22" }).program("node", "#!/bin/sh\necho v20.1.0\n"),
    argv: ["-b", "claude", "--smoke"],
    says: ["✗ claude-agent-acp needs Node >=22, and gets 20.1.0 from ~/bin/node", `→ ${NODE_FIX}`],
    never: ["exited", "login", "codex"],
  },
  {
    from: "no Node in PATH",
    world: (world) => world.keys().adapter("codex"),
    argv: codex,
    says: ["✗ codex-acp needs Node, and no node is in its PATH", `→ ${NODE_FIX}`],
    mends: true,
  },
  {
    from: "a version manager that only works in a terminal",
    world: (world) => {
      world.env = { ...world.env, MANAGER_HOME: "/opt/manager" };
      return world
        .keys()
        .adapter("codex")
        .program(
          "node",
          '#!/bin/sh\n[ -n "$MANAGER_HOME" ] || { echo "no version is set" >&2; exit 1; }\necho v24.1.0\n',
        );
    },
    argv: codex,
    says: [
      "! With the few variables of a service, codex-acp gets ~/bin/node, which does not tell its version: no version is set",
      `→ ${NODE_FIX}`,
      "✓ login: OPENAI_API_KEY is set",
    ],
    never: ["✗", "ostler serve"],
    exitCode: 0,
  },
  {
    from: "a node that fails and leaves somebody behind who holds its pipes",
    world: (world) => world.keys().adapter("codex").program("node", "#!/bin/sh\n/bin/sleep 60 & exit 1\n"),
    argv: codex,
    says: ["✗ codex-acp gets ~/bin/node, which does not tell its version", `→ ${NODE_FIX}`],
  },
  {
    from: "an old Node that the configuration names",
    world: (world) =>
      world
        .agent("agent.mjs")
        .program("node", "#!/bin/sh\necho v12.0.0\n")
        .config({ backends: { mine: { command: ["node", "agent.mjs"] } } })
        .file("package.json", JSON.stringify({ name: "mine", bin: "agent.mjs", engines: { node: "^22.5 || >=24" } })),
    argv: ["-b", "mine"],
    says: ["✗ agent.mjs needs Node ^22.5 || >=24, and gets 12.0.0 from ~/bin/node", `→ ${NODE_FIX}`],
  },
  {
    from: "the adapter of Ostler's own folder, which Ostler's Node runs",
    world: (world) => world.keys().adapter("codex", { isOwn: true, node: ">=22" }),
    argv: codex,
    says: ["✓ ~/ostler/adapters/node_modules/.bin/codex-acp", "✓ version 2.6.0", "✓ login: OPENAI_API_KEY is set"],
    never: ["✗", "!", "PATH"],
    exitCode: 0,
  },
];

const VERSION_ROWS: Row[] = [
  {
    from: "an old adapter in a global prefix, which PATH finds first",
    world: (world) => world.node().keys().adapter("codex", { version: "2.5.9" }),
    argv: codex,
    says: [
      "✗ Version 2.5.9 is older than the tested 2.6.0",
      "→ npm install --global --prefix ~ @agentclientprotocol/codex-acp@2.6.0",
    ],
    never: ["ostler backends install"],
  },
  {
    from: "an old adapter in Ostler's own folder",
    world: (world) => world.keys().adapter("claude", { version: "0.99.12", isOwn: true }),
    argv: ["-b", "claude"],
    says: ["✗ Version 0.99.12 is older than the tested 0.101.0", "→ ostler backends install claude"],
    never: ["npm", "codex"],
  },
  {
    from: "a newer adapter",
    world: (world) => world.node().keys().adapter("codex", { version: "3.0.0" }),
    argv: codex,
    says: ["! Version 3.0.0 is newer than the tested 2.6.0"],
    never: ["✗", "→"],
    exitCode: 0,
  },
  {
    from: "an adapter without its native program",
    world: (world) => world.keys().adapter("codex", { isOwn: true, hasNative: false }),
    argv: codex,
    says: [
      `✗ The program of @openai/codex for ${process.platform}-${process.arch} is missing`,
      "→ ostler backends install codex",
    ],
  },
];

const LOGIN_ROWS: Row[] = [
  {
    from: "no login, as far as files tell",
    world: (world) => world.node().adapter("codex").program("codex"),
    argv: codex,
    says: ["✗ No login was found: no ~/.codex/auth.json, no OPENAI_API_KEY", "→ codex login"],
    never: ["claude", "ANTHROPIC"],
  },
  {
    from: "codex refuses a session",
    world: (world) => world.node().adapter("codex", { scenario: REFUSES_LOGIN }).program("codex"),
    argv: smoke,
    says: ["✗ Codex says: Authentication required", "→ codex login"],
    never: ["No login was found", "starts and opens"],
  },
  {
    from: "codex refuses a session although a login is there: a config.toml that it cannot read",
    world: (world) =>
      world.node().adapter("codex", { scenario: REFUSES_LOGIN }).program("codex").file(".codex/auth.json", "{}"),
    argv: smoke,
    says: ["✗ Codex says: Authentication required, although ~/.codex/auth.json exists", "→ codex login"],
  },
  {
    from: "codex with a provider of its own needs no login",
    world: (world) => world.node().adapter("codex"),
    argv: smoke,
    says: ["✓ login: none needed: it opens sessions", "✓ starts and opens a session"],
    never: ["✗"],
    exitCode: 0,
  },
  {
    from: "claude opens a session and says that nobody is signed in",
    world: (world) => world.node().adapter("claude", { scenario: SIGNED_OUT }).program("claude"),
    argv: ["-b", "claude", "--smoke"],
    says: ["✗ Claude Agent says: Not logged in", "→ claude auth login", "✓ starts and opens a session"],
    never: ["codex"],
  },
  {
    from: "the same without the claude command: the adapter brings one",
    world: (world) => world.adapter("claude", { scenario: SIGNED_OUT, isOwn: true }),
    argv: ["-b", "claude", "--smoke"],
    says: [
      "✗ Claude Agent says: Not logged in",
      `→ ${process.execPath} ~/ostler/adapters/node_modules/.bin/claude-agent-acp --cli auth login`,
    ],
  },
  {
    from: "claude says that somebody is signed in, wherever that is kept",
    world: (world) => world.node().adapter("claude", { scenario: SIGNED_IN }),
    argv: ["-b", "claude", "--smoke"],
    says: ["✓ login: signed in: Anthropic API key"],
    never: ["✗"],
    exitCode: 0,
  },
  {
    from: "claude does not see a token in a variable (recording usage-warning-oauth)",
    world: (world) => {
      world.env = { ...world.env, CLAUDE_CODE_OAUTH_TOKEN: "token-value" };
      return world.node().adapter("claude", { scenario: SIGNED_OUT });
    },
    argv: ["-b", "claude", "--smoke"],
    says: ["✓ login: CLAUDE_CODE_OAUTH_TOKEN is set"],
    never: ["✗", "token-value"],
    exitCode: 0,
  },
  {
    from: "kiro offers a login (kiro wire notes, section 4)",
    world: (world) =>
      world.node().agent("bin/kiro-cli", { initializeResult: { authMethods: [{ id: "kiro-login", name: "Kiro" }] } }),
    argv: ["-b", "kiro", "--smoke"],
    says: ["✗ Kiro offers a login, so nobody is signed in", "→ kiro-cli login"],
  },
];

const START_ROWS: Row[] = [
  {
    from: "a handshake that never comes, of a known agent",
    world: (world) =>
      world
        .node()
        .keys()
        .adapter("codex", {
          scenario: {
            start: [{ stderr: "Waiting for the proxy\nAuthorization: Bearer sk-proj-abcdefghijklmnop\n" }],
            ...NEVER,
          },
        }),
    argv: [...codex, "--smoke", "--timeout", "2"],
    says: [
      "✗ Codex did not speak ACP within 2 s",
      "| Waiting for the proxy",
      "| Authorization: Bearer [redacted]",
      "→ ostler doctor -b codex --smoke --timeout 120",
    ],
    never: ["sk-proj", "opens a session"],
  },
  {
    from: "a handshake that never comes, of an agent of the configuration",
    world: (world) =>
      world
        .node()
        .agent("agent.mjs", NEVER)
        .config({ backends: { mine: { command: ["node", "agent.mjs"] } } }),
    argv: ["-b", "mine", "--smoke", "--timeout", "1"],
    says: [
      '✗ Agent "mine" did not speak ACP within 1 s',
      "→ Check backends.mine.command in ~/ostler/config.json: it must start a program that speaks ACP on its stdin and stdout",
    ],
    never: ["|"],
  },
  {
    from: "the deadline of the configuration, when it is shorter than 20 s",
    world: (world) =>
      world
        .node()
        .agent("agent.mjs", NEVER)
        .config({ timeouts: { handshakeS: 0.5 }, backends: { mine: { command: ["node", "agent.mjs"] } } }),
    argv: ["-b", "mine", "--smoke"],
    says: ['✗ Agent "mine" did not speak ACP within 0.5 s'],
  },
  {
    from: "a program that ends at once",
    world: (world) =>
      world.program("mine", "#!/bin/sh\necho 'error: unknown flag --acp' >&2\nexit 2\n").config({
        backends: { mine: { command: ["mine", "--acp"] } },
      }),
    argv: ["-b", "mine", "--smoke"],
    says: [
      '✗ Agent "mine" exited with code 2: error: unknown flag --acp',
      "→ Check backends.mine.command in ~/ostler/config.json: ~/bin/mine --acp",
    ],
  },
  {
    from: "a program that echoes",
    world: (world) => world.config({ backends: { mine: { command: ["/bin/cat"] } } }),
    argv: ["-b", "mine", "--smoke"],
    says: [
      '✗ Agent "mine" did not speak ACP',
      "→ Check backends.mine.command in ~/ostler/config.json: it must start a program that speaks ACP on its stdin and stdout",
    ],
  },
  {
    from: "a session that never opens",
    world: (world) =>
      world
        .node()
        .keys()
        .adapter("codex", { scenario: { on: { "session/new": [[]] } } }),
    argv: [...codex, "--smoke", "--timeout", "3"],
    says: ["✗ Codex opened no session within 3 s", "→ ostler doctor -b codex --smoke --timeout 120"],
    never: ["6 s"],
  },
  {
    from: "a slow handshake and a slow session: the bound is one for both",
    world: (world) =>
      world
        .node()
        .keys()
        .adapter("codex", {
          scenario: {
            on: {
              initialize: [[{ delayMs: 2300 }, { default: true }]],
              "session/new": [[{ delayMs: 2300 }, { default: true }]],
            },
          },
        }),
    argv: [...codex, "--smoke", "--timeout", "4"],
    says: ["✗ Codex opened no session within 4 s"],
    never: ["8 s", "opens a session"],
  },
  {
    from: "a session that codex refuses for a reason of its own (an auth.json that it cannot use)",
    world: (world) =>
      world
        .node()
        .adapter("codex", { scenario: refusesSession(-32603, "Plan type is required for chatgpt authentication") })
        .program("codex")
        .file(".codex/auth.json", "{}"),
    argv: smoke,
    says: ["✗ Plan type is required for chatgpt authentication", "→ Check its settings, or sign in again: codex login"],
  },
  {
    from: "a model that the account does not have",
    world: (world) =>
      world
        .node()
        .keys()
        .adapter("codex", {
          scenario: { newResult: { models: { currentModelId: "big", availableModels: [{ modelId: "big" }] } } },
        })
        .config({ backends: { codex: { model: "huge" } } }),
    argv: smoke,
    says: [
      '✗ Codex has no model "huge" for this account: it has big',
      "→ Correct or remove backends.codex.model in ~/ostler/config.json",
    ],
  },
];

const GATE_ROWS: Row[] = [
  {
    from: "kiro that trusts all tools, where the gate is required",
    world: (world) =>
      world
        .program("kiro-cli")
        .config({ gate: "required", backends: { kiro: { command: ["kiro-cli", "acp", "--trust-all-tools"] } } }),
    argv: ["-b", "kiro"],
    says: [
      "✗ With --trust-all-tools its tools run without asking; gate: required refuses it",
      "→ Remove --trust-all-tools from backends.kiro.command in ~/ostler/config.json",
    ],
  },
  {
    from: "the same where it is not: it works, and is told",
    world: (world) => world.program("kiro-cli").config({ backends: { kiro: { command: ["kiro-cli", "acp", "-a"] } } }),
    argv: ["-b", "kiro"],
    says: ["! With -a its tools run without asking", "→ Remove -a from backends.kiro.command in ~/ostler/config.json"],
    never: ["✗", "refuses"],
    exitCode: 0,
  },
  {
    from: "a mode that does not ask",
    world: (world) => healthy(world).config({ gate: "required", backends: { codex: { mode: "agent-full-access" } } }),
    argv: smoke,
    says: [
      '✗ Mode "agent-full-access" runs tools without asking; gate: required refuses it',
      "→ Set backends.codex.mode in ~/ostler/config.json to read-only, or remove it",
    ],
    never: ["opens a session"],
  },
  {
    from: "rules of codex's own that let commands run",
    world: (world) =>
      healthy(world)
        .config({ gate: "required" })
        .file(".codex/rules/mine.rules", 'prefix_rule(pattern = ["rm"], decision = "allow")'),
    argv: smoke,
    says: ["→ Take that out of the file where Ostler is to decide"],
    never: ["opens a session"],
  },
  {
    from: "an agent that nobody here has met",
    world: (world) => world.program("mine").config({ gate: "required", backends: { mine: { command: ["mine"] } } }),
    argv: ["-b", "mine"],
    says: [
      "✗ Nobody knows whether it asks before it acts; gate: required refuses it",
      "→ Set backends.mine.profile in ~/ostler/config.json to claude, codex or kiro if it is one of them",
    ],
  },
  {
    from: "the same where it is not: it works, and is told",
    world: (world) => world.program("mine").config({ backends: { mine: { command: ["mine"] } } }),
    argv: ["-b", "mine"],
    says: [
      "! Nobody knows whether it asks before it acts",
      "→ Set backends.mine.profile in ~/ostler/config.json to claude, codex or kiro if it is one of them",
    ],
    never: ["✗", "✓ nobody", "refuses"],
    exitCode: 0,
  },
  {
    from: "a mode that the agent does not tell, which shows at the session",
    world: (world) => healthy(world).config({ gate: "required" }),
    argv: smoke,
    says: [
      "✗ Codex does not say in which mode it is, so it may run tools without asking, and the policy requires that it asks",
    ],
    never: ["asks before it acts", "opens a session"],
  },
];

const STATE_ROWS: Row[] = [
  {
    from: "a file where the folder should be",
    world: (world) => healthy(world).file("ostler/state", "x"),
    argv: codex,
    says: ["✗ ~/ostler/state is a file, and must be a folder", "→ mv ~/ostler/state ~/ostler/state.old"],
    mends: true,
  },
  {
    from: "a file in the way, further up",
    world: (world) => {
      world.env = { ...world.env, OSTLER_HOME: world.path("my notes/ostler") };
      return healthy(world).file("my notes", "x");
    },
    argv: codex,
    says: ["✗ ~/my notes is a file, and must be a folder", "→ mv ~/'my notes' ~/'my notes.old'"],
    mends: true,
  },
  {
    from: "a link to nothing",
    world: (world) => healthy(world).link("ostler/state", "/nowhere"),
    argv: codex,
    says: ["✗ ~/ostler/state is a link to nothing", "→ rm ~/ostler/state"],
    mends: true,
  },
  {
    from: "a folder that others can read",
    world: (world) => healthy(world).folder("ostler/state", 0o755),
    argv: codex,
    says: ["✗ ~/ostler/state is open to others (mode 0755)", "→ chmod 700 ~/ostler/state"],
    mends: true,
  },
  {
    from: "a store that is none",
    world: (world) =>
      healthy(world)
        .folder("ostler/state", 0o700)
        .file("ostler/state/store.sqlite", "not a database, at all".repeat(100)),
    argv: codex,
    says: [
      "✗ ~/ostler/state/store.sqlite cannot be read: file is not a database",
      "→ mv ~/ostler/state/store.sqlite ~/ostler/state/store.sqlite.damaged",
    ],
    mends: true,
  },
  {
    from: "a store of a newer version",
    world: (world) => {
      healthy(world).folder("ostler/state", 0o700);
      const store = new DatabaseSync(world.path("ostler/state/store.sqlite"));
      store.exec("PRAGMA user_version = 9999");
      store.close();
      return world;
    },
    argv: codex,
    says: [
      "✗ ~/ostler/state/store.sqlite was written by a newer Ostler",
      "→ Update Ostler, or set OSTLER_HOME to another folder",
    ],
    never: ["mv "],
  },
  {
    from: "a folder and a store that are fine, tried",
    world: (world) => {
      healthy(world).folder("ostler/state", 0o700);
      openStore(ostlerPaths({ OSTLER_HOME: world.path("ostler") })).close();
      return world;
    },
    argv: smoke,
    says: ["✓ state folder ~/ostler/state, written to", "✓ sessions ~/ostler/state/store.sqlite"],
    never: ["✗"],
    exitCode: 0,
  },
  {
    from: "a folder that is not there yet: looking makes nothing",
    world: healthy,
    argv: codex,
    says: ["✓ state folder ~/ostler/state"],
    never: ["✗", "written"],
    exitCode: 0,
  },
];

const NO_ROOM = { title: "Codex exited with code 1: no room", stderr: "starting\nno room" };

const CRASH_ROWS: Row[] = [
  {
    from: "five crashes within a minute: it is not started any more, and what it said is told",
    world: (world) => healthy(world).crashes("codex", 5, NO_ROOM),
    argv: codex,
    says: [
      "✗ Parked after 5 crashes within 60 s: Codex exited with code 1: no room",
      "| starting",
      "→ ostler backends resume codex",
    ],
    never: ["opens a session"],
  },
  {
    from: "parked, and repaired since: a trial start shows it, and it stays parked",
    world: (world) => healthy(world).crashes("codex", 5, NO_ROOM),
    argv: smoke,
    says: [
      "✓ starts and opens a session, so it can be resumed",
      "✗ Parked after 5 crashes within 60 s: Codex exited with code 1: no room",
      "→ ostler backends resume codex",
    ],
  },
  {
    from: "parked, and not repaired: what keeps it from starting comes first",
    world: (world) =>
      world
        .node()
        .keys()
        .adapter("codex", { scenario: { start: [{ stderr: "no room yet\n" }, { exit: 1 }] } })
        .crashes("codex", 5, NO_ROOM),
    argv: smoke,
    says: [
      "✗ Codex exited with code 1: no room yet",
      "✗ Parked after 5 crashes within 60 s: Codex exited with code 1: no room",
      "→ ostler backends resume codex",
    ],
    never: ["opens a session", "resumed"],
  },
  {
    from: "four crashes are no reason",
    world: (world) => healthy(world).crashes("codex", 4, { title: "Codex exited with code 1", stderr: "" }),
    argv: codex,
    says: [],
    never: ["✗", "Parked"],
    exitCode: 0,
  },
  {
    from: "crashes of another backend",
    world: (world) => healthy(world).crashes("claude", 9, { title: "Claude Agent exited", stderr: "" }),
    argv: codex,
    says: [],
    never: ["✗", "Parked"],
    exitCode: 0,
  },
  {
    from: "agents of an Ostler that was killed",
    world: (world) =>
      healthy(world).folder("ostler/state", 0o700).file(`ostler/state/leases/${thisSystem()}/999999-1/7.json`, "{}"),
    argv: codex,
    says: ["! An agent was left by an Ostler that was killed; the next ask ends what is left"],
    never: ["✗"],
    exitCode: 0,
  },
];

const CORRECT = "→ Correct ~/ostler/config.json; docs/config.md lists every key";
const NOT_STARTED = "! Not started: its settings cannot be used as they are";

const CONFIG_ROWS: Row[] = [
  {
    from: "a command that is no list: the rest is looked at",
    world: (world) => healthy(world).config({ defaultBackend: "m", backends: { m: { command: "notalist" } } }),
    argv: ["--smoke", "--timeout", "10"],
    says: [
      "✗ ~/ostler/config.json: backends.m.command must be a list of texts",
      CORRECT,
      "Codex (codex)",
      "✓ starts and opens a session",
      "Demo (demo)",
      "✓ starts and opens a session",
    ],
    never: ["has no command", "names no backend", "✓ configuration", NOT_STARTED, "(m)"],
  },
  {
    from: "the same, asked about by its name",
    world: (world) => healthy(world).config({ backends: { m: { command: "notalist" } } }),
    argv: ["-b", "m"],
    says: ["✗ ~/ostler/config.json: backends.m.command must be a list of texts", CORRECT],
    never: ["codex"],
  },
  {
    from: "a misspelt command, which must not start the built-in one",
    world: (world) => healthy(world).config({ colour: 1, backends: { codex: { comand: ["safe"], model: 5 } } }),
    argv: smoke,
    says: [
      '✗ ~/ostler/config.json: backends.codex.comand is not a setting (did you mean "command"?)',
      "! ~/ostler/config.json: backends.codex.model must be text, so it is ignored",
      "! ~/ostler/config.json: colour is not a setting, so it is ignored",
      CORRECT,
      NOT_STARTED,
    ],
    never: ["opens a session"],
  },
  {
    from: "an unknown profile of a program that is there",
    world: (world) =>
      world
        .node()
        .agent("agent.mjs")
        .config({ backends: { mine: { command: ["node", "agent.mjs"], profile: "gpt" } } }),
    argv: ["-b", "mine", "--smoke"],
    says: [
      "✗ ~/ostler/config.json: backends.mine.profile must be one of kiro, codex, claude, generic",
      CORRECT,
      "✓ ~/bin/node",
      NOT_STARTED,
    ],
    never: ["opens a session"],
  },
  {
    from: "backends that are no object may have been about each",
    world: (world) => healthy(world).config({ backends: [] }),
    argv: smoke,
    says: ["✗ ~/ostler/config.json: backends must be an object", CORRECT, NOT_STARTED],
    never: ["opens a session"],
  },
  {
    from: "--config names no file",
    world: (world) => healthy(world).config({ colour: 1 }),
    argv: [...smoke, "--config", "mine.json"],
    says: [
      "✗ The config file ~/mine.json does not exist",
      "→ Name a file that can be read: --config FILE",
      "! ~/ostler/config.json: colour is not a setting, so it is ignored",
      CORRECT,
      "✓ ~/bin/codex-acp",
      NOT_STARTED,
    ],
    never: ["opens a session"],
  },
  {
    from: "--config names a folder, and -b what it may have defined",
    world: healthy,
    argv: ["-b", "mine", "--config", "."],
    says: ["✗ The config file ~ is a folder", "→ Name a file that can be read: --config FILE"],
  },
  {
    from: "--config that is no JSON is ignored by ask too, with nothing approved",
    world: (world) => healthy(world).file("mine.json", "{"),
    argv: [...codex, "--config", "mine.json"],
    says: [
      "! ~/mine.json is not valid JSON (line 1, column 2): the file is ignored, and nothing is approved by itself until it can be read",
      "→ Correct ~/mine.json; docs/config.md lists every key",
    ],
    never: ["✗"],
    exitCode: 0,
  },
];

const WHOLE_ROWS: Row[] = [
  {
    from: "a machine with nothing",
    world: (world) => world,
    argv: [],
    says: [
      "✗ No agent is installed",
      "→ ostler backends install claude",
      "! claude-agent-acp is not in any of the 2 folders searched",
      "→ ostler backends install claude",
      "! codex-acp is not in any of the 2 folders searched",
      "→ ostler backends install codex",
      "! kiro-cli is not in any of the 2 folders searched",
      "→ curl -fsSL https://cli.kiro.dev/install | bash",
      "Demo (demo)",
    ],
  },
  {
    from: "one agent works, and the others were not asked for",
    world: healthy,
    argv: [],
    says: ["! claude-agent-acp is not in any of the 2 folders searched", "✓ ~/bin/codex-acp"],
    never: ["✗", "No agent"],
    exitCode: 0,
  },
  {
    from: "the default backend is missing",
    world: (world) => healthy(world).config({ defaultBackend: "claude" }),
    argv: [],
    says: ["✗ claude-agent-acp is not in any of the 2 folders searched", "→ ostler backends install claude"],
    never: ["✗ kiro-cli"],
  },
  {
    from: "a key of the configuration that is none",
    world: (world) => healthy(world).config({ colour: "turquoise" }),
    argv: codex,
    says: [
      "! ~/ostler/config.json: colour is not a setting, so it is ignored",
      "→ Correct ~/ostler/config.json; docs/config.md lists every key",
    ],
    never: ["✗", "turquoise"],
    exitCode: 0,
  },
  {
    from: "many faults in two files: what to edit is said once per file",
    world: (world) =>
      healthy(world)
        .config({ colour: 1, flavour: 2, backends: { mine: {} }, defaultBackend: "nobody" })
        .file(".ostler.json", JSON.stringify({ approve: "all", restart: { burst: 1 } })),
    argv: codex,
    says: [
      "! ~/ostler/config.json: colour is not a setting, so it is ignored",
      "! ~/ostler/config.json: flavour is not a setting, so it is ignored",
      "! ~/ostler/config.json: backends.mine has no command, so it is ignored",
      "! ~/ostler/config.json: defaultBackend names no backend: nobody, so it is ignored",
      "→ Correct ~/ostler/config.json; docs/config.md lists every key",
      "! ~/.ostler.json: a project file may only tighten, so restart is ignored",
      "! ~/.ostler.json: a project file may only tighten, so approve is ignored",
      "→ Correct ~/.ostler.json; docs/config.md lists every key",
    ],
    never: ["✗"],
    exitCode: 0,
  },
];

test.each([
  ...PROGRAM_ROWS,
  ...NODE_ROWS,
  ...VERSION_ROWS,
  ...LOGIN_ROWS,
  ...START_ROWS,
  ...GATE_ROWS,
  ...STATE_ROWS,
  ...CRASH_ROWS,
  ...CONFIG_ROWS,
  ...WHOLE_ROWS,
])("$from", async ({ world: make, argv, says, never = [], exitCode = 1, mends }) => {
  const world = make(new World());
  const { stdout, stderr, exitCode: code, log } = await world.doctor(...argv);
  const lines = stdout.split("\n").map((line) => line.trim());
  expect(lines.filter((line) => says.includes(line))).toEqual(says);
  for (const text of never) expect(stdout).not.toContain(text);
  expect({ code, stderr }).toEqual({ code: exitCode, stderr: "" });
  expect(processesIn(log).filter((pid) => existsSync(`/proc/${pid}/exe`))).toEqual([]);
  expect(existsSync(world.path("ostler/state/.doctor"))).toBe(false);
  if (mends !== true) return;

  const fix = lines.find((line) => line.startsWith("→"))?.slice(2) ?? "";
  const shell = { HOME: world.home, PATH: `${world.env["PATH"]}:/usr/bin:/bin` };
  const path = execFileSync("/bin/sh", ["-ec", `${fix}\nprintf %s "$PATH"`], { cwd: "/", env: shell }).toString();
  if (fix.startsWith("export")) world.env = { ...world.env, PATH: path };
  expect(await world.doctor(...argv)).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining("✗") });
});

const OWN_BIN = "ostler/adapters/node_modules/.bin";
const AND_CONFIG = "Codex says the same when its config.toml cannot be read: check that file too";

test.each<{ from: string; backend: string; world: (world: World) => World; fix: string; advice: string }>([
  {
    from: "claude, whose command is in PATH",
    backend: "claude",
    world: (world) => world.node().adapter("claude", { scenario: REFUSES_LOGIN }).program("claude"),
    fix: "claude auth login",
    advice: "Run `claude auth login` or set ANTHROPIC_API_KEY, then ask again",
  },
  {
    from: "claude, of which there is only the adapter that Ostler installed",
    backend: "claude",
    world: (world) => world.adapter("claude", { scenario: REFUSES_LOGIN, isOwn: true }),
    fix: `${process.execPath} ~/${OWN_BIN}/claude-agent-acp --cli auth login`,
    advice: `Run \`${process.execPath} ~/${OWN_BIN}/claude-agent-acp --cli auth login\` or set ANTHROPIC_API_KEY, then ask again`,
  },
  {
    from: "codex, whose command is in PATH",
    backend: "codex",
    world: (world) => world.node().adapter("codex", { scenario: REFUSES_LOGIN }).program("codex"),
    fix: "codex login",
    advice: `Run \`codex login\` or set OPENAI_API_KEY, then ask again. ${AND_CONFIG}`,
  },
  {
    from: "codex, of which there is only the adapter that Ostler installed",
    backend: "codex",
    world: (world) =>
      world.adapter("codex", { scenario: REFUSES_LOGIN, isOwn: true }).file(`${OWN_BIN}/codex`, "", 0o755),
    fix: `${process.execPath} ~/${OWN_BIN}/codex login`,
    advice: `Run \`${process.execPath} ~/${OWN_BIN}/codex login\` or set OPENAI_API_KEY, then ask again. ${AND_CONFIG}`,
  },
  {
    from: "codex, of which there is only a global adapter: npm keeps its packages below it",
    backend: "codex",
    world: (world) =>
      world
        .node()
        .adapter("codex", { scenario: REFUSES_LOGIN })
        .file("lib/node_modules/@agentclientprotocol/codex-acp/node_modules/.bin/codex", "", 0o755),
    fix: "~/lib/node_modules/@agentclientprotocol/codex-acp/node_modules/.bin/codex login",
    advice:
      "Run `~/lib/node_modules/@agentclientprotocol/codex-acp/node_modules/.bin/codex login` or set OPENAI_API_KEY, then ask again. " +
      AND_CONFIG,
  },
])("ask and doctor name one login that works here: $from", async ({ backend, world: make, fix, advice }) => {
  const world = make(new World());
  const asked = await run(["ask", "-b", backend, "hello"], { folder: world.home, env: world.env });
  expect(asked.exitCode).toBe(6);
  expect(asked.stderr.replace(/\s+/g, " ")).toContain(`${advice} `);
  expect((await world.doctor("-b", backend, "--smoke")).stdout).toContain(`\n    → ${fix}\n`);
});

test("looking writes nothing, and trying leaves only the folder", async () => {
  const world = healthy(new World());
  await world.doctor("-b", "codex");
  expect(existsSync(world.path("ostler/state"))).toBe(false);
  await world.doctor(...smoke);
  expect(statSync(world.path("ostler/state")).mode & 0o777).toBe(0o700);
});

test("a trial start spends no restart budget", async () => {
  const world = new World()
    .program("mine", "#!/bin/sh\nexit 2\n")
    .config({ backends: { mine: { command: ["mine"] } } });
  const { exitCode } = await world.doctor("-b", "mine", "--smoke");
  expect({ exitCode, crashes: existsSync(world.path("ostler/state/crashes")) }).toEqual({
    exitCode: 1,
    crashes: false,
  });
});

test("programs get the same as data", async () => {
  const world = new World().node().keys().adapter("codex", { version: "2.5.9" });
  const { stdout, exitCode } = await world.doctor("-b", "codex", "--json");
  const { findings } = JSON.parse(stdout).backends[0];
  expect(exitCode).toBe(1);
  expect(findings).toContainEqual({
    check: "version",
    ok: false,
    problem: "Version 2.5.9 is older than the tested 2.6.0",
    fix: "npm install --global --prefix ~ @agentclientprotocol/codex-acp@2.6.0",
  });
});
