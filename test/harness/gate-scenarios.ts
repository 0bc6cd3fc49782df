/**
 * `gate: required` on the real harnesses: whatever their own settings allow, a tool that the policy did not allow does
 * nothing. Pure data; every row has a policy that allows nothing.
 */
import { join } from "node:path";
import { applyPatch } from "../model-service/openai.ts";
import type { OpenAiStep } from "../model-service/openai.ts";
import type { AnthropicStep } from "../model-service/anthropic.ts";
import { text, toolCall } from "../model-service/steps.ts";
import { codexConfigFile, fileBelow, strictGate } from "./scenario-files.ts";
import { codexConfig } from "./scenario-home.ts";
import type { ScenarioHome } from "./scenario-home.ts";
import { cancelled, completed, failed } from "./scenario.ts";
import type { Expected, Scenario, Script } from "./scenario.ts";

/** The session never gets as far as its first prompt. */
function refusedFor(reason: RegExp): Expected {
  return failed("gate", "never", 5, 0, { attempts: 0, says: [reason] });
}

/** The policy said no, and the model went on without. */
const DENIED: Expected = completed("Done.", { prompts: 2, says: [/"type":"permission".*"denied":true/] });

function claudeWrites({ workspace }: ScenarioHome): Script<AnthropicStep> {
  return [toolCall("Write", { file_path: join(workspace, "made.txt"), content: "line one\n" }), text("Done.")];
}

function claudeSettings(settings: object): (home: ScenarioHome) => readonly string[] {
  return (home) => {
    fileBelow(home.userHome, ".claude/settings.json", JSON.stringify(settings));
    return strictGate(home);
  };
}

/** A hook that says `allow` to everything. */
function allowingHook(event: string, decision: object): object {
  const said = JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...decision } });
  return { hooks: { [event]: [{ matcher: "*", hooks: [{ type: "command", command: `echo '${said}'` }] }] } };
}

const CLAUDE_MODES: readonly Scenario<AnthropicStep>[] = ["auto", "acceptEdits", "bypassPermissions"].map((mode) => ({
  name: `the mode ${mode} is refused before the session begins`,
  service: claudeWrites,
  ask: ["--mode", mode],
  prepare: strictGate,
  expect: refusedFor(new RegExp(`in mode .*\\b${mode}\\b.*requires that it asks`)),
}));

export const CLAUDE_GATES: readonly Scenario<AnthropicStep>[] = [
  ...CLAUDE_MODES,
  {
    name: "a default mode of the user's that does not ask is left",
    service: claudeWrites,
    prepare: claudeSettings({ permissions: { defaultMode: "acceptEdits" } }),
    expect: DENIED,
  },
  {
    name: "allow rules of the user's do not count",
    service: claudeWrites,
    prepare: claudeSettings({ permissions: { allow: ["Write", "Edit", "Bash"] } }),
    expect: DENIED,
  },
  {
    name: "allow rules of the folder do not count",
    service: [toolCall("Bash", { command: "touch made.txt", description: "Make a file" }), text("Done.")],
    prepare: (home) => {
      const settings = { permissions: { allow: ["Bash(touch:*)"] } };
      fileBelow(home.workspace, ".claude/settings.local.json", JSON.stringify(settings));
      return strictGate(home);
    },
    expect: { ...DENIED, files: [".claude"] },
  },
  {
    name: "a hook that allows before the tool runs does not count",
    service: claudeWrites,
    prepare: claudeSettings(allowingHook("PreToolUse", { permissionDecision: "allow", permissionDecisionReason: "x" })),
    expect: DENIED,
  },
  {
    name: "a hook that answers permission requests does not count",
    service: claudeWrites,
    prepare: claudeSettings(allowingHook("PermissionRequest", { decision: { behavior: "allow" } })),
    expect: DENIED,
  },
  {
    name: "a subagent that may edit without asking asks before it begins",
    service: [toolCall("Agent", { subagent_type: "maker", description: "Make", prompt: "Make it." }), text("Done.")],
    prepare: (home) => {
      const head = "name: maker\ndescription: Makes files.\npermissionMode: acceptEdits";
      fileBelow(home.userHome, ".claude/agents/maker.md", `---\n${head}\n---\nMake the file.\n`);
      return strictGate(home);
    },
    expect: DENIED,
  },
  {
    name: "reading in the workspace is asked about, too",
    service: ({ workspace }) => [toolCall("Read", { file_path: join(workspace, "notes.txt") }), text("Done.")],
    prepare: strictGate,
    expect: DENIED,
  },
];

/** A command outside the sandbox. */
const CODEX_ESCALATES = toolCall("exec_command", {
  cmd: "touch made.txt",
  sandbox_permissions: "require_escalated",
  justification: "May I make a file?",
});

function codexAllows(settings: string): (home: ScenarioHome, url: string) => readonly string[] {
  return (home, url) => {
    codexConfigFile(home, `${settings}\n${codexConfig(url)}`);
    return strictGate(home);
  };
}

const ANYTHING_GOES = codexAllows('approval_policy = "never"\nsandbox_mode = "danger-full-access"');

const CODEX_MODES: readonly Scenario<OpenAiStep>[] = ["workspace-write", "agent", "agent-full-access"].map((mode) => ({
  name: `the mode ${mode} is refused before the session begins`,
  service: [CODEX_ESCALATES, text("Done.")],
  ask: ["--mode", mode],
  prepare: strictGate,
  expect: refusedFor(new RegExp(`in mode .*\\b${mode}\\b.*requires that it asks`)),
}));

export const CODEX_GATES: readonly Scenario<OpenAiStep>[] = [
  ...CODEX_MODES,
  {
    name: "a config.toml that never asks: a command outside the sandbox is asked about all the same",
    service: [CODEX_ESCALATES, text("Done.")],
    prepare: ANYTHING_GOES,
    expect: cancelled(1),
  },
  {
    name: "a config.toml that never asks: so is a patch",
    service: [applyPatch("*** Add File: made.txt", "+line one"), text("Done.")],
    prepare: ANYTHING_GOES,
    expect: cancelled(1),
  },
  {
    name: "a config.toml without a sandbox: a command that does not ask cannot write",
    service: [toolCall("exec_command", { cmd: "touch made.txt" }), text("Done.")],
    prepare: ANYTHING_GOES,
    expect: completed("Done.", { prompts: 2 }),
  },
  {
    name: "a config.toml that has a second model answer: the second model is not asked",
    service: [CODEX_ESCALATES, text("Done.")],
    prepare: codexAllows('approvals_reviewer = "auto_review"'),
    expect: cancelled(1),
  },
  {
    name: "with everything approved codex still asks, and the policy says yes",
    service: [CODEX_ESCALATES, text("Done.")],
    ask: ["--approve", "all"],
    prepare: ({ root }) => {
      fileBelow(root, "config/ostler/config.json", JSON.stringify({ gate: "required" }));
      return [];
    },
    expect: completed("Done.", {
      prompts: 2,
      files: ["made.txt"],
      says: [/"mode":"read-only"/, /"type":"permission"/],
    }),
  },
  {
    name: "rules that let a command run outside the sandbox: no session",
    service: [CODEX_ESCALATES, text("Done.")],
    prepare: (home) => {
      fileBelow(home.userHome, ".codex/rules/default.rules", 'prefix_rule(pattern=["touch"], decision="allow")\n');
      return strictGate(home);
    },
    expect: refusedFor(/default\.rules let commands run without asking/),
  },
];
