/** The tools of one run, listening, and what the record of the run was told. */
import { onTestFinished } from "vitest";
import type { PermissionPolicy } from "../../../src/acp/ports.ts";
import type { RunEvent } from "../../../src/failures/run-lines.ts";
import { AgentTools } from "../../../src/host/agent-tools/agent-tools.ts";
import type { AgentToolsOptions } from "../../../src/host/agent-tools/agent-tools.ts";
import { ConfinedHome } from "../confined-home.ts";
import { httpClient } from "./mcp-client.ts";
import type { McpClient } from "./mcp-client.ts";

/** How a server stands in `mcpServers` of `session/new`. */
export interface HttpServer {
  readonly type: "http";
  readonly name: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

export interface StdioServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

export const allowAll: PermissionPolicy = ({ options }) =>
  Promise.resolve({ action: "select", optionId: options[0]?.optionId ?? "", denied: false });

export class StartedTools {
  readonly home = new ConfinedHome();
  readonly events: RunEvent[] = [];
  readonly tools: AgentTools;

  private constructor(home: ConfinedHome, tools: AgentTools, events: RunEvent[]) {
    this.home = home;
    this.tools = tools;
    this.events = events;
    onTestFinished(() => tools.close());
  }

  static async start(options: Partial<AgentToolsOptions> = {}): Promise<StartedTools> {
    const home = new ConfinedHome();
    const events: RunEvent[] = [];
    const tools = new AgentTools({
      paths: home.paths,
      cwd: home.work,
      env: { PATH: process.env["PATH"] ?? "", GREETING: "hello" },
      confine: await home.confine(),
      permissions: allowAll,
      emit: (event) => events.push(event),
      isSpent: () => false,
      dispose: () => Promise.resolve({ accepted: true, message: "Recorded" }),
      ...options,
    });
    return new StartedTools(home, tools, events);
  }

  async http(): Promise<HttpServer> {
    const [server] = await this.tools.mcpServers({ mcpHttp: true });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this very row is about
    return server as HttpServer;
  }

  async stdio(): Promise<StdioServer> {
    const [server] = await this.tools.mcpServers({ mcpHttp: false });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this very row is about
    return server as StdioServer;
  }

  /** A client that has shaken hands. */
  async connect(): Promise<McpClient> {
    const { url, headers } = await this.http();
    return httpClient(url, Object.fromEntries(headers.map(({ name, value }) => [name, value]))).open();
  }
}
