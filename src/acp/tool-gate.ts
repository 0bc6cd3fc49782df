/**
 * `gate: required`: every tool call has to be put to the permission policy. An agent that would run tools by itself is
 * refused before it can; what is not known counts as that.
 */
import { startError } from "./death.ts";
import { plainVerdict } from "./make-failure.ts";
import type { Backend } from "./ports.ts";

/** Throws `AcpToolGateUnroutable` when an agent started with these arguments cannot be relied upon to ask. */
export function requireAskingProcess(backend: Backend, args: readonly string[]): void {
  const { label } = backend;
  const gate = backend.toolGate(args);
  if (gate === "acts") throw unroutable(`${label} is started so that tools run without asking`);
  if (gate === "unknown") throw unroutable(`Nobody knows whether ${label} asks before its tools run`);
}

/** Throws `AcpToolGateUnroutable` when the agent does not ask in this mode, or the mode is not known. */
export function requireAskingMode(backend: Backend, mode: string | null | undefined): void {
  if (backend.toolGate([]) !== "by_mode" || (mode != null && backend.modeAsks(mode) === true)) return;
  throw unroutable(
    mode == null
      ? `${backend.label} does not say in which mode it is, so it may run tools without asking`
      : `${backend.label} is in mode "${mode}", in which tools may run without asking`,
  );
}

/** The refusal itself, for a reason that is a clause without a full stop. */
export function unroutable(title: string): Error {
  const verdict = plainVerdict("gate", "tool-gate");
  return startError({ verdict, source: "spawn", title: `${title}, and the policy requires that it asks` }, undefined);
}
