/**
 * Whether a tool call is one of an MCP server, and of which, by the structured fields of its frame. Titles say it too, and
 * the model writes titles.
 */
import { isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { str } from "./normalize.ts";

/** The server of an MCP tool; empty when it is one and its server is not certain; undefined when nothing says so. */
export function readMcpServer(update: Frame): string | undefined {
  const meta = update["_meta"];
  if (!isObject(meta)) return undefined;
  const named = [readClaude(meta["claudeCode"]), readKiro(meta["kiro"]), readCodex(update)];
  const servers = new Set(named.filter((server) => server !== undefined));
  if (servers.size === 0) return hasSign(meta) ? "" : undefined;
  const [server] = servers;
  return servers.size === 1 ? server : "";
}

/** `_meta.claudeCode.mcpServer`, else the tool name `mcp__SERVER__TOOL`, which names no server when either holds `__`. */
function readClaude(claude: unknown): string | undefined {
  if (!isObject(claude)) return undefined;
  const named = nameOf(claude["mcpServer"]);
  if (named !== undefined) return named;
  const [prefix, name = "", ...tool] = (str(claude["toolName"]) ?? "").split("__");
  if (prefix !== "mcp") return undefined;
  return tool.length === 1 ? name : "";
}

/**
 * codex-acp 2.6.0 marks the call and names the server in its input; its kind is `execute`, as that of a command. To an AIR
 * client claude-agent-acp marks it too (seed document 002, JetBrains shared keys), and there the input is the model's.
 */
function readCodex({ _meta: meta, rawInput }: Frame): string | undefined {
  if (!isObject(meta) || meta["is_mcp_tool_call"] !== true || isObject(meta["claudeCode"])) return undefined;
  return (isObject(rawInput) ? str(rawInput["server"]) : undefined) ?? "";
}

/** kiro names the server beside the tool, or puts it into the tool's name, `@SERVER/TOOL` (kiro wire notes, section 6). */
function readKiro(kiro: unknown): string | undefined {
  if (!isObject(kiro)) return undefined;
  const servers = Object.entries(kiro).flatMap(([key, value]) => {
    if (/server/i.test(key) && value != null) return nameOf(value) ?? "";
    if (!/^tool/i.test(key) || typeof value !== "string") return [];
    if (/mcp/i.test(value)) return /^mcp__[^_]+__[^_]+$/.test(value) ? (value.split("__")[1] ?? "") : "";
    return value.startsWith("@") ? (/^@([^/]+)\/[^/]+$/.exec(value)?.[1] ?? "") : [];
  });
  const [server] = servers;
  if (server === undefined) return hasSign(kiro) ? "" : undefined;
  return servers.every((other) => other === server) ? server : "";
}

function nameOf(server: unknown): string | undefined {
  return str(server) ?? (isObject(server) ? str(server["name"]) : undefined);
}

/** A field about MCP that none of the above can read, also of an agent that nobody knows. */
function hasSign(meta: Frame, depth = 0): boolean {
  return Object.entries(meta).some(
    ([key, value]) =>
      (/mcp/i.test(key) && value != null && value !== false && value !== "") ||
      (depth < 2 && isObject(value) && hasSign(value, depth + 1)),
  );
}
