/** What a permission policy file says, as plain data: see docs/permissions.md. */

/** What happens to a tool call. */
export type PolicyWord = "allow" | "ask" | "deny";

/** Conditions that must all hold; each holds when one of its entries does. At least one is given. */
export interface PolicyRule {
  /** ACP's kinds of tools. */
  readonly kind?: readonly string[] | undefined;
  /** First words of a command. */
  readonly command?: readonly string[] | undefined;
  /** Globs below a folder of the workspace. */
  readonly inside?: readonly string[] | undefined;
  /** Globs on absolute paths outside the workspace. */
  readonly outside?: readonly string[] | undefined;
  /** Host names; `*.example.com` means every name below. */
  readonly host?: readonly string[] | undefined;
  /** Names of MCP servers. */
  readonly mcp?: readonly string[] | undefined;
}

/** A whole policy. Deny beats ask beats allow; `default` decides about the rest. */
export interface PolicyRules {
  readonly default: PolicyWord;
  /** Refuse agents that would run tools without asking. */
  readonly gate?: "required" | undefined;
  readonly allow: readonly PolicyRule[];
  readonly ask: readonly PolicyRule[];
  readonly deny: readonly PolicyRule[];
}
