/** The `sessionFailure` capability of the AIR extension, from the agent's side. */

/** `_meta` of the initialize result: what the demo agent can send. */
export const FAILURE_RECORDS_META = { jetbrains: { air: { version: 1, capabilities: ["sessionFailure"] } } };

/** Whether a client's capability `_meta` asks for records: an integer version of 1 or more, and the exact name. */
export function negotiatesFailureRecords(meta: unknown): boolean {
  const air = property(property(meta, "jetbrains"), "air");
  const version = property(air, "version");
  const capabilities = property(air, "capabilities");
  return (
    Number.isInteger(version) &&
    Number(version) >= 1 &&
    Array.isArray(capabilities) &&
    capabilities.includes("sessionFailure")
  );
}

function property(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
