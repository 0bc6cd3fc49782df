/** The adapters that Ostler can install, in the versions that its recordings and harness tests were made with. */
export const TESTED_ADAPTERS = {
  codex: { package: "@agentclientprotocol/codex-acp", version: "2.6.0", binary: "codex-acp" },
  claude: { package: "@agentclientprotocol/claude-agent-acp", version: "0.101.0", binary: "claude-agent-acp" },
} as const;

export type InstallableBackend = keyof typeof TESTED_ADAPTERS;

/** Whether `ostler backends install` knows the name. */
export function isInstallable(name: string): name is InstallableBackend {
  return Object.hasOwn(TESTED_ADAPTERS, name);
}
