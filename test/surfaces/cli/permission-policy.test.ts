/** `--permission-policy` and the gate, with real agents as children. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { answerTo, chunk, end, permission, tool, turns, waitForAnswer } from "../../fixtures/agents/scenario.ts";
import { linesOf, newFolder, run } from "./run-main.ts";
import type { RunOptions } from "./run-main.ts";

/** An agent that asks whether it may run `command`, under a title that says something else. */
const asks = (command: string) =>
  turns([
    tool("t1", { kind: "execute", title: "git status", rawInput: { command } }),
    permission("t1", { title: "git status" }),
    waitForAnswer("p1"),
    chunk("Done."),
    end(),
  ]);

async function askUnder(policy: object, options: RunOptions & { readonly flags?: readonly string[] }) {
  const folder = newFolder();
  writeFileSync(join(folder, "policy.json"), JSON.stringify(policy));
  const argv = ["ask", "--permission-policy", "policy.json", ...(options.flags ?? []), "hi"];
  return run(argv, { folder, ...options });
}

const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });
const policy = { allow: [{ command: "git status" }], ask: [{ command: "make" }], deny: [{ command: "git push" }] };

test.each([
  { command: "git status -s", optionId: "a", said: undefined },
  { command: "git push", optionId: "r", said: "Denied: git status (The permission policy denies it (deny rule 1))" },
  { command: "ls", optionId: "r", said: "Denied: git status (No rule of the permission policy allows it)" },
  {
    command: "make",
    optionId: "r",
    said: "Denied: git status (The permission policy leaves it to a person (ask rule 1), and nobody is here to ask)",
  },
])("$command is answered $optionId; a denial was asked for and exits 0", async ({ command, optionId, said }) => {
  const { exitCode, stderr, log } = await askUnder(policy, { scenario: asks(command) });
  expect(answerTo(log, "p1")?.result).toEqual(selected(optionId));
  expect(exitCode).toBe(0);
  expect(stderr.split("\n").find((line) => line.startsWith("Denied"))).toBe(said);
});

test("at a terminal a rule that asks asks, and one that denies does not", async () => {
  const options = {
    terminal: true,
    stdin: { kind: "terminal", open: () => Readable.from(["1\n"]) },
  } as const;
  const asked = await askUnder(policy, { scenario: asks("make"), ...options });
  expect(answerTo(asked.log, "p1")?.result).toEqual(selected("a"));
  const denied = await askUnder(policy, { scenario: asks("git push"), ...options });
  expect(answerTo(denied.log, "p1")?.result).toEqual(selected("r"));
  expect(denied.stderr).not.toContain("The agent asks");
});

test("a policy that is not understood starts nothing", async () => {
  const { exitCode, stdout, stderr, log } = await askUnder({ deny: [{ comand: "rm" }] }, { scenario: asks("rm") });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(
    /^ostler: The permission policy \S+ cannot be used: deny\.0\.comand is not a setting \(did you mean "command"\?\)\n$/,
  );
  expect(answerTo(log, "p1")).toBeUndefined();
});

test("a program gets its result line", async () => {
  const { exitCode, stdout } = await askUnder({ alow: [] }, { scenario: asks("ls"), flags: ["--json"] });
  expect(exitCode).toBe(2);
  expect(linesOf(stdout).at(-1)).toMatchObject({ type: "result", outcome: "failed", exitCode: 2 });
});

test("a policy and --approve cannot both be given", async () => {
  const { exitCode, stderr } = await askUnder(policy, { scenario: asks("ls"), flags: ["--approve", "all"] });
  expect(exitCode).toBe(2);
  expect(stderr).toBe("ostler: --approve and --permission-policy both say what is allowed; give one of them\n");
});
