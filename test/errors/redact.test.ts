import { describe, expect, test } from "vitest";
import { cleanBlock, cleanLine, redact, redactKept } from "../../src/errors/redact.ts";
import { cpuMs } from "../cpu-time.ts";
import { SEQUENCES, TOKENS, fill } from "./secrets.ts";

test.each(Object.entries(TOKENS))("%s tokens are hidden wherever they stand", (_name, token) => {
  for (const text of [
    token,
    `in ${token} words`,
    `"${token}"`,
    `(${token})`,
    `https://h.example/${token}/x`,
    `a=${token};`,
    `x:${token},`,
  ]) {
    expect(redact(text)).not.toContain(token);
    expect(redact(text)).not.toContain(token.slice(-12));
    expect(redact(text)).toContain("[redacted]");
  }
});

test("a token behind an escaped line break, and a Telegram token behind its /bot", () => {
  expect(redact(`line\\n${TOKENS["github"]}`)).toBe("line\\n[redacted]");
  expect(redact(`line\\nMY_SERVICE_KEY=${fill(12)}`)).toBe("line\\nMY_SERVICE_KEY=[redacted]");
  expect(redact(`https://h.example/bot${TOKENS["telegram"]}/x`)).toBe("https://h.example/bot[redacted]/x");
});

const SECRET = `hunter2${fill(6)}`;

test.each([
  `password=${SECRET}`,
  `password: ${SECRET}`,
  `"password": "${SECRET}"`,
  `'password': '${SECRET}'`,
  `{"access_token":"${SECRET}"}`,
  `{\\"token\\":\\"${SECRET}\\"}`,
  `token=${SECRET}`,
  `token: ${SECRET}`,
  `OPENAI_API_KEY=${SECRET}`,
  `export DB_PASSWORD='${SECRET}'`,
  `MY_SERVICE_TOKEN=${SECRET}`,
  `AWS_SECRET_ACCESS_KEY = ${SECRET}`,
  `clientSecret: "${SECRET}"`,
  `githubToken: "${SECRET}"`,
  `api-key: ${SECRET}`,
  `x-api-key: ${SECRET}`,
  `API key: ${SECRET}`,
  `Authorization: Bearer ${SECRET}`,
  `authorization: ${SECRET}`,
  `"Authorization":"Basic ${SECRET}"`,
  `Bearer ${SECRET}`,
  `Proxy-Authorization: Basic ${SECRET}`,
  `Cookie: session=${SECRET}`,
  `https://h.example/x?api_key=${SECRET}&b=1`,
  `https://h.example/x?X-Amz-Signature=${SECRET}`,
  `https://h.example/cb?code=${SECRET}`,
  `postgres://user:${SECRET}@db.example/x`,
  `redis://:${SECRET}@db.example`,
  `DATABASE_URL=postgres://u:${SECRET}@h`,
  `https://hooks.slack.com/services/T0/B0/${SECRET}`,
  `https://discord.com/api/webhooks/123/${SECRET}`,
  `--api-key ${SECRET}`,
  `--token=${SECRET}`,
  `curl -u alice:${SECRET} https://h.example/x`,
  `curl --user "alice:${SECRET}"`,
  `wget --proxy-user=alice:${SECRET}`,
  `mysql -h db -u root -p${SECRET} shop`,
  `mysqldump --single-transaction -p${SECRET}`,
  `sshpass -p ${SECRET} ssh host`,
  `{"name":"MY_TOKEN","value":"${SECRET}"}`,
  `-----BEGIN OPENSSH PRIVATE KEY-----\n${SECRET}\n-----END OPENSSH PRIVATE KEY-----`,
  `-----BEGIN RSA PRIVATE KEY-----\n${SECRET}\nand it was cut here`,
])("%s", (text) => {
  expect(redact(text)).not.toContain(SECRET);
  expect(redact(text)).toContain("[redacted]");
  expect(redact(redact(text))).toBe(redact(text));
});

test("a password is hidden even when it is a plain word", () => {
  expect(redact("password=correcthorse")).toBe("password=[redacted]");
  expect(redact('"secret": "correcthorse"')).toBe('"secret": "[redacted]"');
  expect(redact("token=correcthorse rest")).toBe("token=[redacted] rest");
});

test.each([
  "docker run -u 1000:1000 image",
  "git push -u origin main",
  "npm test -p 3000",
  "sort -u names.txt",
  "mysql -h db -u root -P 3306 shop",
  "mkdir -p a/b",
])("%s holds no password", (text) => {
  expect(redact(text)).toBe(text);
});

