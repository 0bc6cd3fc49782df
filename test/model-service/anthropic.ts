/**
 * A scripted stand-in for the Anthropic Messages API, as far as Claude Code 2.1.318 speaks it: `POST /v1/messages`, with
 * and without streaming (a cut stream is tried once more without). Event shapes as in the recordings of
 * claude-agent-acp 0.101.0.
 */
import type { ServerResponse } from "node:http";
import {
  cutWhenReleased,
  openStream,
  sendEvent,
  sendJson,
  startModelService,
  type Dialect,
  type Exchange,
  type JsonObject,
  type ModelService,
  type ServiceScript,
} from "./server.ts";
import { splitText, type CommonStep } from "./steps.ts";

/** What the Messages API can answer besides the common steps. */
export type AnthropicStep =
  | CommonStep
  /** Text, then a stop reason of its own. `stop_details` as the API sends them with a refusal. */
  | {
      readonly answer: "stop";
      readonly reason: "refusal" | "max_tokens" | "model_context_window_exceeded";
      readonly text: string;
      readonly details: JsonObject | undefined;
    }
  /** The model writes its plan to the file that the harness names in the request. */
  | { readonly answer: "writePlan"; readonly text: string }
  /** Text, then an `error` event inside the stream. */
  | { readonly answer: "streamError"; readonly type: string; readonly message: string; readonly text: string };

/** A scripted Messages API on 127.0.0.1; `url` is what ANTHROPIC_BASE_URL takes. */
export function startAnthropic(script: ServiceScript<AnthropicStep>): Promise<ModelService> {
  return startModelService(dialect, script);
}

/** The model stops short after `text`. */
export function stop(reason: "max_tokens" | "model_context_window_exceeded", text: string): AnthropicStep {
  return { answer: "stop", reason, text, details: undefined };
}

/** The model says no; without `details` it does not say why. */
export function refusal(
  details?: { readonly category: string; readonly explanation: string },
  text = "",
): AnthropicStep {
  return { answer: "stop", reason: "refusal", text, details: details && { type: "refusal", ...details } };
}

/** Claude Code's plan mode: the plan goes into a file whose name the harness makes up. */
export function writePlan(text: string): AnthropicStep {
  return { answer: "writePlan", text };
}

/** The stream says `text`, then carries an error event. */
export function streamError(type: string, message: string, text: string): AnthropicStep {
  return { answer: "streamError", type, message, text };
}

/** The error body of the API. */
export function anthropicError(type: string, message: string, more: JsonObject = {}): unknown {
  return { type: "error", error: { type, message, ...more }, request_id: "req_scripted" };
}

const dialect: Dialect<AnthropicStep> = {
  roleOf({ method, path, body }) {
    if (method !== "POST" || path !== "/v1/messages") return "other";
    const { tools, messages } = body ?? {};
    // The request for a title carries no tools; the turn and the suggestion that follows a good one do.
    if (!Array.isArray(tools) || tools.length === 0) return "title";
    const lastMessage: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
    return JSON.stringify(lastMessage ?? "").includes("[SUGGESTION MODE") ? "suggestion" : "turn";
  },

  answerTurn(step, exchange) {
    const { response } = exchange;
    switch (step.answer) {
      case "httpError":
        return sendJson(response, step.status, step.body, { "request-id": "req_scripted", ...step.headers });
      case "text":
        return sendMessage(exchange, step.text === "" ? [] : [{ type: "text", text: step.text }], "end_turn", {
          pieces: step.pieces,
          inputTokens: step.inputTokens,
        });
      case "heldText":
        return sendInHalves(exchange, step.first, step.rest);
      case "toolCall":
        return sendMessage(
          exchange,
          [{ type: "tool_use", id: newId("toolu"), name: step.name, input: step.input }],
          "tool_use",
        );
      case "writePlan": {
        const input = { file_path: planFileIn(exchange), content: step.text };
        return sendMessage(exchange, [{ type: "tool_use", id: newId("toolu"), name: "Write", input }], "tool_use");
      }
      case "stop":
        return sendMessage(exchange, step.text === "" ? [] : [{ type: "text", text: step.text }], step.reason, {
          details: step.details,
        });
      case "streamError":
        if (!isStreamed(exchange)) return sendJson(response, 500, anthropicError(step.type, step.message));
        beginText(exchange, step.text);
        sendEvent(response, { type: "error", error: { type: step.type, message: step.message } });
        response.end();
        return;
      case "cut":
        if (!isStreamed(exchange)) return void response.destroy();
        beginText(exchange, step.text);
        return cutWhenReleased(exchange);
      case "hang":
        if (step.text !== null && isStreamed(exchange)) beginText(exchange, step.text);
        return;
    }
  },

  answerSideCall(exchange) {
    const { request, response } = exchange;
    if (request.role === "title") {
      return sendMessage(exchange, [{ type: "text", text: JSON.stringify({ title: "Scripted title" }) }], "end_turn");
    }
    if (request.role === "suggestion") return sendMessage(exchange, [{ type: "text", text: "Go on" }], "end_turn");
    if (request.path === "/v1/messages/count_tokens") return sendJson(response, 200, { input_tokens: 120 });
    if (request.method === "HEAD") return void response.writeHead(200).end();
    return sendJson(response, 404, anthropicError("not_found_error", "Not found"));
  },
};

