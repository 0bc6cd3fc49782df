/** What is said before the first frame of a turn: which session answers, and what could not be had as asked. */
import type { AcpSession } from "./session.ts";
import type { TurnChannel } from "./turn.ts";

/** Tells the log and the reader; the notes of a session are told in its first turn. */
export function announceTurn(session: AcpSession, turnId: string, channel: TurnChannel): void {
  const { link, id, turns, notes, desk } = session;
  link.log?.("info", "turn.began", { turnId, sessionId: id, backend: link.backend.id });
  const now = session.feed.reader.now.describe();
  if (now !== undefined) channel.emit(now);
  for (const answered of desk.takeEarly()) channel.emit(answered);
  for (const event of session.feed.takeEarly()) channel.emit(event);
  for (const text of turns === 1 ? notes : []) channel.emit({ type: "notice", from: "ostler", text });
}
