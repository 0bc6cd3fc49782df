/**
 * A conversation that outlives its process: found or made in the store, owned by one Ostler at a time, its turns written
 * down before their prompt is sent, so that the next owner knows which one was cut.
 */
import { newTurnId } from "../acp/turn-id.ts";
import type { PromptBlock, PromptOptions, Turn, TurnOutcome } from "../acp/types.ts";
import { readJournal } from "../failures/journal/read-journal.ts";
import { isRunId } from "../failures/runs/ids.ts";
import { RunRegistry } from "../failures/runs/registry.ts";
import type { Conversation } from "./conversation.ts";
import { isWhole } from "./conversation-records.ts";
import type { ConversationRecord } from "./conversation-records.ts";
import { agentOf, findOrCreate } from "./find-stored.ts";
import type { StoredPlace } from "./find-stored.ts";
import type { Host, OpenStoredOptions } from "./host-options.ts";
import { requiredText } from "./owner-protocol.ts";
import { OwnerServer } from "./owner-server.ts";
import type { Paths } from "./paths.ts";
import { serveTasks } from "./owner-tasks.ts";
import { serveWork } from "./owner-work.ts";
import type { Owned } from "./ownership.ts";
import { PermissionHold } from "./permission-hold.ts";
import { GoalHolds } from "./permission-hold-file.ts";
import { waitForOwnership } from "./session-queue.ts";
import type { Waiting } from "./session-queue.ts";
import { openStore } from "./store.ts";
import type { Store } from "./store.ts";

/** An owned conversation. Closing it gives it to whoever waits. */
export class StoredConversation implements AsyncDisposable {
  readonly conversation: Conversation;
  readonly backend: string;
  readonly record: ConversationRecord;
  /** What keeps its goal from being worked on. */
  readonly hold: PermissionHold;
  readonly #owned: Owned;
  readonly #resources: AsyncDisposableStack;
  #turn: Turn | undefined;

  private constructor(
    owned: Owned,
    opened: { readonly conversation: Conversation; readonly backend: string; readonly hold: PermissionHold },
    resources: AsyncDisposableStack,
  ) {
    this.#owned = owned;
    this.#resources = resources;
    this.conversation = opened.conversation;
    this.backend = opened.backend;
    this.hold = opened.hold;
    this.record = owned.record;
  }

