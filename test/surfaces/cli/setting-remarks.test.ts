import { expect, test } from "vitest";
import type { TurnEvent } from "../../../src/acp/events.ts";
import { SettingRemarks } from "../../../src/surfaces/cli/setting-remarks.ts";

const session = (model?: string, mode?: string): TurnEvent & { readonly type: "session" } => ({
  type: "session",
  sessionId: "s1",
  backend: "claude",
  ...(model !== undefined && { model }),
  ...(mode !== undefined && { mode }),
});
const mode = (modeId: string): TurnEvent & { readonly type: "mode" } => ({ type: "mode", modeId });

test.each<{ from: string; events: readonly Parameters<SettingRemarks["of"]>[0][]; said: readonly string[] }>([
  { from: "how a turn begins", events: [session("opus", "default")], said: [] },
  { from: "the next turn, as before", events: [session("opus"), session("opus")], said: [] },
  {
    from: "another model (recording claude-agent-acp 0.101.0 refusal-fallback)",
    events: [session("opus"), session("claude-opus-4-8"), session("claude-opus-4-8")],
    said: ["The agent goes on with the model claude-opus-4-8, not opus"],
  },
  { from: "a model that is told for the first time", events: [session(), session("opus")], said: [] },
  {
    from: "another mode, once",
    events: [
      session("opus", "plan"),
      mode("plan"),
      mode("acceptEdits"),
      mode("acceptEdits"),
      session("opus", "acceptEdits"),
    ],
    said: ["· The mode is now acceptEdits"],
  },
  {
    from: "names that are none",
    events: [session("a"), session("b\u001b[31m\nc"), mode(`x\u001b]0;t\u0007${"y".repeat(500)}`)],
    said: ["The agent goes on with the model b c, not a", expect.stringMatching(/^· The mode is now xy{1,99}…?$/)],
  },
])("$from", ({ events, said }) => {
  const remarks = new SettingRemarks();
  expect(events.flatMap((event) => remarks.of(event)).map(({ text }) => text)).toEqual(said);
});
