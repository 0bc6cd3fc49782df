/**
 * One prompt handed over: takes the frames of its session until something ends it, and keeps the facts that decide the
 * outcome. What a person should see goes out as events at once.
 */
import { PERMISSION_NEEDED_RULE } from "../errors/typed.ts";
import { readSessionFailure } from "./air/session-failure.ts";
import type { SessionFailureReading } from "./air/session-failure.ts";
import { AdapterWords } from "./adapter-words.ts";
import type { AnsweredQuestion } from "./agent-question.ts";
import { AnswerText } from "./answer.ts";
import type { AttemptOptions } from "./attempt-options.ts";
import { CompactionWatch } from "./compaction-watch.ts";
import type { Frame } from "./frames.ts";
import { unshownMedia } from "./chunk-media.ts";
import { MessageIds } from "./ended-turns.ts";
import { wordsFor } from "./heard.ts";
import { OpenCommands } from "./open-commands.ts";
import { failureFromRecord, plainVerdict } from "./make-failure.ts";
import { isObject } from "./frames.ts";
import { readChunkText, readCodexStatus, readProgress, str } from "./normalize.ts";
import { replaySafetyOf } from "./outcome.ts";
import type { AttemptFacts, Ending } from "./outcome.ts";
import type { ExtensionReading } from "./ports.ts";
import { followSideWork } from "./side-work.ts";
import { TurnWarnings } from "./turn-warnings.ts";
import type { TurnEventBody } from "./events.ts";
import type { PermissionRequest } from "./types.ts";

/** A record id in the notice namespace tells something, it does not announce a retry (seed document 000, identity). */
const NOTICE_ID = ":notice:";

export class Attempt {
  readonly answer: AnswerText;
  /** The text of last resort when nothing else was said. */
  readonly adapterWords = new AdapterWords();
  readonly warnings: TurnWarnings;
  readonly messageIds: MessageIds;
  /** Commands in flight; none where the harness ends them itself. */
  readonly commands = new OpenCommands();
  handedOver = false;
  /** The caller aborted or a deadline struck: whatever the harness still answers, this is how the attempt ends. */
  override: Ending | undefined;
  /** What was last heard of the harness, for the sentence of a deadline. */
  lastHeard = "nothing";
  #options: AttemptOptions;
  #structured = false;
  #toolStarted = false;
  /** A tool may have run although no frame of this turn says so: nothing is sent again. */
  #toolPossible = false;
  #systemError: { words: AdapterWords; codexError: unknown } | undefined;
  #codexError: unknown;
  #refusal: AttemptFacts["refusal"];
  #cancelledPermission = false;
  #unreadable: string | undefined;
  readonly #compactions: CompactionWatch;
  #ended = false;

