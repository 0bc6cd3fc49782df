/** The Ostler that runs a kept session, where one does, and what it says when it is asked for something. */
import { AcpError } from "../../errors/acp-error.ts";
import type { FailureKind } from "../../errors/failure.ts";
import type { ConversationRecord } from "../../host/conversation-records.ts";
import { OwnerCallError } from "../../host/owner-client.ts";
import type { OwnerCallProblem } from "../../host/owner-client.ts";
import { RPC } from "../../host/owner-protocol.ts";
import { socketPathOf } from "../../host/owner-socket.ts";
import { busyError } from "../../host/ownership.ts";
import type { Store } from "../../host/store.ts";

/** What may be tried again in a moment, and what took too long. */
const KIND_OF: Readonly<Record<OwnerCallProblem, FailureKind>> = {
  gone: "busy",
  closed: "busy",
  timeout: "timeout",
  refused: "request_rejected",
  unreadable: "request_rejected",
};

/** Its socket; undefined = nobody runs the session. Throws kind `busy` for an owner that cannot be reached from here. */
export function ownerSocketOf(store: Store, { owner }: ConversationRecord): string | undefined {
  if (owner === undefined) return undefined;
  if (owner.elsewhere) throw busyError(owner);
  return socketPathOf(store.paths, owner);
}

/** The answer of an owner. Throws an `AcpError` for a call that failed. */
export async function answered<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof OwnerCallError)) throw error;
    const isOpening = error.code === RPC.methodNotFound;
    const message = isOpening ? "The session is being opened; try again in a moment" : error.message;
    throw new AcpError(message, { kind: isOpening ? "busy" : KIND_OF[error.reason], cause: error });
  }
}
