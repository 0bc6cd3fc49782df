import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTrace, scrubEntry } from "../../src/host/trace.ts";

const folder = mkdtempSync(join(tmpdir(), "ostler-trace-"));
const KEY = "sk-ant-api03-abcdefghijklmnop";
const out = (frame: unknown) => scrubEntry({ dir: "out", frame }, 7);

test.each([
  { from: "a prompt", frame: { params: { prompt: [{ type: "text", text: `use ${KEY} now` }] } } },
  { from: "a title", frame: { params: { update: { title: `curl -H "x-api-key: ${KEY}"` } } } },
  { from: "raw input, deep", frame: { params: { update: { rawInput: { steps: [{ command: `K=${KEY} make` }] } } } } },
  { from: "an env map", frame: { env: { HARMLESS: KEY } } },
  { from: "a name", frame: { [KEY]: 1 } },
  { from: "a coloured text (ls --color)", frame: { content: `is \u001B[31m${KEY}\u001B[0m` } },
  { from: "a match of grep --color", frame: { content: `is\u001B[01;31m\u001B[K${KEY}\u001B[m\u001B[K` } },
  { from: "a match of grep --color in JSON in a text", frame: { content: `{"line":"\\u001b[01;31m\\u001b[K${KEY}"}` } },
  { from: "a text that tput sgr0 ends", frame: { content: `is\u001B(B\u001B[m${KEY}` } },
  { from: "a match inside of a secret", frame: { content: `sk-\u001B[31mant\u001B[0m-abcdefghijklmnop` } },
  { from: "a coloured name", frame: { [`a\u001B[31m${KEY}`]: 1 } },
  { from: "a value with a coloured name", frame: { "\u001B[31mpassword": "abcdefghijklmnop" } },
  { from: "an environment with a coloured name", frame: { "env\u001B[0m": { CITY: "abcdefghijklmnop" } } },
])("a secret does not stand in the trace: $from", ({ frame }) => {
  const text = JSON.stringify(out(frame));
  expect(text).toContain("[redacted]");
  expect(text).not.toContain("abcdefghijklmnop");
});

test.each([
  {
    from: "env as a map",
    frame: { env: { CITY: "Ulm", PORT: 80 } },
    becomes: { env: { CITY: "[redacted]", PORT: "[redacted]" } },
  },
  {
    from: "env of an MCP server in ACP's form",
    frame: { mcpServers: [{ name: "db", command: "db", args: [], env: [{ name: "CITY", value: "Ulm" }] }] },
    becomes: { mcpServers: [{ name: "db", command: "db", args: [], env: [{ name: "CITY", value: "[redacted]" }] }] },
  },
  {
    from: "headers",
    frame: { headers: [{ name: "X-City", value: "Ulm" }] },
    becomes: { headers: [{ name: "X-City", value: "[redacted]" }] },
  },
  {
    from: "a list of pairs under any name",
    frame: { variables: [{ value: "Ulm", name: "CITY" }] },
    becomes: { variables: [{ value: "[redacted]", name: "CITY" }] },
  },
  {
    from: "the choices of a setting, which are no secret (recordings, session/new)",
    frame: { id: "effort", options: [{ value: "medium", name: "Medium" }] },
    becomes: { id: "effort", options: [{ value: "medium", name: "Medium" }] },
  },
  { from: "a secret by its name alone", frame: { password: "horse staple" }, becomes: { password: "[redacted]" } },
  {
    from: "colours without a secret, which are played again",
    frame: { text: "\u001B[31mred\u001B(B\u001B[m\r\n" },
    becomes: { text: "\u001B[31mred\u001B(B\u001B[m\r\n" },
  },
  {
    from: "colours around a secret",
    frame: { text: `\u001B[31mred\u001B[m ${KEY}` },
    becomes: { text: "red [redacted]" },
  },
  { from: "a private path", frame: { cwd: "/home/anna/app" }, becomes: { cwd: "~/app" } },
  {
    from: "what is no secret",
    frame: { id: 3, result: { stopReason: "end_turn", ok: true, none: null } },
    becomes: { id: 3, result: { stopReason: "end_turn", ok: true, none: null } },
  },
])("$from", ({ frame, becomes }) => {
  expect(out(frame)).toEqual({ dir: "out", ms: 7, frame: becomes });
});

test("stderr and the exit have the format of the recordings", () => {
  expect(scrubEntry({ dir: "stderr", line: `key ${KEY}` }, 1)).toEqual({
    dir: "stderr",
    ms: 1,
    line: "key [redacted]",
  });
  expect(scrubEntry({ dir: "stderr", line: `\u001B[2mkey\u001B[0m \u001B[31m${KEY}` }, 1)).toMatchObject({
    line: "key [redacted]",
  });
  expect(scrubEntry({ dir: "exit", code: null, signal: "SIGKILL" }, 2)).toEqual({
    dir: "exit",
    ms: 2,
    code: null,
    signal: "SIGKILL",
  });
});

test("a frame too deep to be walked is hidden below a bound", () => {
  let frame: unknown = KEY;
  for (let depth = 0; depth < 5000; depth++) frame = [frame];
  expect(JSON.stringify(out(frame))).not.toContain("abcdefghijklmnop");
});

test("the file is the owner's alone, also when it was there before", () => {
  const file = join(folder, "open.jsonl");
  writeFileSync(file, "old");
  chmodSync(file, 0o644);
  using trace = openTrace(file, () => {});
  trace.tap({ dir: "stderr", line: "hi" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ dir: "stderr", line: "hi" });
});

test.each([
  {
    from: "no such folder",
    file: join(folder, "none", "t.jsonl"),
    sentence: /^Cannot write the trace to .*\(ENOENT\)$/,
  },
  { from: "a folder", file: folder, sentence: /it is not a plain file$/ },
  { from: "a device", file: "/dev/full", sentence: /it is not a plain file$/ },
])("one sentence: $from", ({ file, sentence }) => {
  expect(() => openTrace(file, () => {})).toThrow(sentence);
});

test("after its end it takes nothing more", () => {
  mkdirSync(join(folder, "sub"));
  const file = join(folder, "sub", "closed.jsonl");
  const trace = openTrace(file, () => {});
  trace[Symbol.dispose]();
  trace.tap({ dir: "stderr", line: "late" });
  expect(existsSync(file) && readFileSync(file, "utf8")).toBe("");
});
