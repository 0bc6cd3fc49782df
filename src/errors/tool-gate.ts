/**
 * A leaf of its own: the gate that finds tool calls bypassing it must not depend on the error families. The families wrap
 * it as a cause.
 */

/** Tool calls of a harness would not pass the permission gate. Message: what was found, upper-case start, no full stop. */
export class ToolGateUnroutable extends Error {
  override readonly name = "ToolGateUnroutable";
}
