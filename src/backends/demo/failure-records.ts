/** The `sessionFailure` capability of the AIR extension, from the agent's side. */
import { airMeta } from "./client-features.ts";

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
  return airMeta({ sessionFailure: { ...state, category, title, actions } });
}
