/** What is told of a run without being asked, and who takes it. Types only. */
import type { Incident } from "./records.ts";

/** Why somebody is told: while it runs, at its end, or because nobody supervises it any more. */
export type NotificationMoment = "running" | "completion" | "orphaned" | "lost" | "late-gap";

export interface Notification {
  readonly runId: string;
  readonly moment: NotificationMoment;
  /** The incidents that it delivers, in the order of its rows; those that it only counts come last. */
  readonly incidents: readonly Incident[];
  /** The words, lines joined by newlines; within the budget of the moment. */
  readonly text: string;
}

/** A surface that takes notifications. */
export interface NotificationSink {
  /** Resolves when it has accepted the notification for good; a rejection has it offered again later. */
  deliver(notification: Notification): Promise<void>;
}