  constructor(options: AttemptOptions) {
    const { from, keepText, emit } = options;
    this.#options = options;
    this.answer = from?.answer ?? new AnswerText({ keep: keepText, emit });
    this.warnings = from?.warnings ?? new TurnWarnings();
    this.messageIds = from?.messageIds ?? new MessageIds();
    this.#compactions = new CompactionWatch(options);
    if (from !== undefined) this.answer.goOn();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** An update of this session. */
  update(update: Frame): void {
    switch (update["sessionUpdate"]) {
      case "agent_message_chunk":
        this.#chunk(update);
        return;
      case "agent_thought_chunk":
        this.#heard("a thought");
        this.messageIds.saw(update["messageId"]);
        this.#emitThought(update);
        return;
      case "tool_call":
      case "tool_call_update":
        this.#tool(update);
        return;
      case "session_info_update":
        this.#info(update);
        return;
      default:
        this.#news(this.#options.reader.read(update));
    }
  }

  /** A frame of a session that we did not open (a child of this one): a sign of life, and a tool of it has run. */
  foreignFrame(isTool = false, events: readonly TurnEventBody[] = []): void {
    if (this.#ended) return;
    this.#heard("a subagent");
    this.#toolStarted ||= isTool;
    this.#pass(events);
  }

  /** A tool ran, and whose it is nobody can say: it may be this turn's. */
  toolPossible(): void {
    this.#toolPossible = true;
  }

  /** A sentence of Ostler's own for the person. */
  notice(text: string): void {
    if (!this.#ended) this.#options.emit({ type: "notice", from: "ostler", text });
  }

  /** Without `isSign` it does not show that this turn is alive: news that names no session. */
  extension(reading: ExtensionReading, isSign = true): void {
    const events = this.#options.reader.readExtension(reading);
    const retry = events.find((event) => event.type === "retry");
    if (retry !== undefined) {
      this.answer.retried();
      this.lastHeard = retry.reason;
    } else if (isSign) this.#options.clocks.frame();
    this.#refusal = reading.refusal ?? this.#refusal;
    this.#pass(events);
    if (reading.compaction?.state === "failed") this.#compactions.mayBeTheEnd((ending) => this.end(ending));
  }

  /** A person or a policy decides: the harness is not silent. Returns the release. */
  hold(question: AnsweredQuestion["type"]): () => void {
    this.#heard(question === "permission" ? "a permission question" : "a question");
    return this.#options.clocks.hold();
  }

  /** There is no permission callback: the turn ends, and says what was asked. */
  needsPermission(request: PermissionRequest): void {
    const title = `The agent asked for permission and nobody can answer: ${request.title}`;
    const verdict = plainVerdict("gate", PERMISSION_NEEDED_RULE);
    this.#options.onPermissionNeeded({ type: "fact", verdict, source: "rpc_error", title });
  }

  /** Our answer to a question of the agent, for the facts and the reader. */
  answered(answered: AnsweredQuestion): void {
    if (this.#ended) return;
    const { answer, type } = answered;
    if (answer.action === "accept" || (answer.action === "select" && !answer.denied)) this.#toolPossible = true;
    if (type === "permission" && answer.action === "cancel") this.#cancelledPermission = true;
    this.#options.emit(answered);
    if (answered.type !== "permission" || answered.answer.denied) return;
    for (const event of this.#options.reader.tools.allowed(answered.request)) this.#options.emit(event);
  }

  /** The prompt was answered, or something made an answer impossible. The first ending stays. */
  end(ending: Ending): void {
    if (this.#ended) return;
    this.#ended = true;
    this.answer.finish();
    const how = this.override ?? ending;
    for (const event of this.#compactions.close(how, this.#systemError !== undefined)) this.#options.emit(event);
    this.#options.onEnd(how);
  }

  facts(): AttemptFacts {
    const { backend, latch, turnId, attempt, context } = this.#options;
    return {
      turnId,
      attempt,
      handedOver: this.handedOver,
      output: this.answer.visible || this.#toolStarted || this.#structured || this.#compactions.isDone,
      toolStarted: this.#toolStarted || this.#toolPossible,
      raisedError: latch.raisedError,
      unreadable: this.#unreadable,
      adapterWords: !this.adapterWords.isEmpty,
      systemError: this.#systemError && { ...this.#systemError, text: this.#systemError.words.text },
      refusal: this.#refusal,
      refusalIsOurs:
        this.#cancelledPermission && backend.refusesAfterCancelledPermission && this.#refusal === undefined,
      failedCompaction: this.#compactions.failure,
      context,
    };
  }

  /** Takes in a record of either carrier; warnings and background errors are kept as warnings of the turn. */
  record(reading: SessionFailureReading, carrier: "terminal" | "async"): void {
    if (reading.kind === "unusable" && carrier === "async") this.#unreadable ??= reading.why;
    if (reading.kind !== "ok") return;
    const { record } = reading;
    const { latch, context } = this.#options;
    if (latch.accept(record) === "stale") return;
    const failure = failureFromRecord(record, context, replaySafetyOf(this.facts()));
    this.warnings.delete(record.id);
    if (record.severity === "error" && carrier === "terminal") return;
    this.warnings.keep(failure);
    this.#options.onRecord(failure);
    const isProgress = record.severity === "warning" && !record.id.includes(NOTICE_ID);
    if (isProgress) {
      this.lastHeard = failure.title;
      this.answer.retried();
      this.#options.emit({ type: "retry", by: "harness", ...readProgress(failure.title), reason: failure.title });
    }
    this.#options.emit({ type: "warning", failure });
  }

  #chunk(update: Frame): void {
    const text = readChunkText(update);
    this.#heard("answer text");
    const { backend, emit } = this.#options;
    if (backend.interruptedText !== undefined && text.trim() === backend.interruptedText) {
      emit({ type: "notice", from: "adapter", text });
      this.end({ type: "interrupted" });
      return;
    }
    if (backend.isAdapterWords(update, this.#systemError !== undefined)) {
      (this.#systemError?.words ?? this.adapterWords).add(text);
      emit({ type: "notice", from: "adapter", text });
      return;
    }
    const notice = unshownMedia(update);
    if (notice !== undefined) emit(notice);
    this.#structured ||= notice !== undefined;
    const id = update["messageId"];
    this.messageIds.saw(id);
    this.answer.chunk(text, typeof id === "string" ? id : undefined);
  }

  #tool(update: Frame): void {
    const { reader, clocks, emit } = this.#options;
    const events = reader.read(update);
    this.answer.boundary();
    if (reader.compactions.isCall(update)) return this.#news(events);
    this.#toolStarted = true;
    for (const event of events) {
      if (event.type === "tool") {
        this.#heard(`tool call "${event.title}" ${event.status}`);
        const isRunning = event.status === "pending" || event.status === "in_progress";
        if (isRunning && event.isBackgrounded !== true) clocks.toolStarted(event.toolCallId);
        else clocks.toolEnded(event.toolCallId);
        if (this.#options.backend.leavesCancelledCommands) this.commands.follow(event, isRunning);
      }
      emit(event);
    }
  }

  #emitThought(update: Frame): void {
    const messageId = str(update["messageId"]);
    const text = readChunkText(update);
    this.#options.emit({ type: "thought", text, ...(messageId !== undefined && { messageId }) });
  }

  /** Everything that is neither text nor a tool call: an event as it was read. */
  #news(events: readonly TurnEventBody[]): void {
    const [first] = events;
    const what = first && wordsFor(first);
    if (first === undefined) this.#options.clocks.frame();
    else if (what !== undefined) this.#heard(what);
    this.#pass(events);
  }

  /** To the reader, with what they mean for the turn. */
  #pass(events: readonly TurnEventBody[]): void {
    for (const event of events) {
      this.#structured ||= event.type === "plan";
      this.#toolStarted = followSideWork(event, this.#options.clocks) || this.#toolStarted;
      this.#options.emit(event);
      const warning = this.#compactions.take(event);
      if (warning === undefined) continue;
      this.warnings.keep(warning);
      this.#options.onRecord(warning);
      this.#options.emit({ type: "warning", failure: warning });
    }
  }

  #info(update: Frame): void {
    this.#pass(this.#options.reader.read(update));
    const { _meta: meta } = update;
    if (!isObject(meta)) return;
    const reading = readSessionFailure(meta);
    if (reading.kind === "ok" && reading.record.severity === "warning") {
      this.record(reading, "async");
      return;
    }
    const codex = readCodexStatus(meta);
    if (codex?.willRetry === true) {
      // The plain client's sign of codex's own retry: no record comes with it.
      this.answer.retried();
      this.lastHeard = codex.message;
      this.#options.emit({ type: "retry", by: "harness", ...readProgress(codex.message), reason: codex.message });
      return;
    }
    if (this.lastHeard === "nothing") this.lastHeard = "a status update";
    if (codex?.isPlain !== true) this.#options.clocks.frame();
    if (codex?.error !== undefined) this.#codexError = codex.error;
    if (codex?.systemError === true) this.#systemError = { words: new AdapterWords(), codexError: this.#codexError };
    else if (this.#systemError !== undefined && codex?.error !== undefined) this.#systemError.codexError = codex.error;
    this.record(reading, "async");
  }

  #heard(what: string): void {
    this.lastHeard = what;
    this.#options.clocks.frame();
  }
}
