/** The conversation that one `ostler ask` speaks in: its own, or one that is kept under a name. */
import type { Session } from "../../acp/session-link.ts";
import type { PromptBlock, PromptOptions, Turn } from "../../acp/types.ts";
import type { Host, OpenConversationOptions } from "../../host/host-options.ts";
import type { PermissionHold } from "../../host/permission-hold.ts";
import { noteRecentSession } from "../../host/recent-sessions.ts";
import type { Run } from "./ask-turn.ts";

/** What a prompt is sent to. */
export interface Opened {
  /** The one that it is bound to now. */
  readonly session: Session;
  /** What keeps the goal of a kept session from being worked on. */
  readonly hold?: PermissionHold;
  prompt(prompt: string | readonly PromptBlock[], options: PromptOptions): Turn;
}

/** Opens it; the run closes it at its end. Throws what keeps it from opening. */
export async function openConversation(
  run: Run,
  host: Host,
  options: OpenConversationOptions & { readonly cwd: string },
): Promise<Opened> {
  const { session: name, continue: isLast } = run.request.options;
  if (name !== undefined) return openStored(run, host, { ...options, which: { name } });
  if (isLast) return openStored(run, host, { ...options, which: { last: true } });
  const { conversation, backend } = await host.openConversation(options);
  run.resources.use(conversation);
  return {
    get session() {
      return conversation.session;
    },
    prompt(prompt, how) {
      const turn = conversation.prompt(prompt, how);
      const { load, resume } = conversation.runtime.capabilities;
      if (load || resume) void turn.outcome.then(({ sessionId }) => remember(sessionId));
      return turn;
    },
  };

  function remember(sessionId: string | null): void {
    const { cwd, agent, profile } = options;
    if (sessionId === null) return;
    noteRecentSession(host.paths, { cwd, backend, agent, profile, sessionId, at: Date.now() });
  }
}

async function openStored(
  run: Run,
  host: Host,
  options: OpenConversationOptions & { readonly cwd: string; readonly which: { name: string } | { last: true } },
): Promise<Opened> {
  const { which } = options;
  const newConversation =
    "name" in which
      ? `To begin anew, take another name, or forget this session: ostler sessions close ${which.name}`
      : "To begin anew, ask without --continue.";
  run.words = { ...run.words, newConversation };
  const noWait = run.request.options["no-wait"];
  const onQueued = (position: number) => run.presenter.queued(position > 0);
  const stored = await host.openStored({ ...options, noWait, onQueued });
  run.resources.use(stored);
  return {
    get session() {
      return stored.conversation.session;
    },
    hold: stored.hold,
    prompt: (prompt, how) => stored.prompt(prompt, how),
  };
}
