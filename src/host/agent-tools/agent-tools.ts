/** The tools of one trusted run: what its agent is given to reach them, and what is behind them. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Paths } from "../paths.ts";
import { newBearerToken } from "./bearer-token.ts";
import { HttpListener } from "./http-listener.ts";
import type { ToolAnswers } from "./mcp-server.ts";
import { RunTool } from "./run-tool.ts";
import type { RunToolOptions } from "./run-tool.ts";
import { SocketListener } from "./socket-listener.ts";
import { errorAnswer } from "./tool-answer.ts";
import { DISPOSITION_TOOL, OWN_SERVER, RUN_TOOL } from "./tool-list.ts";

/** Under this name `ostler mcp` gets its token: arguments are shown to everybody by `ps`. */
export const TOKEN_VARIABLE = "OSTLER_MCP_TOKEN";

export interface AgentToolsOptions extends RunToolOptions {
  readonly paths: Paths;
  /** Decides a `failure_disposition` and writes it down before it resolves; `message` goes to the agent. */
  readonly dispose: (call: { readonly callId: string; readonly request: unknown }) => Promise<{
    readonly accepted: boolean;
    readonly message: string;
  }>;
}

export class AgentTools implements AsyncDisposable {
  readonly #paths: Paths;
  readonly #env: Readonly<Record<string, string>>;
  readonly #token = newBearerToken();
  readonly #answers: ToolAnswers;
  readonly #run: RunTool;
  #http: Promise<HttpListener> | undefined;
  #socket: Promise<SocketListener> | undefined;

  constructor(options: AgentToolsOptions) {
    const { dispose } = options;
    this.#paths = options.paths;
    this.#env = options.env;
    this.#run = new RunTool(options);
    this.#answers = {
      [RUN_TOOL]: (callId, input, signal) => this.#run.call(callId, input, signal),
      [DISPOSITION_TOOL]: async (callId, request) => {
        const { accepted, message } = await dispose({ callId, request });
        return accepted ? { content: [{ type: "text", text: message }] } : errorAnswer(message);
      },
    };
  }

  /** What goes into `mcpServers` of `session/new`, in ACP's form. Listens from then on. Throws the system's error. */
  async mcpServers({ mcpHttp }: { readonly mcpHttp: boolean }): Promise<readonly unknown[]> {
    if (mcpHttp && reachesLoopback(this.#env)) {
      this.#http ??= HttpListener.open(this.#token, this.#answers);
      const { url } = await this.#http;
      const headers = [{ name: "Authorization", value: `Bearer ${this.#token}` }];
      return [{ type: "http", name: OWN_SERVER, url, headers }];
    }
    this.#socket ??= SocketListener.open(this.#paths, this.#token, this.#answers);
    const { path } = await this.#socket;
    const env = [{ name: TOKEN_VARIABLE, value: this.#token }];
    return [{ name: OWN_SERVER, command: process.execPath, args: [ownCommand(), "mcp", "--socket", path], env }];
  }

  /** Ends what the agent's calls have running: its turn is over, or was stopped. Resolves when nothing is left. */
  endCommands(): Promise<void> {
    return this.#run.endAll();
  }

  /** Ends the commands and hangs up. */
  async close(): Promise<void> {
    await this.endCommands();
    await Promise.allSettled([this.#http, this.#socket].map(async (listener) => (await listener)?.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Whoever asks a proxy for everything asks it for this machine too, where it finds nothing. */
function reachesLoopback(env: Readonly<Record<string, string>>): boolean {
  const valueOf = (name: string): string => env[name] || env[name.toUpperCase()] || "";
  if (valueOf("http_proxy") === "" && valueOf("all_proxy") === "") return true;
  return valueOf("no_proxy")
    .split(/[\s,]+/)
    .some((host) => host === "*" || host === "127.0.0.1");
}

/** The CLI from this module: in the bundle of the command, from the library, in the sources. */
const PLACES = ["./ostler.cjs", "../../cli/ostler.cjs", "../../surfaces/cli/ostler.ts"];

function ownCommand(): string {
  const files = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? files[0]!;
}
