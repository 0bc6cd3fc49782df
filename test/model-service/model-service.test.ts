/** The scripted services themselves: what one answer looks like, and which requests count as the turn. */
import { expect, test } from "vitest";
import { anthropicError, refusal as claudeRefusal, startAnthropic, type AnthropicStep } from "./anthropic.ts";
import { failed, openAiError, startOpenAi, type OpenAiStep } from "./openai.ts";
import { refusedUrl, type ModelService } from "./server.ts";
import { cut, emptyAnswer, hang, httpError, heldText, text, toolCall, type CommonStep } from "./steps.ts";

const TURN = { tools: [{ name: "Bash" }], messages: [], stream: true };

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: "POST", body: JSON.stringify(body), headers: { "x-api-key": "dummy" } });
}

test.each<{ from: string; step: OpenAiStep; types: string[] }>([
  {
    from: "recording codex-acp 2.6.0 plain-text",
    step: text("Hello there.", 2),
    types: [
      "response.created",
      "response.output_item.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_item.done",
      "response.completed",
    ],
  },
  { from: "an answer without content", step: emptyAnswer(), types: ["response.created", "response.completed"] },
  {
    from: "recording codex-acp 2.6.0 shell-ok",
    step: toolCall("exec_command", { cmd: "echo hi" }),
    types: ["response.created", "response.output_item.done", "response.completed"],
  },
  {
    from: "recording codex-acp 2.6.0 failed-overloaded",
    step: failed("server_is_overloaded", "Overloaded."),
    types: ["response.created", "response.failed"],
  },
])("Responses API: $from", async ({ step, types }) => {
  await using service = await startOpenAi([step]);
  const answer = await (await post(`${service.url}/v1/responses`, {})).text();
  expect([...answer.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)).toEqual(types);
});

test.each<{ from: string; step: AnthropicStep; types: string[] }>([
  {
    from: "recording claude-agent-acp 0.101.0 text-plain",
    step: text("Hello there.", 2),
    types: [
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ],
  },
  {
    from: "recording claude-agent-acp 0.101.0 text-empty",
    step: emptyAnswer(),
    types: ["message_start", "message_delta", "message_stop"],
  },
])("Messages API: $from", async ({ step, types }) => {
  await using service = await startAnthropic([step]);
  const answer = await (await post(`${service.url}/v1/messages`, TURN)).text();
  expect([...answer.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)).toEqual(types);
});

test("Messages API: the same answer in one piece when the request does not stream", async () => {
  await using service = await startAnthropic([claudeRefusal({ category: "cyber", explanation: "Declined." }, "I was")]);
  const answer: unknown = await (await post(`${service.url}/v1/messages`, { ...TURN, stream: false })).json();
  expect(answer).toMatchObject({
    content: [{ type: "text", text: "I was" }],
    stop_reason: "refusal",
    stop_details: { type: "refusal", category: "cyber", explanation: "Declined." },
  });
});

test("the last step answers every later request, and an HTTP error keeps its status, headers and body", async () => {
  await using service = await startAnthropic([
    text("Fine."),
    httpError(429, anthropicError("rate_limit_error", "Slow down."), { "retry-after": "1" }),
  ]);
  const statuses = [];
  for (let index = 0; index < 3; index += 1) statuses.push((await post(`${service.url}/v1/messages`, TURN)).status);
  const last = await post(`${service.url}/v1/messages`, TURN);
  expect(statuses).toEqual([200, 429, 429]);
  expect(last.headers.get("retry-after")).toBe("1");
  expect(await last.json()).toMatchObject({ error: { type: "rate_limit_error", message: "Slow down." } });
});

