/** What `-f`, `--attach` and `--mcp` make of files, good and bad. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAttachments } from "../../../src/surfaces/cli/attachments.ts";
import { readMcpServers } from "../../../src/surfaces/cli/mcp-file.ts";
import { readPrompt } from "../../../src/surfaces/cli/prompt.ts";
import type { Input } from "../../../src/surfaces/cli/io.ts";
import { Readable } from "node:stream";
import { newFolder } from "./run-main.ts";

function fileWith(content: string | Buffer, name = "file"): { folder: string; name: string } {
  const folder = newFolder();
  writeFileSync(join(folder, name), content);
  return { folder, name };
}

test.each([
  { from: "PNG", hex: "89504e470d0a1a0a", mimeType: "image/png" },
  { from: "JPEG", hex: "ffd8ffe000104a46", mimeType: "image/jpeg" },
  { from: "GIF", hex: "474946383961", mimeType: "image/gif" },
  { from: "WebP", hex: "524946460000000057454250", mimeType: "image/webp" },
])("a $from is an image whatever its name", async ({ hex, mimeType }) => {
  const { folder, name } = fileWith(Buffer.from(hex, "hex"), "picture.txt");
  expect(await readAttachments([name], folder)).toEqual([
    { type: "image", mimeType, data: Buffer.from(hex, "hex").toString("base64") },
  ]);
});

test.each([
  { name: "a.ts", mimeType: "text/plain" },
  { name: "a.JSON", mimeType: "application/json" },
  { name: "Makefile", mimeType: "text/plain" },
  { name: "a.constructor", mimeType: "text/plain" },
])("$name is attached as $mimeType", async ({ name, mimeType }) => {
  const { folder } = fileWith("täxt", name);
  expect(await readAttachments([name], folder)).toEqual([
    { type: "resource", resource: { uri: `file://${folder}/${name}`, text: "täxt", mimeType } },
  ]);
});

test.each([
  {
    from: "binary",
    content: Buffer.from([1, 0, 2]),
    why: "it is neither an image (PNG, JPEG, GIF, WebP) nor text in UTF-8",
  },
  {
    from: "Latin-1",
    content: Buffer.from([0xe4, 0x41]),
    why: "it is neither an image (PNG, JPEG, GIF, WebP) nor text in UTF-8",
  },
  { from: "too much text", content: "x".repeat(4 * 1024 * 1024 + 1), why: "a text may have at most 4 MiB" },
  {
    from: "too large an image",
    content: Buffer.concat([Buffer.from("ffd8ff", "hex"), Buffer.alloc(5 * 1024 * 1024)]),
    why: "it has more than 5 MiB",
  },
])("$from is not attached", async ({ content, why }) => {
  const { folder, name } = fileWith(content);
  await expect(readAttachments([name], folder)).rejects.toThrow(`Cannot attach file: ${why}`);
});

test("a folder is not attached", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "sub"));
  await expect(readAttachments(["sub"], folder)).rejects.toThrow("Cannot attach sub: it is a folder");
});

const stdio = { name: "fs", command: "mcp-fs", args: ["-v"], env: [{ name: "A", value: "1" }] };
test.each([
  {
    from: "a map, as editors keep it",
    json: { mcpServers: { fs: { command: "mcp-fs", args: ["-v"], env: { A: "1" } } } },
    servers: [stdio],
  },
  {
    from: "a map named servers",
    json: { servers: { fs: { command: "mcp-fs", args: ["-v"], env: { A: "1" } } } },
    servers: [stdio],
  },
  { from: "a bare map", json: { fs: { command: "mcp-fs", args: ["-v"], env: { A: "1" } } }, servers: [stdio] },
  { from: "the form of ACP", json: [stdio], servers: [stdio] },
  {
    from: "a server without arguments",
    json: { fs: { command: "x" } },
    servers: [{ name: "fs", command: "x", args: [], env: [] }],
  },
  {
    from: "an HTTP server",
    json: { web: { url: "http://127.0.0.1/mcp", headers: { K: "v" } } },
    servers: [{ type: "http", name: "web", url: "http://127.0.0.1/mcp", headers: [{ name: "K", value: "v" }] }],
  },
  {
    from: "an SSE server",
    json: { web: { type: "sse", url: "http://127.0.0.1/sse" } },
    servers: [{ type: "sse", name: "web", url: "http://127.0.0.1/sse", headers: [] }],
  },
])("$from", async ({ json, servers }) => {
  const { folder, name } = fileWith(JSON.stringify(json));
  expect(await readMcpServers([name], folder)).toEqual(servers);
});

test.each([
  { from: "no JSON", text: "{", why: "it is not valid JSON" },
  { from: "a number", text: "7", why: "it holds neither a list of servers nor a map named mcpServers" },
  { from: "a list of a text", text: '["x"]', why: "server 1 has no name" },
  { from: "a server that is a text", text: '{"a":"x"}', why: "a is not an object" },
  { from: "a server that says nothing", text: '{"a":{}}', why: "a has neither a command nor a url" },
  {
    from: "arguments that are one text",
    text: '{"a":{"command":"x","args":"-v"}}',
    why: "args of a is not a list of texts",
  },
  {
    from: "a number in the environment",
    text: '{"a":{"command":"x","env":{"N":1}}}',
    why: "env of a is not a map of texts",
  },
  {
    from: "headers that are a text",
    text: '{"a":{"url":"http://x","headers":"k"}}',
    why: "headers of a is not a map of texts",
  },
])("$from is one sentence", async ({ text, why }) => {
  const { folder, name } = fileWith(text);
  await expect(readMcpServers([name], folder)).rejects.toThrow(`Cannot use the MCP servers of file: ${why}`);
});

test("the same server twice is said", async () => {
  const { folder, name } = fileWith('{"a":{"command":"x"}}');
  await expect(readMcpServers([name, name], folder)).rejects.toThrow("The MCP server a is given twice");
});

const stdinOf = (text: string | Buffer, kind: Input["kind"] = "pipe"): Input => ({
  kind,
  shared: false,
  open: () => Readable.from([Buffer.from(text)]),
});
const forbidden: Input = {
  kind: "pipe",
  shared: false,
  open: () => {
    throw new Error("stdin was touched");
  },
};

test.each([
  { from: "words", words: ["say", " hi "], file: undefined, stdin: forbidden, prompt: "say  hi" },
  { from: "a pipe", words: [], file: undefined, stdin: stdinOf("a\nb\n\n"), prompt: "a\nb" },
  { from: "a file as stdin", words: [], file: undefined, stdin: stdinOf("a", "other"), prompt: "a" },
  { from: "words and a pipe", words: ["review"], file: "-", stdin: stdinOf("diff\n"), prompt: "review\n\ndiff" },
  { from: "words and an empty pipe", words: ["review"], file: "-", stdin: stdinOf(""), prompt: "review" },
  { from: "a byte order mark", words: [], file: undefined, stdin: stdinOf("\uFEFFa"), prompt: "a" },
  {
    from: "leading blanks of a text stay",
    words: [],
    file: undefined,
    stdin: stdinOf("    code\n"),
    prompt: "    code",
  },
])("prompt from $from", async ({ words, file, stdin, prompt }) => {
  expect(await readPrompt({ words, file }, { stdin, cwd: "/" }, new AbortController().signal)).toBe(prompt);
});

test.each([
  {
    from: "a terminal",
    stdin: { ...forbidden, kind: "terminal" as const },
    sentence: 'Nothing to ask: no prompt is given; write: ostler ask "your question"',
  },
  {
    from: "blanks",
    stdin: stdinOf(" \n\t\n"),
    sentence: 'Nothing to ask: no prompt is given and stdin is empty; write: ostler ask "your question"',
  },
  {
    from: "more than fits",
    stdin: stdinOf("x".repeat(10 * 1024 * 1024 + 1)),
    sentence: "The text from stdin is longer than 10 MiB",
  },
])("no prompt from $from", async ({ stdin, sentence }) => {
  await expect(
    readPrompt({ words: [], file: undefined }, { stdin, cwd: "/" }, new AbortController().signal),
  ).rejects.toThrow(sentence);
});