test("what stands around a secret stays", () => {
  expect(redact(`GET https://user:${SECRET}@h.example/path failed`)).toBe(
    "GET https://[redacted]@h.example/path failed",
  );
  expect(redact(`before -----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY----- after`)).toBe(
    "before [redacted] after",
  );
  expect(redact(`panic: boom token=${TOKENS["case C10"]}`)).toBe("panic: boom token=[redacted]");
  expect(redact(`x?token=${SECRET}&page=2`)).toBe("x?token=[redacted]&page=2");
});

test.each([
  ["/home/alice/work/a.ts", "~/work/a.ts"],
  ["/home/alice", "~"],
  ["at (/Users/bob/x.js:1:2)", "at (~/x.js:1:2)"],
  ["/var/home/carol/x", "~/x"],
  ["file:///home/alice/x", "file://~/x"],
  ["-I/home/alice/include", "-I~/include"],
  ["/root/.config/x", "~/.config/x"],
  ["/root", "~"],
  ["C:\\Users\\Dave\\AppData", "~\\AppData"],
  ["C:\\\\Users\\\\Dave\\\\AppData", "~\\\\AppData"],
  ["C:\\Users\\Dave Smith\\AppData", "~\\AppData"],
  ["C:/Users/Dave/AppData", "~/AppData"],
  ["/mnt/c/Users/Dave/x", "~/x"],
])("path %s", (text, expected) => {
  expect(redact(text)).toBe(expected);
});

test.each([
  "token limit",
  "max_tokens: 5",
  "max_tokens=4096",
  "total_tokens: 123456",
  "API key not found",
  "Invalid API key · Fix external API key",
  "Missing environment variable: `OPENAI_API_KEY`.",
  "CODEX_API_KEY or OPENAI_API_KEY is not set",
  "set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable",
  "The bearer token included in the request is invalid",
  "bearer authentication is not supported",
  "Basic understanding of programming",
  "Unexpected token: identifier",
  "token: expired",
  "password: required",
  "API key: missing",
  "authorization: required",
  "WWW-Authenticate: Bearer realm=api",
  "This request would exceed your account's rate limit. Please try again later.",
  "unexpected status 403 Forbidden: no, url: http://127.0.0.1:4010/v1/responses, request id: req_fake",
  "https://example.com/home/page",
  "https://github.com/acme/key-value",
  "risk-assessment-for-everybody-in-the-company",
  "commit 0c4ad56cf99b60fd0c4ad56cf99b60fd0c4ad56c",
  "session 019900aa-0000-7000-8000-000000000000 not found",
  "2026-11-30T03:21:05.277717Z",
  "/workspace/src/root/home.ts",
  "/tmp/ostler/home/adapters/node_modules/.bin",
  "the key: value pairs of the file",
  "open /etc/passwd: permission denied",
  "Cannot work in /etc/passwd: there is no such folder",
  "monkey: banana2banana2banana2banana2",
  "author: somebody",
])("ordinary words stay: %s", (text) => {
  expect(redact(text)).toBe(text);
});

describe("clean text", () => {
  test("one line: no colours, no control or direction characters, single spaces", () => {
    expect(cleanLine("\u001B[31mred\u001B[0m\r\n  and\tblue\u0007\u202E \u001B]0;title\u0007end ", 100)).toBe(
      "red and blue end",
    );
  });

  test("a colour code cannot hide a secret", () => {
    expect(cleanLine(`token sk-ant-\u001B[1m${fill(20)}`, 100)).toBe("token [redacted]");
  });

  test.each([
    ["soft hyphen", "\u00AD"],
    ["Arabic letter mark", "\u061C"],
    ["vowel separator", "\u180E"],
    ["zero width space", "\u200B"],
    ["override", "\u202E"],
    ["word joiner", "\u2060"],
    ["invisible separator", "\u2063"],
    ["isolate", "\u2066"],
    ["byte order mark", "\uFEFF"],
    ["annotation", "\uFFF9"],
    ["tag letter", "\u{E0041}"],
    ["next line", "\u0085"],
    ["C1 control sequence", "\u009B"],
  ])("an unseen character cannot hide a secret: %s", (_, unseen) => {
    expect(cleanLine(`token sk-ant-${unseen}${fill(20)} end`, 100)).toBe("token [redacted] end");
    expect(cleanBlock(`token sk-ant-${unseen}${fill(20)} end`, 100, "end")).toBe("token [redacted] end");
  });

  test("of megabytes only what may be shown is scrubbed, and no cut leaves half of a secret", () => {
    const secret = `sk-ant-${fill(40)}`;
    const words = `${secret} `.repeat((8 * 1024 * 1024) / secret.length);
    const startedAt = cpuMs();
    const shown = [cleanLine(words, 2000), cleanBlock(words, 2000), cleanBlock(words, 2000, "end")];
    expect(cpuMs() - startedAt).toBeLessThan(2000);
    for (const text of shown) expect(text).toMatch(/^[[\]a-z\s…]+$/);
    for (let blanks = 0; blanks < 64; blanks += 1) {
      const line = `${" ".repeat(64 * 1024 - blanks)}${secret}${secret}`;
      expect(cleanLine(line, 500)).not.toContain("sk-");
      expect(cleanBlock(line, 500)).not.toContain("sk-");
    }
  });

  test("scrubs before it cuts, so that no half of a secret is left", () => {
    const text = `${"x".repeat(90)} sk-ant-${fill(40)}`;
    expect(cleanLine(text, 96)).toBe(`${"x".repeat(90)} [red…`);
    expect(cleanBlock(text, 96)).toBe(`${"x".repeat(90)} [red…`);
  });

  test("never longer than asked, never half a character", () => {
    const emoji = "😀".repeat(50);
    for (const maxChars of [1, 2, 3, 10, 11]) {
      const line = cleanLine(emoji, maxChars);
      expect(line.length).toBeLessThanOrEqual(maxChars);
      expect(line.isWellFormed()).toBe(true);
      expect(cleanBlock(emoji, maxChars, "end").length).toBeLessThanOrEqual(maxChars);
      expect(cleanBlock(emoji, maxChars, "end").isWellFormed()).toBe(true);
    }
    expect(cleanLine("short", 5)).toBe("short");
  });

  test("a block keeps its lines, and the end of it when that is asked for", () => {
    expect(cleanBlock("one\r\n\ttwo\u001B[0m\n", 100)).toBe("one\n\ttwo");
    expect(cleanBlock("one two three", 6)).toBe("one t…");
    expect(cleanBlock("one two three", 6, "end")).toBe("…three");
  });
});

