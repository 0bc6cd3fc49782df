import { describe, expect, test } from "vitest";
import type { Profile } from "../../src/errors/failure.ts";
import { AcpAuthRequired } from "../../src/errors/acp-error.ts";
import { drive, rejectionOf, start } from "../acp/drive.ts";
import type { Action, Scenario } from "../fixtures/agents/scenario.ts";
import { chunk, end, err, processesIn, thought, tool, toolUpdate, turns } from "../fixtures/agents/scenario.ts";
import { ask, askAsText } from "./ask-case.ts";

const at = (method: string, action: Action): Scenario => ({ on: { [method]: [[action]] } });
const SIGN_IN: readonly { readonly profile: Profile; readonly hint: string }[] = [
  { profile: "claude", hint: "claude auth login" },
  { profile: "codex", hint: "codex login" },
  { profile: "kiro", hint: "kiro-cli login" },
  { profile: "generic", hint: "Sign in with the agent's own command" },
];

describe("signed out", () => {
  test.concurrent.each<{ from: string; scenario: Scenario; prompts: number; profile?: Profile }>([
    {
      from: "C06 a",
      scenario: at("session/new", err(-32000, "Authentication required")),
      prompts: 0,
      profile: "codex",
    },
    {
      from: "C06 a, claude",
      scenario: at("session/new", err(-32000, "Authentication required")),
      prompts: 0,
      profile: "claude",
    },
    {
      from: "C06 a, kiro",
      scenario: at("session/new", err(-32000, "Authentication required")),
      prompts: 0,
      profile: "kiro",
    },
    { from: "the handshake", scenario: at("initialize", err(-32000, "Authentication required")), prompts: 0 },
    { from: "the code alone", scenario: at("session/new", err(-32000, "")), prompts: 0 },
    {
      from: "C06 b",
      scenario: turns([err(-32603, "Internal error", 'Failed to authenticate: 401 {"type":"authentication_error"}')]),
      prompts: 1,
      profile: "claude",
    },
    {
      from: "the body in data",
      scenario: turns([
        err(-32603, "Internal error", { error: { type: "authentication_error", message: "invalid x-api-key" } }),
      ]),
      prompts: 1,
    },
    { from: "a status in data", scenario: turns([err(-32603, "Internal error", { statusCode: 401 })]), prompts: 1 },
    { from: "a status as code", scenario: turns([err(401, "no")]), prompts: 1 },
    {
      from: "a status in words",
      scenario: turns([err(-32603, "unexpected status 401 Unauthorized: nobody is signed in")]),
      prompts: 1,
    },
    {
      from: "kiro, a token past its date",
      scenario: turns([err(-32603, "Internal error", { details: "ExpiredTokenException: token is past its date" })]),
      prompts: 1,
      profile: "kiro",
    },
    { from: "the prompt, by its code", scenario: turns([err(-32000, "Authentication required")]), prompts: 1 },
    {
      from: "403",
      scenario: turns([err(-32603, "Internal error", "HTTP 403: Forbidden")]),
      prompts: 1,
    },
  ])("$from: exit 6, at most one prompt, the login of that harness", async ({ scenario, prompts, profile }) => {
    const asked = await ask(scenario, { ...(profile && { profile }), argv: ["--retries", "3"] });
    expect(asked.result).toMatchObject({
      outcome: "failed",
      failure: { kind: "auth", retry: "never", transient: false, needs: "login" },
    });
    expect({ exitCode: asked.exitCode, prompts: asked.prompts, processes: asked.processes.length }).toEqual({
      exitCode: 6,
      prompts,
      processes: 1,
    });
  });
});

test.concurrent.each(SIGN_IN)("$profile: the card names its own login and no other", async ({ profile, hint }) => {
  const scenario = at("session/new", err(-32000, "Authentication required"));
  const { exitCode, stdout, stderr } = await askAsText(scenario, { profile });
  expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: "" });
  expect(SIGN_IN.filter((other) => stderr.includes(other.hint))).toEqual([{ profile, hint }]);
});

test.concurrent("the class says so to callers of the library", async () => {
  await using agent = await start(at("session/new", err(-32000, "Authentication required")));
  const error = await rejectionOf(agent.open());
  expect(error).toBeInstanceOf(AcpAuthRequired);
  expect(error).toMatchObject({ kind: "auth", transient: false, failure: { replaySafety: "not_sent" } });
  const { outcome } = await drive(turns([err(-32603, "Internal error", "Failed to authenticate: 401")]));
  expect(outcome.cause).toBeInstanceOf(AcpAuthRequired);
});

describe("the auth code with another reason", () => {
  test.concurrent.each<{ from: string; turn: Action; kind: string; exit: number }>([
    {
      from: "C06 c",
      turn: err(-32000, "Authentication required", { message: "usage limit exceeded" }),
      kind: "usage_limit",
      exit: 8,
    },
    {
      from: "a text in data",
      turn: err(-32000, "Authentication required", "You've hit your usage limit"),
      kind: "usage_limit",
      exit: 8,
    },
    {
      from: "a transient reason",
      turn: err(-32000, "Authentication required", { message: "Too many requests" }),
      kind: "rate_limit",
      exit: 8,
    },
    {
      from: "a typed word",
      turn: err(-32000, "Authentication required", { codexErrorInfo: "usageLimitExceeded" }),
      kind: "usage_limit",
      exit: 8,
    },
    {
      from: "an overload",
      turn: err(-32000, "Authentication required", { details: "The service is overloaded" }),
      kind: "overloaded",
      exit: 1,
    },
  ])("$from", async ({ turn, kind, exit }) => {
    const { result, exitCode } = await ask(turns([turn]), { argv: ["--retries", "0"] });
    expect({ kind: result.failure?.kind, exitCode }).toEqual({ kind, exitCode: exit });
    expect(result.failure?.needs).not.toBe("login");
  });
});

describe("prose of the model is never classified (C06 d)", () => {
  test.concurrent.each<{ from: string; turn: readonly Action[]; text: string }>([
    { from: "C06 d", turn: [chunk("401 Unauthorized"), end()], text: "401 Unauthorized" },
    { from: "a request to sign in", turn: [chunk("Please log in first."), end()], text: "Please log in first." },
    {
      from: "a limit",
      turn: [chunk("API Error: 429 You've hit your session limit · resets 8pm"), end()],
      text: "API Error: 429 You've hit your session limit · resets 8pm",
    },
    {
      from: "a JSON error",
      turn: [chunk('{"error":{"type":"authentication_error"}}'), end()],
      text: '{"error":{"type":"authentication_error"}}',
    },
    { from: "a thought", turn: [thought("401 Unauthorized"), chunk("ok"), end()], text: "ok" },
    {
      from: "output of a tool",
      turn: [
        tool("t1"),
        toolUpdate("t1", { status: "failed", rawOutput: "HTTP 401 Unauthorized, please log in" }),
        chunk("ok"),
        end(),
      ],
      text: "ok",
    },
    {
      from: "stderr of an agent that lives",
      turn: [{ stderr: "error: not logged in\n" }, chunk("ok"), end()],
      text: "ok",
    },
  ])("$from", async ({ turn, text }) => {
    const { result, exitCode, log } = await ask(turns(turn));
    expect(result).toMatchObject({ outcome: "completed", text, failure: null, warnings: [] });
    expect(exitCode).toBe(0);
    expect(processesIn(log)).toHaveLength(1);
  });
});
