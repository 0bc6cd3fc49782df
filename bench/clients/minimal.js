/**
 * usage: node minimal.js text|json PROGRAM [ARGUMENTS]
 * The least that an ACP client in Node can do: parse every line, show it, wait for a slow reader. No deadlines, no
 * bounds, no failures, no tool calls. Plain JavaScript, so that no time goes into stripping types.
 */
import { spawn } from "node:child_process";

const [output, program, ...programArguments] = process.argv.slice(2);
const agent = spawn(program, programArguments, { stdio: ["pipe", "pipe", "inherit"] });
let unfinished = "";

agent.stdout.setEncoding("utf8");
agent.stdout.on("data", (/** @type {string} */ chunk) => {
  const lines = (unfinished + chunk).split("\n");
  unfinished = lines.pop() ?? "";
  let shown = "";
  for (const line of lines) if (line !== "") shown += take(line);
  if (shown === "" || process.stdout.write(shown)) return;
  agent.stdout.pause();
  process.stdout.once("drain", () => agent.stdout.resume());
});
send(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });

/** Handles one line of the agent and returns what is to be shown of it. */
function take(/** @type {string} */ line) {
  const frame = JSON.parse(line);
  if (frame.method === undefined) {
    answered(frame);
    return "";
  }
  if (output === "json") return `${line}\n`;
  const { update } = frame.params;
  return update.sessionUpdate === "agent_message_chunk" ? update.content.text : "";
}

function answered(/** @type {{ id: number, result: any }} */ { id, result }) {
  if (id === 1) send(2, "session/new", { cwd: process.cwd(), mcpServers: [] });
  else if (id === 2)
    send(3, "session/prompt", { sessionId: result.sessionId, prompt: [{ type: "text", text: "hello" }] });
  else agent.stdin.end();
}

function send(/** @type {number} */ id, /** @type {string} */ method, /** @type {unknown} */ params) {
  agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
}
