/**
 * A scripted stand-in for the OpenAI Responses API, as far as codex 0.166 speaks it: streamed `POST …/responses`. Event
 * shapes as in the recordings of codex-acp 2.6.0.
 */
import type { ServerResponse } from "node:http";
import {
  cutWhenReleased,
  openStream,
  sendEvent,
  sendJson,
  startModelService,
  type Dialect,
  type JsonObject,
  type ModelService,
  type ServiceScript,
} from "./server.ts";
import { splitText, type CommonStep } from "./steps.ts";

/** What the Responses API can answer besides the common steps. */
export type OpenAiStep =
  | CommonStep
  /** The model edits files with codex's own patch language. */
  | { readonly answer: "applyPatch"; readonly patch: string }
  /** `response.failed` after the stream began. */
  | { readonly answer: "failed"; readonly code: string; readonly message: string }
  /** `response.incomplete` after some text. */
  | { readonly answer: "incomplete"; readonly reason: "max_output_tokens" | "content_filter"; readonly text: string }
  /** A message whose only content is a refusal. */
  | { readonly answer: "refusal"; readonly text: string };

/** A scripted Responses API on 127.0.0.1; its base URL for codex is `${url}/v1`. */
export function startOpenAi(script: ServiceScript<OpenAiStep>): Promise<ModelService> {
  return startModelService(dialect, script);
}

