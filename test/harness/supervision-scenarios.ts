/**
 * Kills, stops and deadlines on the real harnesses: each row ends in one outcome, in time, with no process left and no
 * prompt sent again once a tool had started. Pure data.
 */
import type { AnthropicStep } from "../model-service/anthropic.ts";
import type { OpenAiStep } from "../model-service/openai.ts";
import { hang, text, toolCall } from "../model-service/steps.ts";
import type { CommonStep } from "../model-service/steps.ts";
import { ENDLESS_COMMAND } from "./ask.ts";
import { ostlerTimeouts } from "./scenario-files.ts";
import { cancelled, failed } from "./scenario.ts";
import type { Scenario } from "./scenario.ts";

/** Ten times what either harness needs to send the request, and less than Claude Code's own tries last. */
const FIRST_BYTE_S = 15;
const NOT_BEGUN = `did not begin to answer within ${FIRST_BYTE_S} s; last heard: `;

/** What both harnesses have to bear; `endless` is a call of the harness's tool for {@link ENDLESS_COMMAND}. */
function onEither(endless: CommonStep): readonly Scenario<CommonStep>[] {
  const runs = [endless, text("Not after that.")] as const;
  const allowed = ["--approve", "all", "--retries", "3"];
  return [
    {
      name: "kill -9 of the adapter while a command runs",
      service: runs,
      ask: allowed,
      interrupt: { when: "command", signal: "SIGKILL", target: "adapter" },
      expect: failed("agent_died", "after_respawn", 9, 1, {
        says: [/"replaySafety":"unknown"/],
        mountPointsMayStay: true,
      }),
    },
    {
      name: "kill -9 of the harness under the adapter while a command runs",
      service: runs,
      ask: allowed,
      interrupt: { when: "command", signal: "SIGKILL", target: "harness" },
      expect: failed("agent_died", "after_respawn", 9, 1, { says: [/"replaySafety":"unknown"/] }),
    },
    {
      name: "Ctrl-C while a command runs",
      service: runs,
      ask: allowed,
      interrupt: { when: "command", signal: "SIGINT", target: "ostler" },
      expect: cancelled(130),
    },
    {
      name: "Ctrl-C twice while a command runs",
      service: runs,
      ask: allowed,
      interrupt: { when: "command", signal: "SIGINT", target: "ostler", twice: true },
      expect: cancelled(130, { mountPointsMayStay: true }),
    },
    {
      name: "Ctrl-C while the harness tries again by itself",
      service: "nothing listens",
      ask: ["--retries", "3"],
      env: { CLAUDE_CODE_MAX_RETRIES: "10" },
      interrupt: { when: "retry", signal: "SIGINT", target: "ostler" },
      expect: cancelled(130, { prompts: 0 }),
    },
    {
      name: "Ctrl-C while the service says nothing",
      service: [hang()],
      interrupt: { when: "turn", signal: "SIGINT", target: "ostler" },
      expect: cancelled(130),
    },
    {
      name: "no network: the harness's own retries keep nothing alive, and the last of them is told",
      service: "nothing listens",
      ask: ["--retries", "3"],
      env: { CLAUDE_CODE_MAX_RETRIES: "10" },
      prepare: (home) => ostlerTimeouts(home, { firstByteS: FIRST_BYTE_S }),
      expect: failed("timeout", "never", 3, 0, {
        says: [new RegExp(`${NOT_BEGUN}Reconnecting`), /"replaySafety":"unknown"/],
      }),
    },
    {
      name: "a service that takes the request and says nothing",
      service: [hang()],
      ask: ["--retries", "3"],
      prepare: (home) => ostlerTimeouts(home, { firstByteS: FIRST_BYTE_S }),
      expect: failed("timeout", "never", 3, 1, { says: [new RegExp(`${NOT_BEGUN}(?:nothing|a status update)`)] }),
    },
  ];
}

export const CODEX_SUPERVISION: readonly Scenario<OpenAiStep>[] = onEither(
  toolCall("exec_command", { cmd: ENDLESS_COMMAND, yield_time_ms: 60_000 }),
);

export const CLAUDE_SUPERVISION: readonly Scenario<AnthropicStep>[] = onEither(
  toolCall("Bash", { command: ENDLESS_COMMAND, description: "Wait", timeout: 400_000 }),
);