  /**
   * Finds or makes it, waits for it, and gets back to its session. Throws UsageError when it belongs to another agent,
   * kind `session_not_found` when there is no last one, `busy` when it is in use, and whatever `openConversation` throws.
   */
  static async open(host: Host, options: OpenStoredOptions, place: StoredPlace): Promise<StoredConversation> {
    const { onNotice, onSelected, onQueued, signal, noWait } = options;
    await using resources = new AsyncDisposableStack();
    const store = resources.use(openStore(host.paths));
    if (store.notice !== undefined) onNotice?.(store.notice);
    const found = findOrCreate(store, host, options, place);
    onSelected?.(found.backend);
    const queueLimit = host.config.limits.queue;
    const onWaiting = (waiting: Waiting): void => {
      onNotice?.(waitingSentence(waiting));
      onQueued?.(waiting.position);
    };
    const owned = resources.use(await waitForOwnership(store, found.id, { signal, noWait, queueLimit, onWaiting }));
    onQueued?.(0);
    // The owner before may have been killed: its agent must not go on in a session that another one opens.
    await host.endOrphans();
    const record = owned.record;
    const server = await listen(resources, store, host, onNotice);
    let opened: Conversation | undefined;
    const hold = new PermissionHold({
      holds: new GoalHolds(host.paths.state),
      conversationId: record.id,
      name: record.name ?? record.id,
      watchOperation: ({ runId, incidentId }) => {
        const operation = operationOf(host.paths, runId, incidentId);
        return (operation === undefined ? undefined : opened?.watchOperation(operation)) ?? (() => false);
      },
      onNotice,
    });
    const { conversation, backend } = await host.openConversation({
      ...options,
      ...agentOf(record, options),
      cwd: record.cwd,
      model: options.model ?? (record.model !== undefined && isWhole(record.model) ? record.model : undefined),
      notes: record.cut === undefined ? [] : [cutSentence(record.cut.startedAt)],
      sessionId: record.sessionId ?? undefined,
      run: {
        ...options.run,
        kept: { conversationId: record.id, runId: record.runId, onRun: (runId) => owned.keepRun(runId) },
      },
      onBound: (sessionId, contextLost) => owned.bindSession(sessionId, contextLost),
      onSession: (session, { capabilities }) => hold.listen(session, capabilities.air.goalActions),
    });
    opened = conversation;
    resources.use(conversation);
    owned.configure({ model: options.model });
    const stored = new StoredConversation(owned, { conversation, backend, hold }, resources.move());
    if (server !== undefined) serveWork(server, record.id, { session: () => conversation.session, hold });
    // One that was written while the session was being opened.
    hold.look();
    if (server !== undefined) serveTasks(server, record.id, () => conversation.session);
    server?.handle("cancel", (params) => ({ cancelled: stored.#cancel(requiredText(params, "conversation")) }));
    return stored;
  }

  /** As `Conversation.prompt`; the turn is written down first. Throws when another Ostler took the conversation over. */
  prompt(prompt: string | readonly PromptBlock[], options?: PromptOptions): Turn {
    const id = newTurnId();
    this.#owned.beginTurn(id);
    const turn = this.conversation.prompt(prompt, options);
    this.#turn = turn;
    const outcome = turn.outcome.then(async (ended) => {
      this.#turn = undefined;
      await this.#note(() => this.#owned.endTurnUnhurried(id, describeOutcome(ended)));
      return ended;
    });
    return { id: turn.id, events: turn.events, cancel: () => turn.cancel(), outcome };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }

  /** Stops the running turn, softly and on the second call at once; false when none runs, or in another conversation. */
  #cancel(conversation: string): boolean {
    if (this.#turn === undefined || conversation !== this.record.id) return false;
    this.#turn.cancel();
    return true;
  }

  /** A store that cannot be written does not change how a turn ended. */
  async #note(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch {
      // The next owner finds the turn cut, which is the careful reading.
    }
  }
}

/** A process that owns a conversation can be asked; one that cannot listen says so and works on. */
async function listen(
  resources: AsyncDisposableStack,
  store: Store,
  host: Host,
  onNotice: OpenStoredOptions["onNotice"],
): Promise<OwnerServer | undefined> {
  try {
    const server = resources.use(await OwnerServer.open(store));
    server.handle("backends/resume", (params) => ({
      resumed: host.supervisor.resume(requiredText(params, "backend")),
    }));
    return server;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    onNotice?.(`Other commands cannot reach this session: its socket could not be opened (${code})`);
    return undefined;
  }
}

/** The key that the incident of a run is grouped by; undefined when the run is gone. */
function operationOf({ state }: Paths, runId: string, incidentId: string): string | undefined {
  if (!isRunId(runId)) return undefined;
  return readJournal(new RunRegistry(state).runFolder(runId), { isLive: true }).incidents.get(incidentId)?.operation;
}

/** `failed (agent_died)`: the kind of the outcome, and of the failure behind it. */
function describeOutcome(outcome: TurnOutcome): string {
  const failure = "failure" in outcome ? outcome.failure : null;
  return failure === null ? outcome.kind : `${outcome.kind} (${failure.kind})`;
}

function waitingSentence({ position, owner }: Waiting): string {
  const before = position === 1 ? "" : `, ${position - 1} before this one`;
  return `This session is in use by process ${owner.pid}; waiting for it${before} (--no-wait ends instead)`;
}

function cutSentence(startedAt: number): string {
  const time = new Date(startedAt).toTimeString().slice(0, 8);
  return `The turn that began at ${time} was cut when its Ostler ended. Its prompt is not sent again; the agent may have done part of it`;
}
