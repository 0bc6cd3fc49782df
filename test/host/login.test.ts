import { describe, expect, test } from "vitest";
import type { AuthMethod } from "../../src/acp/negotiate.ts";
import { readHandshake } from "../../src/acp/negotiate.ts";
import { decideLogin } from "../../src/host/login.ts";
import type { LoginWay } from "../../src/host/login.ts";
import { UsageError } from "../../src/host/usage-error.ts";

/** In the shape of claude-agent-acp 0.101.0 towards a client that declares `terminal-auth`. */
const CLAUDE_OFFER = [
  {
    id: "claude-ai-login",
    name: "Claude Subscription",
    description: "Use Claude subscription ",
    type: "terminal",
    args: ["--cli", "auth", "login", "--claudeai"],
    _meta: {
      "terminal-auth": {
        command: "/bin/node",
        args: ["acp.js", "--cli", "auth", "login", "--claudeai"],
        label: "Claude Login",
      },
    },
  },
  {
    id: "console-login",
    name: "Anthropic Console",
    _meta: { "terminal-auth": { command: "/bin/node", args: ["acp.js", "--cli", "auth", "login", "--console"] } },
  },
];
const read = (authMethods: readonly unknown[]): readonly AuthMethod[] => readHandshake({ authMethods }).authMethods;
/** Recording codex-acp 2.6.0 plain-text. */
const CODEX_OFFER = read([{ id: "api-key", name: "API Key", description: "Use an API key to authenticate" }]);

describe("what an agent offers to sign in with", () => {
  test("a command for a terminal, with its label", () => {
    expect(read(CLAUDE_OFFER)[0]).toEqual({
      id: "claude-ai-login",
      name: "Claude Subscription",
      description: "Use Claude subscription ",
      terminal: {
        command: "/bin/node",
        args: ["acp.js", "--cli", "auth", "login", "--claudeai"],
        label: "Claude Login",
      },
    });
  });

  test.each<{ from: string; login: unknown }>([
    { from: "no object", login: "claude login" },
    { from: "no command", login: { args: ["login"] } },
    { from: "an empty command", login: { command: "" } },
    { from: "arguments that are no words", login: { command: "claude", args: ["login", 5] } },
    { from: "arguments that are no list", login: { command: "claude", args: "login" } },
  ])("$from is no command", ({ login }) => {
    expect(read([{ id: "a", name: "A", _meta: { "terminal-auth": login } }])).toEqual([{ id: "a", name: "A" }]);
  });
});

describe("which way is taken", () => {
  const own = ["codex", "login"];

  test.each<{
    from: string;
    offered: readonly AuthMethod[];
    own?: readonly string[];
    wanted?: string;
    way: LoginWay | undefined;
  }>([
    {
      from: "the first command that the agent offers, before the harness's own",
      offered: [...CODEX_OFFER, ...read(CLAUDE_OFFER)],
      own,
      way: {
        via: "command",
        id: "claude-ai-login",
        words: ["/bin/node", "acp.js", "--cli", "auth", "login", "--claudeai"],
      },
    },
    {
      from: "the harness's own program, before what the agent does by itself",
      offered: CODEX_OFFER,
      own,
      way: { via: "command", words: own },
    },
    {
      from: "what the agent does by itself, where there is no program",
      offered: CODEX_OFFER,
      way: { via: "agent", id: "api-key" },
    },
    {
      from: "the one that is named",
      offered: CODEX_OFFER,
      own,
      wanted: "api-key",
      way: { via: "agent", id: "api-key" },
    },
    {
      from: "the command that is named",
      offered: read(CLAUDE_OFFER),
      wanted: "console-login",
      way: {
        via: "command",
        id: "console-login",
        words: ["/bin/node", "acp.js", "--cli", "auth", "login", "--console"],
      },
    },
    { from: "none", offered: [], way: undefined },
  ])("$from", ({ offered, own: words, wanted, way }) => {
    expect(decideLogin(offered, words, wanted)).toEqual(way);
  });

  test.each([
    {
      from: "with the nearest",
      offered: CODEX_OFFER,
      wanted: "apikey",
      said: 'There is no login "apikey": it offers api-key; did you mean "api-key"?',
    },
    { from: "where there are none", offered: [], wanted: "x", said: 'There is no login "x": it offers none' },
  ])("a name that is not offered, $from", ({ offered, wanted, said }) => {
    expect(() => decideLogin(offered, ["codex", "login"], wanted)).toThrow(new UsageError(said));
  });
});
