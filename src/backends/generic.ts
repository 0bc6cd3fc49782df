/** Any ACP agent: nothing backend-specific is read, its text is its text. The other backends start from here. */
import type { Backend } from "../acp/ports.ts";

export const genericHabits: Omit<Backend, "id" | "label"> = {
  profile: "generic",
  loginHint: "Sign in with the agent's own command, then ask again",
  air: true,
  notices: false,
  capabilityMeta: {},
  env: () => ({}),
  loginFromEnv: () => undefined,
  sessionMeta: () => undefined,
  loadMeta: () => undefined,
  closeRequest: (sessionId, agent) => (agent.close ? { method: "session/close", params: { sessionId } } : undefined),
  compaction: true,
  isCompactionCall: () => false,
  isReplay: () => false,
  modeToSet: () => undefined,
  modeAsks: () => undefined,
  toolGate: () => "unknown",
  sessionsPerRuntime: 1,
  retriesEmptyTurn: true,
  isAdapterWords: () => false,
  refusesAfterCancelledPermission: false,
  leavesCancelledCommands: false,
  readInfo: () => ({}),
  readExtension: () => undefined,
};
