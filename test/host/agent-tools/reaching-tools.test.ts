/** Who reaches the tools of a run, and who does not: over HTTP, over the socket, and through `ostler mcp`. */
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { isObject } from "../../../src/acp/frames.ts";
import { HTTP_HEADERS, httpClient, stdioClient } from "./mcp-client.ts";
import { StartedTools } from "./started-tools.ts";
import type { HttpServer, StdioServer } from "./started-tools.ts";

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** The status that a request gets; `fetch` would not let a test name the host. */
async function statusOf(
  { url, headers }: HttpServer,
  more: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly path?: string;
    readonly body?: string;
    readonly method?: string;
  },
): Promise<number | undefined> {
  const own = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
  const { port } = new URL(url);
  const sent = request({
    host: "127.0.0.1",
    port,
    path: more.path ?? "/mcp",
    method: more.method ?? "POST",
    headers: { ...HTTP_HEADERS, ...own, ...more.headers },
  });
  sent.on("error", () => {});
  sent.end(more.body ?? PING);
  const [response] = await once(sent, "response");
  response.resume();
  return response.statusCode;
}

describe("over HTTP", () => {
  test.each([
    { from: "no token", headers: { Authorization: "" }, status: 401 },
    {
      from: "a token that is not this run's",
      headers: { Authorization: `Bearer ostler_mcp_${"x".repeat(43)}` },
      status: 401,
    },
    { from: "the token in another scheme", headers: { Authorization: "Basic b3N0bGVy" }, status: 401 },
    { from: "a page in a browser", headers: { Origin: "http://127.0.0.1" }, status: 403 },
    { from: "a page in a sandbox", headers: { Origin: "null" }, status: 403 },
    { from: "a name that was made to point here", headers: { Host: "evil.example" }, status: 403 },
    { from: "another path", path: "/", status: 404 },
    { from: "a session that there is not", headers: { "mcp-session-id": "0" }, status: 404 },
    { from: "no JSON", body: "{", status: 400 },
    { from: "a body of 1 MiB and more", body: `"${"x".repeat(1024 * 1024)}"`, status: 413 },
    { from: "a call before the handshake", body: PING, status: 400 },
    { from: "a method that there is not", method: "PUT", status: 405 },
  ])("$from: $status", async ({ status, ...more }) => {
    const server = await (await StartedTools.start()).http();
    expect(await statusOf(server, more)).toBe(status);
  });

  test("the server listens on this machine alone, on a port of its own", async () => {
    const [one, other] = await Promise.all([StartedTools.start(), StartedTools.start()]);
    const urls = [(await one.http()).url, (await other.http()).url];
    expect(urls).toEqual(urls.map(() => expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)));
    expect(new Set(urls).size).toBe(2);
  });

  test("the token of one run is none for another", async () => {
    const [one, other] = await Promise.all([StartedTools.start(), StartedTools.start()]);
    const { headers } = await other.http();
    expect(await statusOf({ ...(await one.http()), headers }, {})).toBe(401);
  });

  test("several connections of one agent do not disturb each other", async () => {
    const started = await StartedTools.start();
    const clients = [await started.connect(), await started.connect()];
    const answers = await Promise.all(clients.map((client, index) => client.call("run", { command: `echo ${index}` })));
    expect(answers.map(({ text: said }) => said.split("\n")[0])).toEqual(["0", "1"]);
  });

  test("of many connections the oldest is forgotten", async () => {
    const started = await StartedTools.start();
    const first = await started.connect();
    for (let count = 0; count < 32; count += 1) await started.connect();
    expect(await first.request("ping", {})).toBe(404);
  });

  test("after the end nobody listens", async () => {
    const started = await StartedTools.start();
    const { url, headers } = await started.http();
    await started.tools.close();
    const client = httpClient(url, Object.fromEntries(headers.map(({ name, value }) => [name, value])));
    await expect(client.open()).rejects.toThrow("fetch failed");
  });
});

