/** The embedded demo agent: a real child process that speaks ACP and answers without any model. */
import type { Backend } from "../acp/ports.ts";
import { genericHabits } from "./generic.ts";

const ASKS_FIRST = "ask";
const ASKS: ReadonlyMap<string, boolean> = new Map([
  [ASKS_FIRST, true],
  ["auto", false],
]);

export const demoBackend: Backend = {
  ...genericHabits,
  id: "demo",
  label: "Demo",
  sessionsPerRuntime: Infinity,
  toolGate: () => "by_mode",
  modeToSet: (modes) => (modes === undefined || modes.current === ASKS_FIRST ? undefined : ASKS_FIRST),
  modeAsks: (mode) => ASKS.get(mode),
  needsNoLogin: true,
  loginHint: "The demo agent needs no login: this is `/auth` showing what a missing one looks like",
};
