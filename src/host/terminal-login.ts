/** Declares that Ostler runs a login in a terminal (`terminal-auth`; seed document 002, Zed conventions). */
import type { Backend } from "../acp/ports.ts";

/** The habits of a backend whose agent is to offer commands to sign in with; only for whoever runs them. */
export function withTerminalLogin(backend: Backend): Backend {
  return { ...backend, capabilityMeta: { ...backend.capabilityMeta, "terminal-auth": true } };
}
