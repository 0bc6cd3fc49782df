import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UsageError } from "../../../src/host/usage-error.ts";
import { VERSION } from "../../../src/acp/version.ts";
import { describeCauses, failureFor, sentenceOf } from "../../../src/surfaces/cli/boundary.ts";
import { COMMANDS, COMMAND_NAMES } from "../../../src/surfaces/cli/commands.ts";
import { newFolder, run } from "./run-main.ts";

test.each(COMMAND_NAMES)("help of %s names every option, with examples", async (command) => {
  const { exitCode, stdout, stderr } = await run([command, "--help"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  for (const name of Object.keys(COMMANDS[command])) expect(stdout).toContain(`--${name}`);
  expect(stdout).toContain("Examples:");
});

test("the documentation shows the help of ask as it is", async () => {
  const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8");
  expect(page).toContain(`\`\`\`text\n${(await run(["ask", "--help"])).stdout}\`\`\``);
});

test.each([[], ["--help"], ["-h"], ["help"]])("ostler %s lists the commands", async (...argv) => {
  const { exitCode, stdout } = await run(argv);
  expect(exitCode).toBe(0);
  for (const command of COMMAND_NAMES) expect(stdout).toContain(`ostler ${command}`);
});

test.each([["--version"], ["-V"], ["ask", "--version"]])("ostler %s %s prints the version", async (...argv) => {
  expect((await run(argv)).stdout).toBe(`ostler ${VERSION}\n`);
});

test.each([
  { argv: ["aks", "hi"], sentence: 'ostler: Unknown command "aks"; did you mean ostler ask?' },
  {
    argv: ["what is this?"],
    sentence: 'ostler: Unknown command "what is this?"; to ask an agent, write: ostler ask "what is this?"',
  },
  {
    argv: ["--json", "ask"],
    sentence: "ostler: Unknown option --json before a command; options stand after it: ostler ask --json",
  },
  { argv: ["toString"], sentence: 'ostler: Unknown command "toString"; to ask an agent, write: ostler ask "toString"' },
  {
    argv: ["backends", "instal", "codex"],
    sentence: 'ostler: Cannot make sense of "backends instal codex"; did you mean ostler backends install codex?',
  },
  {
    argv: ["sessions", "lst"],
    sentence: 'ostler: Cannot make sense of "sessions lst"; did you mean ostler sessions list?',
  },
  {
    argv: ["sessions", "show"],
    sentence:
      'ostler: Cannot make sense of "sessions show"; write: ostler sessions, or ostler sessions show, fork or close with a NAME',
  },
  {
    argv: ["backends", "resume"],
    sentence:
      'ostler: Cannot make sense of "backends resume"; write: ostler backends, ostler backends install codex|claude, or ostler backends resume NAME',
  },
  { argv: ["backends", "resume", "dmeo"], sentence: 'ostler: No backend is called "dmeo" (did you mean "demo"?)' },
  {
    argv: ["backends", "resume", "nope"],
    sentence: 'ostler: No backend is called "nope" (there are claude, codex, kiro, demo)',
  },
  {
    argv: ["backends", "install", "codx"],
    sentence: 'ostler: Ostler cannot install "codx"; did you mean "codex"?',
  },
  {
    argv: ["backends", "install", "kiro"],
    sentence:
      'ostler: Ostler cannot install "kiro"; write: ostler backends, ostler backends install codex|claude, or ostler backends resume NAME',
  },
  {
    argv: ["doctor", "codex"],
    sentence: "ostler: ostler doctor takes no words, only options; to look at one agent: ostler doctor -b codex",
  },
  { argv: ["doctor", "-b", "cdex"], sentence: 'ostler: No backend is called "cdex" (did you mean "codex"?)' },
  {
    argv: ["completion", "fish"],
    sentence: "ostler: Say for which shell: ostler completion bash, or ostler completion zsh",
  },
])("$argv is refused", async ({ argv, sentence }) => {
  const { exitCode, stdout, stderr } = await run(argv);
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 2, stdout: "", stderr: `${sentence}\n` });
});

test("doctor tells about one agent, for people and for programs", async () => {
  const people = await run(["doctor", "-b", "demo", "--smoke"]);
  expect(people.exitCode).toBe(0);
  expect(people.stdout).toContain("\nDemo (demo)\n");
  expect(people.stdout).toContain("\n  ✓ starts and opens a session\n");
  const programs = await run(["doctor", "-b", "demo", "--json"]);
  expect(JSON.parse(programs.stdout)).toMatchObject({ ok: true, backends: [{ backend: "demo", status: "found" }] });
});

test("backends lists what is there and how to get the rest", async () => {
  const { exitCode, stdout } = await run(["backends"], { env: { PATH: "/nowhere" } });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^codex +not found; to install it: ostler backends install codex$/m);
  expect(stdout).toMatch(/^demo +\S/m);
});

