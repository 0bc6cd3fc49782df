import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { splitCommandLine } from "../../src/host/command-line.ts";
import { UsageError } from "../../src/host/usage-error.ts";
import { cpuMs } from "../cpu-time.ts";

const rows = [
  { from: "plain words", text: "npx my-agent --acp", words: ["npx", "my-agent", "--acp"] },
  { from: "space around and between", text: "  a \t b\n", words: ["a", "b"] },
  { from: "single quotes", text: `a 'b c' '\\n"'`, words: ["a", "b c", '\\n"'] },
  { from: "double quotes", text: `a "b c" "it's"`, words: ["a", "b c", "it's"] },
  {
    from: "escapes between double quotes",
    text: String.raw`a "b\"c" "d\\e" "f\g"`,
    words: ["a", 'b"c', "d\\e", "f\\g"],
  },
  { from: "an escaped space", text: String.raw`/opt/my\ agent x\'y`, words: ["/opt/my agent", "x'y"] },
  { from: "quotes inside a word", text: `--name='a b'"c d"e`, words: ["--name=a bc de"] },
  { from: "an empty argument", text: `a '' ""`, words: ["a", "", ""] },
  { from: "a continued line", text: "a b\\\nc", words: ["a", "bc"] },
  { from: "letters of other scripts", text: "agent 'größe 模型'", words: ["agent", "größe 模型"] },
];

test.each(rows)("$from", ({ text, words }) => {
  expect(splitCommandLine(text)).toEqual(words);
});

test.each(rows)("a real shell agrees about $from", ({ text, words }) => {
  const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${text.trim()}`], { encoding: "utf8" });
  expect(printed.split("\0").slice(0, -1)).toEqual(words);
});

test("nothing is expanded or run: that would need a shell", () => {
  expect(splitCommandLine("a $HOME *.ts | b > c; `d` && $(e)")).toEqual([
    "a",
    "$HOME",
    "*.ts",
    "|",
    "b",
    ">",
    "c;",
    "`d`",
    "&&",
    "$(e)",
  ]);
});

test.each([
  { from: "an open single quote", text: "a 'b c", says: "quote (') that is never closed" },
  { from: "an open double quote", text: 'a "b c', says: 'quote (") that is never closed' },
  { from: "a quote that opens last", text: `a b'`, says: "never closed" },
  { from: "a double quote closed only by an escape", text: String.raw`a "b\"`, says: "never closed" },
  { from: "a last backslash", text: "a b\\", says: "backslash" },
  { from: "nothing", text: "", says: "names no program" },
  { from: "only space", text: "  \n", says: "names no program" },
  { from: "an empty program", text: "'' --acp", says: "names no program" },
])("$from is a usage error", ({ text, says }) => {
  expect(() => splitCommandLine(text)).toThrow(UsageError);
  expect(() => splitCommandLine(text)).toThrow(says);
});

test("a long line with an open quote is refused at once", () => {
  const startedAt = cpuMs();
  expect(() => splitCommandLine(`a "${"\\x".repeat(50_000)}`)).toThrow("never closed");
  expect(cpuMs() - startedAt).toBeLessThan(1000);
});
