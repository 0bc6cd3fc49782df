/** What a tool answers, in the form of MCP (`CallToolResult`). */
export interface ToolAnswer {
  readonly content: readonly [{ readonly type: "text"; readonly text: string }];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** A sentence that says why a call did not do what it was to do. */
export function errorAnswer(text: string): ToolAnswer {
  return { content: [{ type: "text", text }], isError: true };
}