/** The file-edit call of codex: `lines` are the lines between the patch markers. */
export function applyPatch(...lines: readonly string[]): OpenAiStep {
  return { answer: "applyPatch", patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") };
}

/** The stream ends in `response.failed` with this code. */
export function failed(code: string, message: string): OpenAiStep {
  return { answer: "failed", code, message };
}

/** The stream says `text` and ends in `response.incomplete`. */
export function incomplete(reason: "max_output_tokens" | "content_filter", text: string): OpenAiStep {
  return { answer: "incomplete", reason, text };
}

/** The model says no in a message of refusal content. */
export function refusal(text: string): OpenAiStep {
  return { answer: "refusal", text };
}

/** The error body of the API. */
export function openAiError(type: string, code: string | null, message: string, more: JsonObject = {}): unknown {
  return { error: { message, type, param: null, code, ...more } };
}

const dialect: Dialect<OpenAiStep> = {
  roleOf({ method, path, body }) {
    if (path.endsWith("/responses/compact")) return "compaction";
    if (method !== "POST" || !path.endsWith("/responses")) return "other";
    const words = JSON.stringify(body);
    if (words.includes("Your task is to generate a very short title")) return "title";
    if (words.includes("app-generated request for a suggested next user message")) return "suggestion";
    if (words.includes("APPROVAL REQUEST START") || JSON.stringify(body?.["text"] ?? {}).includes("risk_level")) {
      return "guardian";
    }
    return "turn";
  },

  async answerTurn(step, exchange) {
    const { response, untilReleased } = exchange;
    const stream = new ResponseStream(response);
    switch (step.answer) {
      case "httpError":
        return sendJson(response, step.status, step.body, { "x-request-id": "req_scripted", ...step.headers });
      case "text":
        return stream.begin().say(step.text, step.pieces).complete(step.inputTokens);
      case "heldText":
        stream.begin().delta(step.first);
        await untilReleased();
        return stream.sayRest(step.first, step.rest);
      case "toolCall":
        return stream.begin().callFunction(step.name, step.input).complete();
      case "applyPatch":
        return stream.begin().callCustom("apply_patch", step.patch).complete();
      case "refusal":
        return stream.begin().refuse(step.text).complete();
      case "failed":
        return stream.begin().fail(step.code, step.message);
      case "incomplete":
        return stream.begin().delta(step.text).stopShort(step.reason);
      case "cut":
        stream.begin().delta(step.text);
        return cutWhenReleased(exchange);
      case "hang":
        if (step.text !== null) stream.begin().delta(step.text);
        return;
    }
  },

  answerSideCall({ request, response }) {
    const stream = new ResponseStream(response);
    switch (request.role) {
      case "title":
        return stream
          .begin()
          .say(JSON.stringify({ title: "Scripted title" }))
          .complete();
      case "suggestion":
        return stream
          .begin()
          .say(JSON.stringify({ suggestion: null }))
          .complete();
      case "guardian":
        return stream.begin().say(JSON.stringify(GUARDIAN_ALLOWS)).complete();
      case "turn":
      case "compaction":
      case "other":
        return sendJson(response, 404, openAiError("invalid_request_error", "not_found", "Not found"));
    }
  },
};

/** A second model that would wave everything through: a scenario that must ask a person has to notice. */
const GUARDIAN_ALLOWS = { outcome: "allow", risk_level: "low", user_authorization: "high", rationale: "Scripted." };

let lastId = 0;
function newId(prefix: string): string {
  lastId += 1;
  return `${prefix}_scripted${lastId}`;
}

/** One streamed response of the API. */
class ResponseStream {
  readonly #response: ServerResponse;
  readonly #id = newId("resp");
  readonly #messageId = newId("msg");
  #messageOpen = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  begin(): this {
    openStream(this.#response);
    return this.#send("response.created", { response: this.#head("in_progress") });
  }

  /** Text so far, without an end. */
  delta(text: string): this {
    if (text === "") return this;
    this.#openMessage();
    return this.#send("response.output_text.delta", {
      item_id: this.#messageId,
      output_index: 0,
      content_index: 0,
      delta: text,
    });
  }

  /** A whole message; none at all for an empty text. */
  say(text: string, pieces = 1): this {
    for (const piece of splitText(text, pieces)) this.delta(piece);
    return text === "" ? this : this.#closeMessage([{ type: "output_text", text, annotations: [] }]);
  }

  /** The end of an answer of which `first` was said. */
  sayRest(first: string, rest: string): void {
    this.delta(rest)
      .#closeMessage([{ type: "output_text", text: first + rest, annotations: [] }])
      .complete();
  }

  refuse(text: string): this {
    this.#openMessage();
    this.#send("response.refusal.done", {
      item_id: this.#messageId,
      output_index: 0,
      content_index: 0,
      refusal: text,
    });
    return this.#closeMessage([{ type: "refusal", refusal: text }]);
  }

  /** codex 0.166 finds the tool of an MCP server by its namespace and its own name. */
  callFunction(name: string, input: JsonObject): this {
    const [, namespace, tool] = /^(mcp__.+?)__(.+)$/.exec(name) ?? [];
    const named = namespace === undefined ? { name } : { namespace, name: tool };
    return this.#call({ id: newId("fc"), type: "function_call", ...named, arguments: JSON.stringify(input) });
  }

  callCustom(name: string, input: string): this {
    return this.#call({ id: newId("ctc"), type: "custom_tool_call", name, input });
  }

  complete(inputTokens = USAGE.input_tokens): void {
    const usage = { ...USAGE, input_tokens: inputTokens, total_tokens: inputTokens + USAGE.output_tokens };
    this.#send("response.completed", { response: { ...this.#head("completed"), output: [], usage, end_turn: true } });
    this.#response.end();
  }

  fail(code: string, message: string): void {
    this.#send("response.failed", { response: { ...this.#head("failed"), error: { code, message }, usage: null } });
    this.#response.end();
  }

  stopShort(reason: string): void {
    this.#send("response.incomplete", {
      response: { ...this.#head("incomplete"), incomplete_details: { reason }, usage: USAGE },
    });
    this.#response.end();
  }

  #call(item: JsonObject): this {
    return this.#send("response.output_item.done", {
      output_index: 0,
      item: { ...item, status: "completed", call_id: newId("call") },
    });
  }

  #openMessage(): void {
    if (this.#messageOpen) return;
    this.#messageOpen = true;
    const item = { id: this.#messageId, type: "message", role: "assistant", status: "in_progress", content: [] };
    this.#send("response.output_item.added", { output_index: 0, item });
  }

  #closeMessage(content: readonly unknown[]): this {
    const item = { id: this.#messageId, type: "message", role: "assistant", status: "completed", content };
    return this.#send("response.output_item.done", { output_index: 0, item });
  }

  #head(status: string): JsonObject {
    return { id: this.#id, object: "response", status, model: "scripted" };
  }

  #send(type: string, fields: JsonObject): this {
    sendEvent(this.#response, { type, ...fields });
    return this;
  }
}

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 120,
};
