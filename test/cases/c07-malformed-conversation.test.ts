import { expect, test } from "vitest";
import { play, processAndPrompts, start } from "../acp/drive.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { air, chunk, end, err, record, turns } from "../fixtures/agents/scenario.ts";
import { ask, askAsText } from "./ask-case.ts";

const MALFORMED = "Improperly formed request. (Request ID: 4c2c)";

test.concurrent.each<{ from: string; turn: Action; requestId?: string }>([
  { from: "C07", turn: err(-32603, "Internal error", MALFORMED), requestId: "4c2c" },
  {
    from: "data with details",
    turn: err(-32603, "Internal error", { details: MALFORMED }),
    requestId: "4c2c",
  },
  { from: "data with a message", turn: err(-32603, "Internal error", { message: MALFORMED }), requestId: "4c2c" },
  { from: "the message itself", turn: err(-32603, MALFORMED), requestId: "4c2c" },
  { from: "behind the usual prefix", turn: err(-32603, `Internal error: ${MALFORMED}`), requestId: "4c2c" },
  {
    from: "behind the envelope of a stream",
    turn: err(-32603, "Internal error", `Encountered an error in the response stream: ${MALFORMED}`),
    requestId: "4c2c",
  },
  {
    from: "a body within data",
    turn: err(-32603, "Internal error", `{"error":{"message":"Improperly formed request.","request_id":"4c2c"}}`),
    requestId: "4c2c",
  },
  {
    from: "the service's name of it",
    turn: err(-32603, "Internal error", { details: "ValidationException: Improperly formed request." }),
  },
  {
    from: "kiro wire notes, section 12: history broken",
    turn: err(-32603, "Internal error", "invalid conversation history received"),
  },
  {
    from: "a tool call without its result",
    turn: err(
      -32603,
      "Internal error",
      "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
    ),
  },
  {
    from: "a record that recommends a retry (typed failures, row 49)",
    turn: end("end_turn", air(record({ actions: ["retry"], title: MALFORMED }))),
    requestId: "4c2c",
  },
])("$from: terminal, sent once, exit 1", async ({ turn, requestId }) => {
  const { result, exitCode, prompts, processes } = await ask(turns([turn]), {
    profile: "kiro",
    argv: ["--retries", "3"],
  });
  expect(result).toMatchObject({
    outcome: "failed",
    attempts: 1,
    failure: { kind: "malformed_request", retry: "never", transient: false, needs: "new_session" },
  });
  expect(result.failure?.requestId).toBe(requestId);
  expect({ exitCode, prompts, processes: processes.length }).toEqual({ exitCode: 1, prompts: 1, processes: 1 });
});

test.concurrent("the sentence says what is wrong, keeps the request id and offers both ways out", async () => {
  const { stderr } = await askAsText(turns([err(-32603, "Internal error", MALFORMED)]), { profile: "kiro" });
  expect(stderr).toContain("Improperly formed request");
  expect(stderr).toContain("4c2c");
  expect(stderr).toContain("/compact");
  expect(stderr).toContain("start a new conversation");
  expect(stderr.match(/(?<![\w/~.])\/[a-z]+/g)).toEqual(["/compact"]);
  expect(stderr).not.toMatch(/try again later|-32603|Internal error/i);
});

test.concurrent("one prompt for each turn until a new session, which works in the same process", async () => {
  const malformed = [err(-32603, "Internal error", MALFORMED)];
  await using agent = await start(turns(malformed, malformed, [chunk("fine"), end()]), { profile: "kiro" });
  const broken = await agent.open();
  const first = await play(broken, { retries: 3 });
  const second = await play(broken, { retries: 3 });
  expect([first.outcome, second.outcome].map((outcome) => "failure" in outcome && outcome.failure?.kind)).toEqual([
    "malformed_request",
    "malformed_request",
  ]);
  const fresh = await play(await agent.open(), { retries: 3 });
  expect(fresh.outcome).toMatchObject({ kind: "completed", text: "fine" });
  expect(processAndPrompts(agent.log)).toEqual({ processes: 1, prompts: 3 });
});