test.each([
  { from: "no proxy", env: {}, way: "HTTP" },
  { from: "a proxy for everything", env: { HTTP_PROXY: "http://proxy:1" }, way: "stdio" },
  { from: "in small letters", env: { all_proxy: "socks5://proxy:1" }, way: "stdio" },
  { from: "a proxy for TLS alone", env: { HTTPS_PROXY: "http://proxy:1" }, way: "HTTP" },
  {
    from: "this machine excepted",
    env: { HTTP_PROXY: "http://proxy:1", NO_PROXY: "localhost, 127.0.0.1" },
    way: "HTTP",
  },
  {
    from: "another machine excepted",
    env: { HTTP_PROXY: "http://proxy:1", no_proxy: "10.127.0.0.1" },
    way: "stdio",
  },
])("how an agent is to reach them, $from", async ({ env, way }) => {
  const { tools } = await StartedTools.start({ env });
  const [server] = await tools.mcpServers({ mcpHttp: true });
  expect(isObject(server) && "command" in server ? "stdio" : "HTTP").toBe(way);
});

const socketOf = ({ args }: StdioServer): string => args.at(-1) ?? "";

describe("over the socket", () => {
  test("it is a socket of this user alone, and goes with the run", async () => {
    const started = await StartedTools.start();
    const path = socketOf(await started.stdio());
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await started.tools.close();
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    { from: "another token", line: "ostler_mcp_other\n" },
    { from: "no token, and at once a request", line: `${PING}\n` },
    { from: "a line without an end", line: "x".repeat(300) },
  ])("hung up on: $from", async ({ line }) => {
    const started = await StartedTools.start();
    const socket = connect(socketOf(await started.stdio()));
    socket.on("error", () => {});
    socket.write(line);
    expect(await text(socket)).toBe("");
  });

  test("what an Ostler left that was killed is removed", async () => {
    const started = await StartedTools.start();
    const path = socketOf(await started.stdio());
    const left = join(path, "..", "1-0-abcd.sock");
    writeFileSync(left, "");
    const next = await StartedTools.start({ paths: started.home.paths });
    const other = socketOf(await next.stdio());
    expect(readdirSync(join(path, "..")).map((name) => join(path, "..", name))).toEqual([path, other].toSorted());
  });
});

/** Starts it inside the confinement, with its token in the environment. */
async function startPipe(started: StartedTools): Promise<ChildProcessWithoutNullStreams> {
  const server = await started.stdio();
  const { file, args } = (await started.home.confine())({ file: server.command, args: server.args });
  const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
  const child = spawn(file, args, { cwd: started.home.work, env: { PATH: process.env["PATH"], ...env } });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

describe("through ostler mcp, as an agent starts it", () => {
  test("its calls are answered, from inside the confinement and a deep folder, until the run is over", async () => {
    const { home } = await StartedTools.start();
    const deep = join(home.ostler, "state", "d".repeat(120));
    mkdirSync(deep);
    const started = await StartedTools.start({ paths: { ...home.paths, state: deep } });
    // The address of a socket holds less.
    expect(Buffer.byteLength(socketOf(await started.stdio()))).toBeGreaterThan(108);
    const child = await startPipe(started);
    const client = await stdioClient(child).open();
    expect(await client.call("run", { command: "exit 4" })).toMatchObject({ structured: { exitCode: 4 } });
    await started.tools.close();
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("neither its arguments nor the name of the socket hold the token", async () => {
    const { args, command, env } = await (await StartedTools.start()).stdio();
    expect(env).toEqual([{ name: "OSTLER_MCP_TOKEN", value: expect.stringMatching(/^ostler_mcp_[\w-]{43}$/) }]);
    expect([command, ...args].join(" ")).not.toContain("ostler_mcp_");
  });

  test.each([
    {
      from: "a person types it",
      change: { env: [] },
      code: 2,
      says: "ostler: ostler mcp is started by agents alone, with the socket and the token of their run\n",
    },
    {
      from: "the run is over",
      change: {},
      isOver: true,
      code: 2,
      says: "ostler: The tools cannot be reached: the run that they belong to is over\n",
    },
  ])("$from: one sentence", async ({ change, isOver, code, says }) => {
    const started = await StartedTools.start();
    const server = await started.stdio();
    if (isOver === true) await started.tools.close();
    const env = Object.fromEntries(("env" in change ? [] : server.env).map(({ name, value }) => [name, value]));
    const child = spawn(server.command, ["--no-warnings", ...server.args], {
      env: { PATH: process.env["PATH"], ...env },
    });
    const [said, [exitCode]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect({ said, exitCode }).toEqual({ said: says, exitCode: code });
  });
});
