/** The client side of MCP, as much of it as an agent uses: over HTTP, and over the bytes of a process. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { isObject } from "../../../src/acp/frames.ts";

/** What a tool answered. */
export interface Answer {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: Readonly<Record<string, unknown>> | undefined;
}

/** One tool as it is listed. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

const INITIALIZE = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
} as const;

type Send = (frame: object) => Promise<unknown>;

export class McpClient {
  readonly #send: Send;
  #ids = 0;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Shakes hands. */
  async open(): Promise<this> {
    await this.request("initialize", INITIALIZE);
    await this.notify("notifications/initialized", {});
    return this;
  }

  async tools(): Promise<readonly ListedTool[]> {
    const result = await this.request("tools/list", {});
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the protocol's own form, which the tests read field by field
    return (result as { tools: readonly ListedTool[] }).tools;
  }

  /** The id of the request that comes next. */
  get nextId(): number {
    return this.#ids + 1;
  }

  async call(name: string, input: unknown): Promise<Answer> {
    const result = await this.request("tools/call", { name, arguments: input });
    if (!isObject(result) || !Array.isArray(result["content"])) throw new Error(JSON.stringify(result));
    const { content, isError = false, structuredContent } = result;
    const text = content.map((block: { readonly text: string }) => block.text).join("");
    return { text, isError: isError === true, structured: isObject(structuredContent) ? structuredContent : undefined };
  }

  async request(method: string, params: object): Promise<unknown> {
    this.#ids += 1;
    const answer = await this.#send({ jsonrpc: "2.0", id: this.#ids, method, params });
    return isObject(answer) && "result" in answer ? answer["result"] : answer;
  }

  async notify(method: string, params: object): Promise<void> {
    await this.#send({ jsonrpc: "2.0", method, params });
  }
}

/** Headers of every request, besides what the test says. */
export const HTTP_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** A client over streamable HTTP. */
export function httpClient(url: string, headers: Readonly<Record<string, string>>): McpClient {
  let session: string | null = null;
  return new McpClient(async (frame) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...HTTP_HEADERS, ...headers, ...(session !== null && { "mcp-session-id": session }) },
      body: JSON.stringify(frame),
    });
    session ??= response.headers.get("mcp-session-id");
    const data = (await response.text()).split("\n").find((line) => line.startsWith("data: {"));
    return data === undefined ? response.status : JSON.parse(data.slice("data: ".length));
  });
}

/** A client over stdin and stdout of a process. */
export function stdioClient({ stdin, stdout }: ChildProcessWithoutNullStreams): McpClient {
  const waiting = new Map<unknown, (answer: unknown) => void>();
  createInterface({ input: stdout }).on("line", (line) => {
    const answer: { readonly id: unknown } = JSON.parse(line);
    waiting.get(answer.id)?.(answer);
  });
  return new McpClient((frame) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    if ("id" in frame) waiting.set(frame.id, resolve);
    else resolve(undefined);
    stdin.write(`${JSON.stringify(frame)}\n`);
    return promise;
  });
}
