/** How a notification gets to a surface. */
import type { Notification, NotificationSink } from "../notification.ts";

/** Takes a notification that is made only when it goes, so that it says what is true then. */
export interface HandOff {
  /**
   * Resolves with what was handed over, with undefined when there was nothing to tell any more; rejects when the surface
   * did not take it.
   */
  offer(prepare: () => Notification | undefined): Promise<Notification | undefined>;
}

/** At once, one by one. */
export function handOffTo(sink: NotificationSink): HandOff {
  return {
    async offer(prepare) {
      const notification = prepare();
      if (notification !== undefined) await sink.deliver(notification);
      return notification;
    },
  };
}
