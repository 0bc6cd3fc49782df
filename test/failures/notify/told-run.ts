/** A run with a real journal in a folder of its own, a notifier, and a surface that does what the test says. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Journal } from "../../../src/failures/journal/journal.ts";
import type { HandOff } from "../../../src/failures/notify/hand-off.ts";
import { Notifier } from "../../../src/failures/notify/notifier.ts";
import type { NotifiedJournal, NotifyResult } from "../../../src/failures/notify/notifier.ts";
import type { EndMoment } from "../../../src/failures/notify/due.ts";
import type { Notification } from "../../../src/failures/notification.ts";
import type { JournalEvent } from "../../../src/failures/records.ts";
import type { RunMeta } from "../../../src/failures/runs/meta.ts";
import { runningMeta } from "../pages/run.ts";
import { TestClock, turns } from "./clock.ts";

export interface ToldRunOptions {
  /** Of an earlier process of the same run; a new one unless given. */
  readonly folder?: string;
  readonly clock?: TestClock;
  readonly meta?: Partial<RunMeta>;
  readonly announcesEnd?: boolean;
  readonly handOff?: HandOff;
  /** A journal that is not the folder's. */
  readonly journal?: NotifiedJournal;
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ostler-notify-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export class ToldRun {
  readonly folder: string;
  readonly clock: TestClock;
  readonly journal: Journal;
  readonly notifier: Notifier;
  /** Undefined while nobody can read it. */
  meta: RunMeta | undefined;
  readonly told: Notification[] = [];
  /** How often the surface was asked. */
  asked = 0;
  /** What the surface does before it takes a notification. */
  onDeliver: (notification: Notification) => void | Promise<void> = () => {};
  /** Whether `told` can be written down. */
  metaIsWritable = true;
  readonly #work: Promise<unknown>[] = [];

  constructor(options: ToldRunOptions = {}) {
    const { announcesEnd, handOff } = options;
    this.folder = options.folder ?? newFolder();
    this.clock = options.clock ?? new TestClock();
    this.meta = runningMeta(options.meta);
    this.journal = Journal.open(this.folder, { now: this.clock.now });
    const { journal } = this;
    const work = this.#work;
    this.notifier = new Notifier({
      journal: options.journal ?? {
        get state() {
          return journal.state;
        },
        refresh: () => journal.refresh(),
        append: (events, how) => {
          const stored = journal.append(events, how);
          work.push(stored);
          return stored;
        },
      },
      readMeta: () => this.meta,
      markTold: (moment) => this.#markTold(moment),
      sink: handOff ?? { deliver: (notification) => this.#deliver(notification) },
      announcesEnd,
      now: this.clock.now,
      setTimer: this.clock.setTimer,
    });
  }

  /** Observes, and lets the notifier look. */
  async observe(...events: readonly JournalEvent[]): Promise<void> {
    for (const event of events) await this.journal.append([event], { durable: false });
    this.notifier.look();
    await this.idle();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms, () => this.idle());
  }

  /** The metadata says it, then everybody is told. */
  async ended(
    moment: EndMoment,
    status: RunMeta["status"] = moment === "completion" ? "completed" : moment,
  ): Promise<NotifyResult> {
    if (this.meta !== undefined) this.meta = { ...this.meta, status, endedAt: this.clock.now() };
    const result = await this.notifier.ended(moment);
    await this.idle();
    return result;
  }

  /** What was told, in short. */
  get said(): readonly string[] {
    return this.told.map(({ moment, incidents }) => `${moment}: ${incidents.map(({ id }) => id).join(" ")}`);
  }

  /** Ids with a receipt. */
  get receipts(): readonly string[] {
    return [...this.journal.state.delivered.keys()];
  }

  async idle(): Promise<void> {
    await turns();
    while (this.#work.length > 0) await this.#work.shift();
    await turns();
  }

  async #deliver(notification: Notification): Promise<void> {
    this.asked += 1;
    await this.onDeliver(notification);
    this.told.push(notification);
  }

  #markTold(moment: EndMoment): void {
    if (!this.metaIsWritable) throw new Error("ENOSPC");
    if (this.meta !== undefined) this.meta = { ...this.meta, told: [...this.meta.told, moment] };
  }
}
