/** The question before a tool acts, and what its answers mean for later ones. */
import type { PermissionOption, RequestPermissionOutcome } from "@agentclientprotocol/sdk/unstable";
import type { DemoSession } from "./session.ts";

/** The four options of every question. */
export const PERMISSION_OPTIONS: readonly PermissionOption[] = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "allow-always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
  { optionId: "reject-always", name: "Always reject", kind: "reject_always" },
];

/** `cancelled` = the question was withdrawn, which is neither yes nor no. */
export type Permission = "allowed" | "rejected" | "cancelled";

/** What the mode and earlier `always` answers say about an action; undefined = ask. */
export function permissionWithoutAsking(session: DemoSession, title: string): Permission | undefined {
  if (session.alwaysRejected.has(title)) return "rejected";
  return session.modeId === "auto" || session.alwaysAllowed.has(title) ? "allowed" : undefined;
}

/** Reads an answer, and keeps it when it is meant for always. An option that was never offered is no permission. */
export function takeAnswer(session: DemoSession, title: string, outcome: RequestPermissionOutcome): Permission {
  if (outcome.outcome === "cancelled") return "cancelled";
  const kind = PERMISSION_OPTIONS.find(({ optionId }) => optionId === outcome.optionId)?.kind;
  if (kind === "allow_always") session.alwaysAllowed.add(title);
  if (kind === "reject_always") session.alwaysRejected.add(title);
  return kind === "allow_once" || kind === "allow_always" ? "allowed" : "rejected";
}
