/**
 * The adapters that Ostler can install, in the versions that its recordings and harness tests were made with. `native`
 * is the package that brings the harness's own program, one optional package per platform.
 */
export const TESTED_ADAPTERS = {
  codex: {
    package: "@agentclientprotocol/codex-acp",
    version: "2.6.0",
    binary: "codex-acp",
    native: "@openai/codex",
  },
  claude: {
    package: "@agentclientprotocol/claude-agent-acp",
    version: "0.101.0",
    binary: "claude-agent-acp",
    native: "@anthropic-ai/claude-agent-sdk",
  },
} as const;
