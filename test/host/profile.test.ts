import { expect, test } from "vitest";
import { profileOfCommand } from "../../src/host/profile.ts";

test.each([
  { command: ["codex-acp"], profile: "codex" },
  { command: ["/opt/bin/claude-agent-acp", "--x"], profile: "claude" },
  { command: ["kiro-cli", "acp", "--agent-engine", "v3"], profile: "kiro" },
  { command: ["npx", "-y", "@agentclientprotocol/codex-acp@2.6.0"], profile: "codex" },
  { command: ["node", "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"], profile: "claude" },
  { command: ["my-codex-acp"], profile: undefined },
  { command: ["gemini", "--acp"], profile: undefined },
  { command: [], profile: undefined },
])("$command has the habits of $profile", ({ command, profile }) => {
  expect(profileOfCommand(command)).toBe(profile);
});
