/** What the frames of one session said so far, as far as attempts are judged by it; and the sessions of a run. */
import { redact } from "../../errors/redact.ts";
import { sessionTag } from "../keys.ts";
import type { Attempt } from "./attempt.ts";

export class RunSession {
  readonly id: string;
  /** Absolute, as it came; undefined for one that was not opened by Ostler. */
  cwd: string | undefined;
  /** Ostler sends it prompts. All others are children of one that it does. */
  isPrompted = false;
  /** Between `session/load` and its answer: what comes now happened before. */
  isLoading = false;
  /** A cancel was sent for the turn that runs. */
  isCancelled = false;
  /** Prompts without an answer. */
  prompts = 0;
  /** Line of the newest prompt. */
  promptN = 0;
  /** The turn that the supervisor says runs, and the line where it began. */
  turnId: string | undefined;
  turnN = 0;
  /** The newest attempt of each call. */
  readonly calls = new Map<string, Attempt>();
  readonly open = new Set<Attempt>();
  /** Ended in the turn that runs: they may still end differently. */
  recent: Attempt[] = [];
  /** Failed without a word: either on their own, or because the backend is lost, which the end of the turn tells. */
  held: Attempt[] = [];
  #tag: string | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** Stands for the session in ids of events. Scrubbed first, as it is in the log. */
  get tag(): string {
    this.#tag ??= sessionTag(redact(this.id));
    return this.#tag;
  }

  get isWorking(): boolean {
    return this.prompts > 0 || this.turnId !== undefined;
  }
}

export class RunSessions {
  readonly #sessions = new Map<string, RunSession>();
  #latest: RunSession | undefined;
  /** Where the newest process was started. */
  cwd = "/";

  get(id: string): RunSession {
    if (this.#latest?.id === id) return this.#latest;
    let session = this.#sessions.get(id);
    if (session === undefined) {
      session = new RunSession(id);
      this.#sessions.set(id, session);
    }
    this.#latest = session;
    return session;
  }

  get all(): Iterable<RunSession> {
    return this.#sessions.values();
  }

  /** The session itself and, as nobody says whose they are, all children of the run. */
  withChildren(session: RunSession): readonly RunSession[] {
    return [session, ...[...this.all].filter((other) => other !== session && !other.isPrompted)];
  }

  cwdOf(session: RunSession): string {
    return session.cwd ?? this.cwd;
  }

  /** Whether a turn runs that the session works for. */
  isWorking(session: RunSession): boolean {
    return session.isWorking || (!session.isPrompted && this.#some((other) => other.isWorking));
  }

  /** Whether a cancel was sent for what the session does. */
  isCancelled(session: RunSession): boolean {
    return session.isCancelled || (!session.isPrompted && this.#some((other) => other.isCancelled));
  }

  #some(holds: (session: RunSession) => boolean): boolean {
    for (const session of this.all) if (session.isPrompted && holds(session)) return true;
    return false;
  }
}
