/** The token of a run is in no file and on no screen, and the question about our own tools is answered here alone. */
import { expect, test } from "vitest";
import { redact } from "../../../src/errors/redact.ts";
import { scrubJson } from "../../../src/errors/scrub-json.ts";
import { newBearerToken } from "../../../src/host/agent-tools/bearer-token.ts";
import { allowingOwnTools } from "../../../src/host/agent-tools/own-server-policy.ts";
import type { PermissionRequest } from "../../../src/acp/types.ts";
import { StartedTools } from "./started-tools.ts";

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
