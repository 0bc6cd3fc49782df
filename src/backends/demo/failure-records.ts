/** The `sessionFailure` capability of the AIR extension, from the agent's side. */

/** `_meta` of the initialize result: what the demo agent can send. */
export const FAILURE_RECORDS_META = { jetbrains: { air: { version: 1, capabilities: ["sessionFailure"] } } };

/** A warning as a scene states it. */
export interface DemoWarning {
  readonly category: string;
  readonly title: string;
  readonly actions?: readonly string[];
}

/** A failure as a scene states it; how it travels depends on what the client negotiated. */
export interface DemoFailure extends DemoWarning {
  /** `data.errorKind` for a client without failure records, in the words of claude-agent-acp. */
  readonly errorKind: string;
}

/** `_meta` with one record. A higher revision of the same id replaces the earlier state. */
export function failureMeta(
  state: { readonly id: string; readonly revision: number; readonly severity: "warning" | "error" },
  { category, title, actions = [] }: DemoWarning,
) {
  return { jetbrains: { air: { version: 1, sessionFailure: { ...state, category, title, actions } } } };
}

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
