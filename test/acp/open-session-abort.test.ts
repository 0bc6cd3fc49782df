import { expect, test } from "vitest";
import { reply, turns } from "../fixtures/agents/scenario.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { rejectionOf, start } from "./drive.ts";

const silent: readonly Action[] = [];
const scenario = {
  ...turns([]),
  newResult: {
    modes: { currentModeId: "ask", availableModes: [{ id: "ask" }, { id: "plan" }] },
    models: { currentModelId: "small", availableModels: [{ modelId: "small" }, { modelId: "large" }] },
  },
};

test.each([
  { method: "session/new", open: {} },
  { method: "session/set_mode", open: { mode: "plan" } },
  { method: "session/set_model", open: { model: "large" } },
  { method: "session/set_config_option", open: { configOptions: { effort: "high" } } },
])("giving up while $method is not answered", async ({ method, open }) => {
  const stop = new AbortController();
  await using agent = await start(
    {
      ...scenario,
      on: { [method]: [silent], "session/close": [[reply({})]] },
      initializeResult: { agentCapabilities: { sessionCapabilities: { close: {} } } },
    },
    {
      tap: (entry) => {
        if (entry.dir === "out" && isCall(entry.frame, method)) stop.abort(new Error("given up"));
      },
    },
  );
  const error = await rejectionOf(agent.open({ ...open, signal: stop.signal }));
  expect(error.message).toBe("given up");
});

function isCall(frame: unknown, method: string): boolean {
  return typeof frame === "object" && frame !== null && "method" in frame && frame.method === method;
}
