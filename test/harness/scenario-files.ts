/** Files that scenarios of both harnesses hand to `ostler ask`; each returns the arguments that name its file. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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

/** A policy that denies everything and requires that the agent asks about everything. */
export function strictGate(home: ScenarioHome): readonly string[] {
  const path = fileBelow(home.root, "policy.json", JSON.stringify({ gate: "required", default: "deny" }));
  return ["--permission-policy", path];
}

/** Ostler's own configuration: deadlines in seconds. */
export function ostlerTimeouts({ root }: ScenarioHome, timeouts: Readonly<Record<string, number>>): readonly string[] {
  fileBelow(root, "config/ostler/config.json", JSON.stringify({ timeouts }));
  return [];
}

/** Writes a file and the folders above it; returns its path. */
export function fileBelow(folder: string, name: string, content: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}
