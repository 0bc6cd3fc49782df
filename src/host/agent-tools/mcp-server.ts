/** The MCP server itself: it lists the tools and hands calls on. One instance serves one connection. */
import { randomBytes } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/server";
import { VERSION } from "../../acp/version.ts";
import type { ToolAnswer } from "./tool-answer.ts";
import { errorAnswer } from "./tool-answer.ts";
import { DISPOSITION_TOOL, OWN_SERVER, RUN_TOOL, TOOLS } from "./tool-list.ts";

/** Answers a call; the signal says that nobody waits for the answer any more. Must not reject. */
export type AnswerCall = (callId: string, input: unknown, signal: AbortSignal) => Promise<ToolAnswer>;

export interface ToolAnswers {
  readonly [RUN_TOOL]: AnswerCall;
  readonly [DISPOSITION_TOOL]: AnswerCall;
}

/** All that a model sees of the tools before it looks for them, where they are deferred (codex 0.166, `tool_search`). */
const INSTRUCTIONS =
  "Run commands whose result matters (tests, builds, linters, probes) with declared intent: run. Say what became of a failure of yours: failure_disposition.";

/** A server that is not connected yet. */
export function newToolServer(answers: ToolAnswers): McpServer {
  const mcp = new McpServer(
    { name: OWN_SERVER, title: "Ostler", version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const { server } = mcp;
  server.setRequestHandler("tools/list", () => ({ tools: TOOLS }));
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: input = {} } }, { mcpReq }) => {
    const answer = isTool(name)
      ? await answers[name](newCallId(), input, mcpReq.signal)
      : errorAnswer(`There is no tool ${name}; the tools are ${TOOLS.map((tool) => tool.name).join(" and ")}`);
    return { ...answer, content: [...answer.content] };
  });
  return mcp;
}

function isTool(name: string): name is keyof ToolAnswers {
  return name === RUN_TOOL || name === DISPOSITION_TOOL;
}

/** Ids of one connection would come again with the next one, and a run goes on over several processes. */
function newCallId(): string {
  return `call_${randomBytes(9).toString("hex")}`;
}
