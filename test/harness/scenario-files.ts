/** Files that scenarios of both harnesses hand to `ostler ask`; each returns the arguments that name its file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScenarioHome } from "./scenario-home.ts";

/** A PNG of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** An image to attach. */
export function attachedImage({ root }: ScenarioHome): readonly string[] {
  const path = join(root, "pixel.png");
  writeFileSync(path, Buffer.from(PIXEL, "base64"));
  return ["--attach", path];
}

/** An MCP server whose program does not exist. */
export function missingMcpServer({ root }: ScenarioHome): readonly string[] {
  const path = join(root, "mcp.json");
  writeFileSync(path, JSON.stringify({ mcpServers: { broken: { command: "/nonexistent/mcp-server", args: [] } } }));
  return ["--mcp", path];
}

/** A `config.toml` in place of the usual one. */
export function codexConfigFile({ userHome }: ScenarioHome, content: string): readonly string[] {
  writeFileSync(join(userHome, ".codex/config.toml"), content);
  return [];
}
