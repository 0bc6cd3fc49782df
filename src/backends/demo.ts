/** The embedded demo agent: a real child process that speaks ACP and answers without any model. */
import type { Backend } from "../acp/ports.ts";
import { genericHabits } from "./generic.ts";

const ASKS: ReadonlyMap<string, boolean> = new Map([
  ["ask", true],
  ["auto", false],
]);

export const demoBackend: Backend = {
  ...genericHabits,
  id: "demo",
  label: "Demo",
  sessionsPerRuntime: Infinity,
  toolGate: () => "by_mode",
  modeAsks: (mode) => ASKS.get(mode),
  loginHint: "The demo agent needs no login: this is `/auth` showing what a missing one looks like",
};