test("a secret behind a name that looks like one as well is hidden once", () => {
  const scrubbed = redact(`cannot read /etc/secret: token=sk-ant-${fill(40)}, giving up`);
  expect(scrubbed).toBe("cannot read /etc/secret: token=[redacted], giving up");
  expect(redact(scrubbed)).toBe(scrubbed);
});

const SEQUENCE_ROWS = Object.entries(SEQUENCES);

describe.each(SEQUENCE_ROWS)("%s", (_, sequence) => {
  const secret = `sk-ant-api03-${fill(40)}`;
  test.each([
    ["before a secret", `a ${sequence}${secret} b`, "a [redacted] b"],
    ["behind a secret", `a ${secret}${sequence} b`, "a [redacted] b"],
    ["between a word and a secret", `word${sequence}${secret} b`, "word [redacted] b"],
    ["in the middle of a secret", `a sk-${sequence}ant-${fill(5)}${sequence}${fill(40)} b`, "a [redacted] b"],
    ["before a named secret", `a ${sequence}password=${SECRET} b`, "a password=[redacted] b"],
    ["between a word and a token", `word${sequence}token=${SECRET} b`, "word token=[redacted] b"],
    ["between a name and its secret", `password=${sequence}${SECRET} b`, "password=[redacted] b"],
    ["without a secret", `on${sequence}e two`, "one two"],
  ])("%s", (_where, text, expected) => {
    expect(cleanLine(text, 200)).toBe(expected);
    expect(cleanBlock(text, 200, "end")).toBe(expected);
    expect(redactKept(text)).toBe(expected === "one two" ? text : expected);
  });
});

test.each([
  ["CSI", "\u001B["],
  ["CSI, in its parameters", "\u001B[31"],
  ["CSI as one character", "\u009B1;"],
  ["nF", "\u001B("],
  ["ESC", "\u001B"],
  ["OSC", "\u001B]"],
  ["DCS", "\u001BP"],
  ["OSC as one character", "\u009D"],
])("a sequence that was cut takes no letter of a secret with it: %s", (_, sequence) => {
  for (const secret of [`sk-ant-${fill(40)}`, `AKIA${fill(16, "ABC2")}`])
    expect(cleanLine(`a ${sequence}${secret} b`, 200)).toBe("a [redacted] b");
  expect(cleanLine(`a ${sequence}password=${SECRET} b`, 200)).toBe("a password=[redacted] b");
});

test.each([
  String.raw`"\u001b[31m`,
  String.raw`'\x1b[01;31m\x1b[K`,
  String.raw`\033(B`,
  String.raw`\\u001b[0m`,
  String.raw`\e[1m`,
  String.raw`\u0000`,
])("a secret behind a control that is only written: %s", (written) => {
  expect(redact(`a ${written}sk-ant-${fill(40)} b`)).toBe(`a ${written}[redacted] b`);
});

test("words without a secret keep their escapes, and others lose them", () => {
  expect(redactKept("\u001B[31mred\u001B(B\r\n")).toBe("\u001B[31mred\u001B(B\r\n");
  expect(redactKept("\u001B[31mred\u001B[m /home/alice/x")).toBe("red ~/x");
});
