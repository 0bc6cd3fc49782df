import { expect, test } from "vitest";
import { childEnvironment, isOstlerSecret } from "../../src/host/environment.ts";

const settings = { env: {}, inheritEnv: [] };

const everything = {
  PATH: "/bin",
  HOME: "/home/ann",
  LANG: "C",
  LC_ALL: "C",
  TMPDIR: "/t",
  https_proxy: "http://proxy:1",
  SSH_AUTH_SOCK: "/s",
  JAVA_HOME: "/jdk",
  VIRTUAL_ENV: "/venv",
  OPENAI_API_KEY: "o",
  CODEX_HOME: "/c",
  ANTHROPIC_API_KEY: "a",
  CLAUDE_CONFIG_DIR: "/cc",
  KIRO_API_KEY: "k",
  AWS_PROFILE: "w",
  GITHUB_TOKEN: "g",
  OSTLER_HOME: "/o",
  OSTLER_DASHBOARD_TOKEN: "secret",
  TELEGRAM_BOT_TOKEN: "secret",
  DISCORD_TOKEN: "secret",
  SLACK_BOT_TOKEN: "secret",
  SLACK_APP_TOKEN: "secret",
};
const secrets = ["OSTLER_DASHBOARD_TOKEN", "TELEGRAM_BOT_TOKEN", "DISCORD_TOKEN", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"];

test("under ask the agent gets the user's own environment without Ostler's secrets", () => {
  const env = childEnvironment({ env: everything, surface: "ask", profile: "codex", settings });
  expect(Object.keys(everything).filter((name) => !(name in env))).toEqual(secrets);
  expect(env).toMatchObject({ SSH_AUTH_SOCK: "/s", JAVA_HOME: "/jdk", VIRTUAL_ENV: "/venv", KIRO_API_KEY: "k" });
});

test.each([
  { profile: "codex" as const, own: ["OPENAI_API_KEY", "CODEX_HOME"] },
  { profile: "claude" as const, own: ["ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR"] },
  { profile: "kiro" as const, own: ["KIRO_API_KEY", "AWS_PROFILE"] },
  { profile: "generic" as const, own: [] },
])("under serve $profile gets the list and its own names, nothing else", ({ profile, own }) => {
  const env = childEnvironment({ env: everything, surface: "serve", profile, settings });
  expect(Object.keys(env)).toEqual(["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "https_proxy", ...own]);
});

test("inheritEnv adds names under serve, and never a channel token", () => {
  const env = childEnvironment({
    env: everything,
    surface: "serve",
    profile: "generic",
    settings: { env: {}, inheritEnv: ["GITHUB_TOKEN", "SLACK_BOT_TOKEN", "*"] },
  });
  expect(env["GITHUB_TOKEN"]).toBe("g");
  expect(Object.values(env)).not.toContain("secret");
});

test("the settings' variables win, yet cannot hand out a channel token", () => {
  const env = childEnvironment({
    env: { A: "inherited" },
    surface: "ask",
    profile: "generic",
    settings: { env: { A: "set", B: "new", TELEGRAM_BOT_TOKEN: "secret" }, inheritEnv: [] },
  });
  expect(env).toEqual({ A: "set", B: "new" });
});

test("a variable that is not set is not passed as the text `undefined`", () => {
  expect(childEnvironment({ env: { A: undefined }, surface: "ask", profile: "generic", settings })).toEqual({});
});

test.each([
  { name: "telegram_bot_token", secret: true },
  { name: "SLACK_SIGNING_SECRET", secret: true },
  { name: "OSTLER_TOKEN", secret: true },
  { name: "OSTLER_HOME", secret: false },
  { name: "MY_TELEGRAM_BOT_TOKEN_COUNT", secret: false },
  { name: "GITHUB_TOKEN", secret: false },
])("$name is a secret of Ostler's: $secret", ({ name, secret }) => {
  expect(isOstlerSecret(name)).toBe(secret);
});
