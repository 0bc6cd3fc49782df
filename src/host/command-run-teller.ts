/**
 * Who hears of a background command: whoever asked for it, as long as they listen, and otherwise a command of the user's or
 * the notice box. The end of a run is told also when nothing of it failed, for somebody waits for it.
 */
import type { Notification, NotificationSink } from "../failures/notification.ts";
import { Notifier } from "../failures/notify/notifier.ts";
import type { RunOutcome } from "./command-run-context.ts";
import type { CommandLaunch, RunNews } from "./command-run-launch.ts";
import { commandSink } from "./command-run-notify.ts";
import type { RunRecord } from "./command-run-record.ts";

export interface TellerOptions {
  readonly launch: CommandLaunch;
  readonly record: RunRecord;
  /** Of the notification command. */
  readonly env: Readonly<Record<string, string>>;
  /** Where notifications wait that nobody takes. */
  readonly box: NotificationSink;
  /** To whoever asked for the run. Resolves with false when nobody listens any more. */
  readonly tell: (news: RunNews) => Promise<boolean>;
}

export class RunTeller {
  readonly #options: TellerOptions;
  readonly #notifier: Notifier;
  readonly #unseen: NotificationSink;
  /** Whoever asked was told already what the end will say. */
  #isHeard = false;
  #wasStopped = false;

  constructor(options: TellerOptions) {
    this.#options = options;
    const { record, launch, env, box } = options;
    this.#unseen =
      launch.notifyCommand === undefined ? box : commandSink(launch.notifyCommand, { env, otherwise: box });
    const wasStopped = (): boolean => this.#wasStopped;
    this.#notifier = new Notifier({
      journal: record.journal,
      readMeta: () => record.meta,
      markTold: (moment) => record.markTold(moment),
      sink: { deliver: (notification) => this.#deliver(notification) },
      // Whoever stops a run knows that it ended.
      get announcesEnd() {
        return !wasStopped();
      },
    });
  }

  /** To be called after each change of the journal. */
  look(): void {
    this.#notifier.look();
  }

  async started(): Promise<void> {
    await this.#options.tell({ type: "started", runId: this.#options.record.id });
  }

  async unstarted(sentence: string): Promise<void> {
    this.#isHeard = await this.#options.tell({ type: "unstarted", runId: this.#options.record.id, sentence });
  }

  /** Once the metadata says how the run ended. What cannot be told now is told by the next Ostler. */
  async ended({ status }: RunOutcome): Promise<void> {
    this.#wasStopped = status === "cancelled";
    await this.#notifier.ended("completion");
    await this.#notifier.close();
  }

  async #deliver(notification: Notification): Promise<void> {
    if (this.#isHeard) return;
    const { launch, tell } = this.#options;
    const isShown = launch.awaited && (await tell({ type: "notice", text: notification.text }));
    if (launch.notifyCommand !== undefined || !isShown) await this.#unseen.deliver(notification);
  }
}
