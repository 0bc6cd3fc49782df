/** Background work and subagents of the real adapters, through `ostler ask`. Pure data. */
import type { AnthropicStep } from "../model-service/anthropic.ts";
import type { OpenAiStep } from "../model-service/openai.ts";
import { text, toolCall } from "../model-service/steps.ts";
import { completed, type Scenario, type Script } from "./scenario.ts";

/** Longer than any run may take. */
const LONG = "sleep 600";
const CUT = /"rule":"tasks-cut"/;

const inBackground = (command: string, description: string) =>
  toolCall("Bash", { command, description, run_in_background: true });
const unified = (cmd: string) => toolCall("exec_command", { cmd, yield_time_ms: 250 });

const SUBAGENT: Script<AnthropicStep> = [
  toolCall("Agent", {
    subagent_type: "general-purpose",
    description: "Small check",
    prompt: "Look around.",
    run_in_background: false,
  }),
  text("Subagent report: fine."),
  text("The subagent is done."),
];

export const CLAUDE_TASKS: readonly Scenario<AnthropicStep>[] = [
  {
    name: "a command that the turn leaves in the background is stopped and named",
    service: [inBackground(LONG, "Long work"), text("Started.")],
    ask: ["--approve", "all"],
    expect: completed("Started.", {
      prompts: [2, 3],
      says: [
        /"type":"task","taskId":"\w+","name":"Long work","taskType":"shell","state":"running"/,
        /"type":"task".*"state":"stopped".*"late":true/,
        /"title":"Background work was ended with this command: Long work \(--wait-tasks waits for it\)"/,
      ],
    }),
  },
  {
    name: "it is waited for, and what claude makes of it is shown",
    service: [inBackground("sleep 1", "Short work"), text("Started."), text("The work is done.")],
    ask: ["--approve", "all", "--wait-tasks"],
    expect: completed("Started.", {
      prompts: [3, 4],
      says: [
        /"type":"task".*"state":"completed".*"late":true/,
        /"type":"text","text":"The work is done.".*"late":true/,
      ],
      never: [CUT],
    }),
  },
  {
    name: "a subagent has a session of its own, and its words are not the answer",
    service: SUBAGENT,
    ask: ["--approve", "all"],
    expect: completed("The subagent is done.", {
      prompts: 3,
      says: [
        /"type":"subagent","subagentId":"\w+","state":"running","name":"Small check"/,
        /"type":"subagent","subagentId":"\w+","event":\{"type":"text","text":"Subagent report: fine."/,
        /"type":"subagent","subagentId":"\w+","state":"completed"/,
      ],
    }),
  },
  {
    name: "a subagent is one line when it begins and one when it ends",
    service: SUBAGENT,
    ask: ["--approve", "all"],
    format: "text",
    expect: completed("", {
      prompts: 3,
      stdout: "The subagent is done.\n",
      says: [/^▸ Subagent: Small check$/m, /^✓ Subagent done: Small check$/m],
    }),
  },
];

export const CODEX_TASKS: readonly Scenario<OpenAiStep>[] = [
  {
    name: "a command that the turn leaves in the background is stopped and named",
    service: [unified(LONG), text("Started.")],
    ask: ["--approve", "all"],
    expect: completed("Started.", {
      prompts: 2,
      mountPointsMayStay: true,
      says: [
        /"type":"task".*"name":"sleep 600","taskType":"shell","state":"running"/,
        /"type":"task".*"state":"stopped".*"late":true/,
        /"title":"Background work was ended with this command: sleep 600 \(--wait-tasks waits for it\)"/,
      ],
    }),
  },
  {
    name: "it is waited for",
    service: [unified("sleep 3"), text("Started.")],
    ask: ["--approve", "all", "--wait-tasks"],
    expect: completed("Started.", {
      prompts: 2,
      mountPointsMayStay: true,
      says: [/Waiting for background work: sleep 3/, /"type":"task".*"state":"(completed|stopped)".*"late":true/],
      never: [CUT],
    }),
  },
];
