/** The token of a run is in no file and on no screen, and the question about our own tools is answered here alone. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { redact } from "../../../src/errors/redact.ts";
import { scrubJson } from "../../../src/errors/scrub-json.ts";
import { newBearerToken } from "../../../src/host/agent-tools/bearer-token.ts";
import { allowingOwnTools } from "../../../src/host/agent-tools/own-server-policy.ts";
import type { PermissionRequest } from "../../../src/acp/types.ts";
import { agentOption, chunk, end, turns } from "../../fixtures/agents/scenario.ts";
import { StartedTools } from "./started-tools.ts";

const OSTLER = fileURLToPath(new URL("../../../src/surfaces/cli/ostler.ts", import.meta.url));

test.each([
  { from: "over HTTP", mcpHttp: true },
  { from: "over stdio", mcpHttp: false },
])("the frame of session/new, $from, without its token and otherwise whole", async ({ mcpHttp }) => {
  const mcpServers = await (await StartedTools.start()).tools.mcpServers({ mcpHttp });
  const frame = { jsonrpc: "2.0", id: 1, method: "session/new", params: { cwd: "/w", mcpServers } };
  expect(JSON.stringify(frame)).toContain("ostler_mcp_");
  const written = JSON.stringify(scrubJson(frame));
  expect(written).not.toContain("ostler_mcp_");
  expect(written).toContain(mcpHttp ? "/mcp" : '"mcp","--socket"');
});

test.each([
  { from: "over HTTP", http: true },
  { from: "over stdio", http: false },
])("what a confined ask leaves and says, $from: no token, with every log and trace on", async ({ http }) => {
  const root = mkdtempSync(join(tmpdir(), "ostler-token-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const initializeResult = { agentCapabilities: { mcpCapabilities: { http } } };
  const agent = agentOption({ ...turns([chunk("Hi"), end()]), initializeResult }, root);
  const args = ["ask", "--confined", "--trace", join(root, "trace.jsonl"), "--verbose", "--agent", agent, "hi"];
  const agentLog = join(root, "agent.log");
  const env = {
    PATH: process.env["PATH"],
    OSTLER_HOME: join(root, "ostler"),
    OSTLER_LOG: "trace",
    AGENT_LOG: agentLog,
  };
  const { stdout, stderr } = await execa(process.execPath, ["--no-warnings", OSTLER, ...args], {
    cwd: root,
    env,
    extendEnv: false,
  });
  expect(stdout).toBe("Hi");
  // The agent alone was told.
  const [token = "?"] = /ostler_mcp_[\w-]{43}/.exec(readFileSync(agentLog, "utf8")) ?? [];
  expect(token).not.toBe("?");
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.map((file) => file.slice(root.length + 1))).toEqual(
    expect.arrayContaining(["trace.jsonl", expect.stringMatching(/runs\/.*\/output\.log$/)]),
  );
  const said = [stdout, stderr, ...files.filter((file) => file !== agentLog).map((file) => readFileSync(file, "utf8"))];
  expect(said.filter((text) => text.includes(token.slice("ostler_mcp_".length)))).toEqual([]);
});

test.each([
  { from: "an answer of a tool", text: (token: string) => `OSTLER_MCP_TOKEN=${token}` },
  { from: "a header in an error", text: (token: string) => `401: Authorization: Bearer ${token}` },
  { from: "the token alone, in prose", text: (token: string) => `the value ${token} was not accepted` },
])("in $from it is scrubbed", ({ text }) => {
  const token = newBearerToken();
  expect(redact(text(token))).not.toContain(token.slice("ostler_mcp_".length));
});

const REQUEST: PermissionRequest = {
  sessionId: "s",
  toolCallId: "t",
  title: "mcp__ostler__run",
  kind: "execute",
  paths: [],
  mcpServer: "ostler",
  options: [
    { optionId: "always", name: "Always", kind: "allow_always" },
    { optionId: "once", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ],
  isQuestion: false,
};

test.each([
  { from: "our own server", change: {}, answer: "once" },
  { from: "our own server, claimed too", change: { claimed: { mcpServer: "ostler" } }, answer: "once" },
  { from: "another server", change: { mcpServer: "tracker" }, answer: "policy" },
  { from: "a server that is not certain", change: { mcpServer: "" }, answer: "policy" },
  { from: "a title alone", change: { mcpServer: undefined }, answer: "policy" },
  { from: "a claim alone", change: { mcpServer: "tracker", claimed: { mcpServer: "ostler" } }, answer: "policy" },
  { from: "a claim of another server", change: { claimed: { mcpServer: "tracker" } }, answer: "policy" },
  { from: "a question for a person", change: { isQuestion: true }, answer: "policy" },
  { from: "no way to allow it once", change: { options: [REQUEST.options[0]!] }, answer: "policy" },
])("the harness asks about a tool of $from: $answer", async ({ change, answer }) => {
  const policy = allowingOwnTools(() => Promise.resolve({ action: "select", optionId: "policy", denied: true }));
  const { mcpServer, ...rest } = { ...REQUEST, ...change };
  const request = { ...rest, ...(mcpServer !== undefined && { mcpServer }) };
  expect(await policy(request, new AbortController().signal)).toMatchObject({ optionId: answer });
});
