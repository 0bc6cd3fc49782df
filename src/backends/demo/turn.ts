/** What a scene of the demo agent can do in its turn: speak, use pretended tools, ask for permission, fail. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type {
  AgentContext,
  PromptResponse,
  SessionUpdate,
  StopReason,
  ToolCall,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { airMeta } from "./client-features.ts";
import type { ClientFeatures } from "./client-features.ts";
import type { DemoFailure, DemoWarning } from "./failure-records.ts";
import { failureMeta } from "./failure-records.ts";
import type { Permission } from "./permissions.ts";
import { PERMISSION_OPTIONS, permissionWithoutAsking, takeAnswer } from "./permissions.ts";
import { readReportRequest } from "./report-request.ts";
import type { DemoSession } from "./session.ts";

/** A chunk as a reader's eye takes it in, and slow enough to be seen as a stream. */
const WORDS_PER_CHUNK = 4;
const CHUNK_PAUSE_MS = 15;
/** The usual rule of thumb; the demo agent has no tokenizer. */
const CHARS_PER_TOKEN = 4;

/** How a scene ends: a stop reason, or a whole response; nothing = `end_turn`. A thrown RequestError rejects the prompt. */
export type SceneEnd = StopReason | Partial<PromptResponse> | void;
/** One thing the demo agent can show. */
export type Scene = (turn: DemoTurn) => Promise<SceneEnd>;

/** What a turn is given. */
export interface DemoTurnOptions {
  readonly client: AgentContext;
  readonly session: DemoSession;
  readonly prompt: string;
  /** The prompt without the command word. */
  readonly argument: string;
  readonly attachments: number;
  readonly features: ClientFeatures;
  readonly signal: AbortSignal;
}

/** One prompt of the demo agent, from the first chunk to the ending that its scene returns. */
export class DemoTurn {
  readonly options: DemoTurnOptions;
  readonly id = randomUUID();
  #messageId = randomUUID();
  #revision = 0;
  #toolCalls = 0;
  #text = "";
  readonly #changed = new Set<string>();
  #unavailable: string | undefined;

  constructor(options: DemoTurnOptions) {
    this.options = options;
  }

  /** The answer so far. */
  get text(): string {
    return this.#text;
  }