function planFileIn({ request }: Exchange): string {
  return /\/[^\s"`\\]+\/plans\/[^\s"`\\]+\.md/.exec(JSON.stringify(request.body))?.[0] ?? "/no plan file is named";
}

type Block =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: JsonObject;
    };

interface MessageOptions {
  /** Deltas per block; default 1. */
  readonly pieces?: number;
  /** As the service counts them. */
  readonly inputTokens?: number | undefined;
  /** `stop_details` of a refusal. */
  readonly details?: JsonObject | undefined;
}

let lastId = 0;
function newId(prefix: string): string {
  lastId += 1;
  return `${prefix}_scripted${lastId}`;
}

function isStreamed({ request }: Exchange): boolean {
  return request.body?.["stream"] === true;
}

/** A whole message, streamed or in one piece, as the request wants it. */
function sendMessage(
  exchange: Exchange,
  content: readonly Block[],
  stopReason: string,
  options: MessageOptions = {},
): void {
  const { response } = exchange;
  const end = {
    stop_reason: stopReason,
    stop_sequence: null,
    ...(options.details && { stop_details: options.details }),
  };
  if (!isStreamed(exchange)) return sendJson(response, 200, { ...messageHead(exchange), content, ...end });
  begin(exchange);
  for (const [index, block] of content.entries()) sendBlock(response, index, block, options.pieces ?? 1);
  const { inputTokens = USAGE.input_tokens } = options;
  sendEvent(response, { type: "message_delta", delta: end, usage: { ...USAGE, input_tokens: inputTokens } });
  sendEvent(response, { type: "message_stop" });
  response.end();
}

/** What does not stream comes whole. */
async function sendInHalves(exchange: Exchange, first: string, rest: string): Promise<void> {
  const { response } = exchange;
  if (!isStreamed(exchange)) return sendMessage(exchange, [{ type: "text", text: first + rest }], "end_turn");
  beginText(exchange, first);
  await exchange.untilReleased();
  sendEvent(response, textDelta(0, rest));
  sendEvent(response, { type: "content_block_stop", index: 0 });
  sendEvent(response, { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: USAGE });
  sendEvent(response, { type: "message_stop" });
  response.end();
}

/** Opens the stream and a text block that has no end yet. */
function beginText(exchange: Exchange, text: string): void {
  begin(exchange);
  sendEvent(exchange.response, { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  if (text !== "") sendEvent(exchange.response, textDelta(0, text));
}

function begin(exchange: Exchange): void {
  openStream(exchange.response);
  sendEvent(exchange.response, { type: "message_start", message: { ...messageHead(exchange), content: [] } });
}

function sendBlock(response: ServerResponse, index: number, block: Block, pieces: number): void {
  switch (block.type) {
    case "text":
      sendEvent(response, { type: "content_block_start", index, content_block: { type: "text", text: "" } });
      for (const piece of splitText(block.text, pieces)) sendEvent(response, textDelta(index, piece));
      break;
    case "tool_use":
      sendEvent(response, { type: "content_block_start", index, content_block: { ...block, input: {} } });
      sendEvent(response, {
        type: "content_block_delta",
        index,
        delta: { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
      });
      break;
  }
  sendEvent(response, { type: "content_block_stop", index });
}

function textDelta(index: number, text: string): JsonObject & { readonly type: string } {
  return { type: "content_block_delta", index, delta: { type: "text_delta", text } };
}

function messageHead({ request }: Exchange): JsonObject {
  return {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model: request.body?.["model"] ?? "scripted",
    stop_reason: null,
    stop_sequence: null,
    usage: USAGE,
  };
}

const USAGE = {
  input_tokens: 120,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 20,
};
