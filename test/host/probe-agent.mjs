// An ACP agent that writes down how it was started (PROBE_FILE, one JSON line per start) and opens sessions.
// PROBE_FAILS=session refuses them. It ends with its stdin, and then writes its name once more.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const note = (fact) => appendFileSync(process.env.PROBE_FILE, `${JSON.stringify(fact)}\n`);
note({ started: process.argv[2], args: process.argv.slice(2), cwd: process.cwd(), env: process.env });

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (method === "session/new" && process.env.PROBE_FAILS === "session") {
    send({ id, error: { code: -32000, message: "Authentication required" } });
  } else if (method === "session/new") send({ id, result: { sessionId: "probe" } });
  else if (id !== undefined) send({ id, result: {} });
}
note({ ended: process.argv[2] });
