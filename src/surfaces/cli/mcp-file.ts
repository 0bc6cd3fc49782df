/**
 * `--mcp FILE`: the MCP servers of the person, as a list in the form of ACP or as the `mcpServers` map that editors and
 * agents keep. Out comes the form of ACP (protocol section "Session setup", MCP servers).
 */
import { resolve } from "node:path";
import { fileProblem } from "./file-problem.ts";
import { readBounded } from "../../host/read-bounded.ts";
import { UsageError } from "../../host/usage-error.ts";

/** Lists of servers are a page of text. */
const MAX_MCP_FILE_BYTES = 1024 * 1024;

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** One server as `session/new` takes it. */
export type McpServer =
  | {
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: readonly NamedValue[];
    }
  | {
      readonly type: "http" | "sse";
      readonly name: string;
      readonly url: string;
      readonly headers: readonly NamedValue[];
    };

/** All servers of all files. @throws UsageError naming file and field. */
export async function readMcpServers(
  files: readonly string[],
  cwd: string,
  signal?: AbortSignal,
): Promise<McpServer[]> {
  const perFile = await Promise.all(files.map((file) => readMcpFile(file, resolve(cwd, file), signal)));
  const servers = perFile.flat();
  const twice = servers.find(({ name }, index) => servers.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw new UsageError(`The MCP server ${twice.name} is given twice`);
  return servers;
}

async function readMcpFile(file: string, path: string, signal: AbortSignal | undefined): Promise<McpServer[]> {
  const refuse = (why: string) => new UsageError(`Cannot use the MCP servers of ${file}: ${why}`);
  const bytes = await readBounded(path, { maxBytes: MAX_MCP_FILE_BYTES, signal }).catch((error: unknown) => {
    throw refuse(fileProblem(error));
  });
  let root: unknown;
  try {
    root = JSON.parse(bytes.toString());
  } catch {
    throw refuse("it is not valid JSON");
  }
  const listed = isRecord(root) ? (root["mcpServers"] ?? root["servers"] ?? root) : root;
  if (Array.isArray(listed)) {
    return listed.map((entry: unknown, index) => {
      const name = isRecord(entry) ? entry["name"] : undefined;
      if (!isRecord(entry) || typeof name !== "string" || name === "") throw refuse(`server ${index + 1} has no name`);
      return readServer(name, entry, refuse);
    });
  }
  if (!isRecord(listed)) throw refuse("it holds neither a list of servers nor a map named mcpServers");
  return Object.entries(listed).map(([name, entry]) => {
    if (!isRecord(entry)) throw refuse(`${name} is not an object`);
    return readServer(name, entry, refuse);
  });
}

function readServer(
  name: string,
  entry: Readonly<Record<string, unknown>>,
  refuse: (why: string) => UsageError,
): McpServer {
  const { command, args = [], env = {}, url, headers = {} } = entry;
  if (typeof command === "string" && command !== "") {
    if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string"))
      throw refuse(`args of ${name} is not a list of texts`);
    return { name, command, args, env: readPairs(env) ?? fail(refuse(`env of ${name} is not a map of texts`)) };
  }
  if (typeof url === "string" && url !== "") {
    const type = entry["type"] === "sse" || entry["transport"] === "sse" ? "sse" : "http";
    return { type, name, url, headers: readPairs(headers) ?? fail(refuse(`headers of ${name} is not a map of texts`)) };
  }
  throw refuse(`${name} has neither a command nor a url`);
}

/** `{K: "v"}` and `[{name: "K", value: "v"}]` alike; undefined when it is neither. */
function readPairs(value: unknown): readonly NamedValue[] | undefined {
  const pairs: unknown[] = Array.isArray(value)
    ? value
    : isRecord(value)
      ? Object.entries(value).map(([name, text]) => ({ name, value: text }))
      : [undefined];
  const named = pairs.filter(
    (pair): pair is NamedValue =>
      isRecord(pair) && typeof pair["name"] === "string" && typeof pair["value"] === "string",
  );
  return named.length === pairs.length ? named.map(({ name, value }) => ({ name, value })) : undefined;
}

function fail(error: Error): never {
  throw error;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