test("side calls are answered and are not requests of the turn", async () => {
  await using openAi = await startOpenAi([httpError(500, openAiError("server_error", null, "Broken."))]);
  await using anthropic = await startAnthropic([httpError(500, anthropicError("api_error", "Broken."))]);
  const title = { input: "Your task is to generate a very short title for this." };
  const guardian = { input: "APPROVAL REQUEST START" };
  expect((await post(`${openAi.url}/v1/responses`, title)).status).toBe(200);
  expect((await post(`${openAi.url}/v1/responses`, guardian)).status).toBe(200);
  expect((await fetch(`${openAi.url}/v1/models`)).status).toBe(404);
  expect((await post(`${openAi.url}/v1/responses`, { input: "Do the task." })).status).toBe(500);
  expect((await post(`${anthropic.url}/v1/messages?beta=true`, { messages: [] })).status).toBe(200);
  expect(openAi.requests.map(({ role }) => role)).toEqual(["title", "guardian", "other", "turn"]);
  expect([anthropic.count("turn"), anthropic.count("title")]).toEqual([0, 1]);
});

/** Reads a stream to its end; `onText` is told all of it so far. */
async function readStream(response: Response, onText: (soFar: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  let soFar = "";
  for await (const chunk of response.body ?? []) {
    soFar += decoder.decode(chunk, { stream: true });
    onText(soFar);
  }
  return soFar;
}

test.each([
  {
    from: "Responses API",
    start: () => startOpenAi([heldText("one ", "two three")]),
    path: "/v1/responses",
    types: [
      "response.created",
      "response.output_item.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_item.done",
      "response.completed",
    ],
  },
  {
    from: "Messages API",
    start: () => startAnthropic([heldText("one ", "two three")]),
    path: "/v1/messages",
    types: [
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ],
  },
])("$from: the rest of a held answer, and of the next one, is sent when it is released", async (row) => {
  await using service = await row.start();
  for (let index = 0; index < 2; index += 1) {
    // No answer is held yet: this one counts for nothing.
    service.release();
    let before = "";
    const answer = await readStream(await post(`${service.url}${row.path}`, TURN), (soFar) => {
      if (before !== "" || !soFar.includes('"one "')) return;
      before = soFar;
      service.release();
    });
    expect(before).not.toContain("two");
    expect(answer).toContain('"two three"');
    expect([...answer.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)).toEqual(row.types);
  }
});

test("Messages API: a held answer comes whole when the request does not stream", async () => {
  await using service = await startAnthropic([heldText("one ", "two three")]);
  const answer: unknown = await (await post(`${service.url}/v1/messages`, { ...TURN, stream: false })).json();
  expect(answer).toMatchObject({ content: [{ type: "text", text: "one two three" }], stop_reason: "end_turn" });
});

test.each<{ from: string; step: CommonStep; end: (service: ModelService) => void }>([
  { from: "cut after half an answer", step: cut("Half an ans"), end: (service) => service.release() },
  { from: "closed by the end of the test", step: hang("Half an ans"), end: (service) => void service.close() },
])("connection $from: the text arrives, an end does not", async ({ step, end }) => {
  await using openAi = await startOpenAi([step]);
  await using anthropic = await startAnthropic([step]);
  for (const [service, path] of [
    [openAi, "/v1/responses"],
    [anthropic, "/v1/messages"],
  ] as const) {
    let received = "";
    const read = readStream(await post(`${service.url}${path}`, TURN), (soFar) => {
      received = soFar;
      if (soFar.includes("Half an ans")) end(service);
    });
    await expect(read).rejects.toThrow("terminated");
    expect(received).toContain("Half an ans");
    expect(received).not.toMatch(/response.completed|message_stop/);
  }
});

test("untilTurn settles when the request has arrived, answered or not", async () => {
  await using service = await startAnthropic([hang()]);
  const arrived = service.untilTurn(1);
  const request = post(`${service.url}/v1/messages`, TURN).catch(() => "connection lost");
  await arrived;
  expect(service.requests).toMatchObject([{ role: "turn", credential: "x-api-key", body: TURN }]);
  await service.close();
  expect(await request).toBe("connection lost");
});

test("nothing listens on a refused address", async () => {
  await expect(fetch(await refusedUrl())).rejects.toThrow("fetch failed");
});