  /** Estimated tokens. */
  get usage(): NonNullable<PromptResponse["usage"]> {
    const inputTokens = Math.ceil(this.options.prompt.length / CHARS_PER_TOKEN);
    const outputTokens = Math.ceil(this.#text.length / CHARS_PER_TOKEN);
    return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
  }

  /** The message that the answer ends with. */
  get messageId(): string {
    return this.#messageId;
  }

  /** The turn changed a file, by its absolute path. */
  changed(path: string): void {
    this.#changed.add(path);
  }

  /** There is no list of changed files, for this reason. */
  reportUnavailable(reason: string): void {
    this.#unavailable = reason;
  }

  /** Answers a request for the list of changed files; one that is malformed or asks again is not answered. */
  async report(request: unknown): Promise<void> {
    const requestId = readReportRequest(request);
    const { reportIds } = this.options.session;
    if (requestId === undefined || reportIds.has(requestId)) return;
    reportIds.add(requestId);
    const reason = this.options.signal.aborted ? "cancelled" : this.#unavailable;
    const report =
      reason === undefined
        ? { status: "reported", paths: [...this.#changed], declaredComplete: true, truncated: false }
        : { status: "unavailable", reason };
    const agentFileChangeReport = { version: 1, requestId, ...report };
    await this.update({ sessionUpdate: "session_info_update", _meta: airMeta({ agentFileChangeReport }) });
  }

  /** An update that the protocol does not define yet, of this session or of a child. */
  extension(update: object, sessionId = this.options.session.id): Promise<void> {
    return this.options.client.notify<object>("session/update", { sessionId, update });
  }

  update(update: SessionUpdate): Promise<void> {
    return this.options.client.notify("session/update", { sessionId: this.options.session.id, update });
  }

  /** One chunk of the answer, as it is; throws when the turn is cancelled. */
  async say(text: string): Promise<void> {
    this.options.signal.throwIfAborted();
    for (const steered of this.options.session.steering.splice(0)) await this.say(`[You steered: ${steered}] `);
    this.#text += text;
    await this.update({
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text },
      messageId: this.#messageId,
    });
  }

  /** The answer in several chunks, at a pace that can be watched. */
  async stream(text: string): Promise<void> {
    const words = text.match(/\S+\s*|\s+/g) ?? [];
    for (let at = 0; at < words.length; at += WORDS_PER_CHUNK) {
      if (at > 0) await this.pause(CHUNK_PAUSE_MS);
      await this.say(words.slice(at, at + WORDS_PER_CHUNK).join(""));
    }
  }

  think(text: string): Promise<void> {
    const content = { type: "text" as const, text };
    return this.update({ sessionUpdate: "agent_thought_chunk", content, messageId: `${this.#messageId}:thought` });
  }

  /** What follows takes the place of all that was said, as a new message: a harness that starts its answer again. */
  startAgain(): void {
    this.#messageId = randomUUID();
    this.#text = "";
  }

  /** Waits, and throws when the turn is cancelled meanwhile. */
  pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.options.signal });
  }

  /** Announces a tool call and returns its id. */
  async startTool(call: Omit<ToolCall, "toolCallId">): Promise<string> {
    this.#toolCalls += 1;
    const toolCallId = `${this.id}:tool:${this.#toolCalls}`;
    await this.update({ sessionUpdate: "tool_call", status: "pending", ...call, toolCallId });
    return toolCallId;
  }

  updateTool(toolCallId: string, change: Omit<ToolCallUpdate, "toolCallId">): Promise<void> {
    return this.update({ sessionUpdate: "tool_call_update", toolCallId, ...change });
  }

  /**
   * Whether a tool may act: the mode and earlier `always` answers decide, else the client is asked. `heading`: what an AIR
   * client puts above the question; default the title.
   */
  async mayAct(toolCallId: string, title: string, heading = title): Promise<Permission> {
    const { session, client, features } = this.options;
    const known = permissionWithoutAsking(session, title);
    if (known !== undefined) return known;
    const { outcome } = await client.request("session/request_permission", {
      sessionId: session.id,
      toolCall: { toolCallId, title },
      options: [...PERMISSION_OPTIONS],
      ...(features.isAir && { _meta: airMeta({ permission: { version: 1, title: heading } }) }),
    });
    return takeAnswer(session, title, outcome);
  }

  /** Sends a warning beside the answer; a client that did not negotiate records hears nothing. */
  async warn(warning: DemoWarning): Promise<void> {
    if (!this.#records) return;
    await this.update({ sessionUpdate: "session_info_update", _meta: this.#failureMeta("warning", warning) });
  }

  /** Tells something beside the answer: its id is a notice's, so that nobody takes it for a retry. */
  async notice(notice: DemoWarning): Promise<void> {
    if (!this.#records) return;
    const state = { id: `${this.id}:notice:1`, revision: 1, severity: "warning" } as const;
    await this.update({ sessionUpdate: "session_info_update", _meta: failureMeta(state, notice) });
  }

  /** Ends the turn as failed: a record on the result, or a JSON-RPC error where the client cannot read records. */
  fail(failure: DemoFailure): Partial<PromptResponse> {
    if (!this.#records)
      throw new RequestError(-32603, `Internal error: ${failure.title}`, { errorKind: failure.errorKind });
    return { stopReason: "end_turn", _meta: this.#failureMeta("error", failure) };
  }

  get #records(): boolean {
    return this.options.features.air.has("sessionFailure");
  }

  #failureMeta(severity: "warning" | "error", failure: DemoWarning) {
    this.#revision += 1;
    return failureMeta({ id: `${this.id}:error`, revision: this.#revision, severity }, failure);
  }
}