/** What bash offers after the words of a command line. */
async function offered(line: string): Promise<string[]> {
  const { stdout, folder } = await run(["completion", "bash"]);
  const words = line.split(" ");
  const script = `${stdout}\ncd "${folder}"; touch note.md; mkdir -p sub; COMP_WORDS=(${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length - 1}; _ostler; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const file = join(newFolder(), "script.sh");
  writeFileSync(file, script);
  return execFileSync("bash", [file], { encoding: "utf8" }).split("\n").filter(Boolean);
}

/** Whatever is said about an argument, a secret in it is not, and neither is half of one. */
const KEY = `AKIA${"ABC2".repeat(4)}`;
test.each(["", "\u001B[31m", "\u001B(B", `${"x".repeat(30)} `, "word\u001B[01;31m\u001B[K"])(
  "no sentence repeats a secret of the command line: %j before it",
  async (before) => {
    const value = `${before}${KEY}`;
    for (const argv of [
      [value],
      [`--${value}`],
      ["ask", "-b", value, "hi"],
      ["ask", `-b${value}`, "hi"],
      ["ask", `--${value}`, "hi"],
      ["ask", "--format", value, "hi"],
      ["ask", "--timeout", value, "hi"],
      ["ask", "-C", value, "hi"],
      ["ask", "--config", value, "hi"],
      ["ask", "--attach", value, "hi"],
      ["ask", "-s", value, "hi"],
      ["ask", "--log-level", value, "hi"],
      ["ask", "--trace", `no/${value}`, "hi"],
      ["sessions", value],
      ["sessions", "show", value],
      ["sessions", "-C", value],
      ["backends", value],
      ["backends", "install", value],
      ["backends", "resume", value],
      ["doctor", value],
      ["doctor", "-b", value],
      ["completion", value],
    ]) {
      const { exitCode, stdout, stderr } = await run(argv);
      expect({ argv, exitCode }).not.toEqual({ argv, exitCode: 0 });
      expect(stdout + stderr).not.toMatch(/AKIA|BC2ABC2/);
      // oxlint-disable-next-line no-control-regex -- they must not appear
      expect(stderr).not.toMatch(/[\u0000-\u0009\u000B-\u001F]|\\u001b/i);
    }
  },
);

test.each([
  {
    line: "ostler ",
    words: [
      "ask",
      "sessions",
      "goal",
      "steer",
      "tasks",
      "run",
      "watch",
      "runs",
      "incidents",
      "models",
      "modes",
      "backends",
      "login",
      "doctor",
      "completion",
    ],
  },
  { line: "ostler ask --form", words: ["--format"] },
  { line: "ostler ask --format n", words: ["ndjson"] },
  { line: "ostler ask -b c", words: ["claude", "codex"] },
  { line: "ostler ask --attach no", words: ["note.md"] },
  { line: "ostler ask -C s", words: ["sub"] },
  { line: "ostler ask --model x", words: [] },
  { line: "ostler sessions s", words: ["show"] },
  { line: "ostler tasks st", words: ["stop"] },
  { line: "ostler runs o", words: ["output"] },
  { line: "ostler incidents d", words: ["dispose"] },
  { line: "ostler incidents dispose x --as s", words: ["superseded"] },
  { line: "ostler backends ins", words: ["install"] },
  { line: "ostler completion z", words: ["zsh"] },
])("completion of '$line'", async ({ line, words }) => {
  expect(await offered(line)).toEqual(words);
});

test("the zsh script turns bash completion on", async () => {
  const { stdout } = await run(["completion", "zsh"]);
  expect(stdout).toMatch(/^autoload -U \+X bashcompinit && bashcompinit\n_ostler\(\)/);
});

test("a bug is one sentence; its stack is scrubbed and for --verbose only", () => {
  const bug = new TypeError(`key sk-ant-api03-${"D".repeat(60)} is undefined`, { cause: new RangeError("below") });
  expect(sentenceOf(bug)).toBe(
    "Something in Ostler itself went wrong (TypeError); the same command with --verbose shows where",
  );
  expect(failureFor(bug)).toMatchObject({ kind: "unknown", replaySafety: "not_sent", rule: "internal" });
  const causes = describeCauses(bug).join("\n");
  expect(causes).toMatch(/^TypeError: key .*\n {4}at /);
  expect(causes).toContain("caused by RangeError: below");
  expect(causes).not.toContain("DDD");
});

test("what a person did wrong has no stack", () => {
  const failure = failureFor(new UsageError("Cannot do that"));
  expect(failure).toMatchObject({ kind: "configuration", title: "Cannot do that", rule: "usage" });
});

test("causes that go round in circles end", () => {
  const error = new Error("round");
  error.cause = error;
  expect(describeCauses(error).filter((line) => line.includes("Error: round"))).toHaveLength(8);
});
