/**
 * What is observed in each recording of the two adapters, decided by reading its frames: `start-end summary`, by the lines
 * of the recording. All others show no failure of a tool and no death; failures of turns are judged by acp, and told in
 * lines of the supervisor, which no recording has. Pure data.
 */
export interface ObservedRow {
  readonly case: string;
  readonly air?: readonly string[];
  readonly plain?: readonly string[];
  readonly both?: readonly string[];
  /** What in the frames decides. */
  readonly why: string;
}

/** codex-acp 2.6.0. */
export const CODEX: readonly ObservedRow[] = [
  {
    case: "apply-patch-approval-reject",
    air: ["9-15 edit was not allowed by Ostler: Editing files"],
    plain: ["9-16 edit was not allowed by Ostler: Editing files"],
    why: "the question was answered with reject_once; the call gets no end, the turn is cancelled by it",
  },
  {
    case: "bad-mcp-server",
    both: ["6-6 The MCP server broken did not start"],
    why: "session/new asked for the server; its start is a call that is born failed",
  },
  {
    case: "guardian-deny",
    air: [
      "10-11 think failed: Status: Denied Risk: high Authorization: low Rationale: Deletes data outside the workspace.",
      "9-12 execute failed: /bin/bash -lc 'rm -rf /data'",
    ],
    plain: [
      "10-11 think failed: Status: Denied Action: exec /bin/bash -lc 'rm -rf /data' Risk: high Authorization: low Rationale: Deletes data outside the workspace.",
      "9-12 execute failed: /bin/bash -lc 'rm -rf /data'",
    ],
    why: "the review ends failed with its reason, the command without a code",
  },
  {
    case: "guardian-garbage",
    air: [
      "10-11 think failed: Status: Denied Rationale: Automatic approval review failed: guardian assessment was not valid JSON",
      "9-12 execute failed: /bin/bash -lc 'echo hi'",
    ],
    plain: [
      "10-11 think failed: Status: Denied Action: exec /bin/bash -lc 'echo hi' Rationale: Automatic approval review failed: guardian assessment was not valid JSON",
      "9-12 execute failed: /bin/bash -lc 'echo hi'",
    ],
    why: "as guardian-deny: the review itself failed",
  },
  {
    case: "guardian-http-500",
    air: [
      "10-11 think failed: Status: Denied Rationale: Automatic approval review failed: We’re currently experiencing high demand, which may cause temporary errors.",
      "9-12 execute failed: /bin/bash -lc 'echo hi'",
    ],
    plain: [
      "10-11 think failed: Status: Denied Action: exec /bin/bash -lc 'echo hi' Rationale: Automatic approval review failed: We’re currently experiencing high demand, which may cause temporary errors.",
      "9-12 execute failed: /bin/bash -lc 'echo hi'",
    ],
    why: "as guardian-deny: the review itself failed",
  },
  {
    case: "kill-adapter",
    air: ["16-16 The agent ended by SIGKILL"],
    plain: ["17-17 The agent ended by SIGKILL"],
    why: "SIGKILL in a turn or between two",
  },
  {
    case: "kill-adapter-mid-command",
    both: ["11-11 The agent ended by SIGKILL"],
    why: "SIGKILL: the exit stands for the open command",
  },
  {
    case: "shell-approval-allow-exit3",
    both: ["10-14 execute failed with exit code 3: sh -c 'echo oops >&2; exit 3'"],
    why: "allowed, then terminal_exit 3",
  },
  {
    case: "shell-approval-cancelled",
    both: ["10-13 execute was not allowed by Ostler: echo hi"],
    why: "answered with cancelled and without session/cancel",
  },
  {
    case: "shell-approval-reject",
    both: ["10-13 execute was not allowed by Ostler: echo hi"],
    why: "answered with the option of kind reject_once",
  },
  {
    case: "shell-exit3",
    both: ["9-11 execute failed with exit code 3: sh -c 'echo oops >&2; exit 3'"],
    why: "terminal_exit 3",
  },
  {
    case: "shell-grep-nomatch",
    air: ["9-10 exec_command failed: Search for 'needle' in notes.txt"],
    plain: ["9-10 exec_command failed with exit code 1: Search for 'needle' in notes.txt"],
    why: "a search: status alone for AIR, rawOutput.exit_code 1 for plain",
  },
  {
    case: "term-adapter",
    air: ["17-17 The agent ended by SIGTERM"],
    plain: ["16-16 The agent ended by SIGTERM"],
    why: "SIGTERM in a turn",
  },
  {
    case: "async-task-stop",
    air: [],
    plain: ["9-17 execute has no result: its turn ended without one: sleep 30"],
    why: "AIR says that the command became a background task, and Ostler ended it; plain only leaves the call open",
  },
];

/** claude-agent-acp 0.101.0. */
export const CLAUDE: readonly ObservedRow[] = [
  {
    case: "bash-background-fail",
    air: ["22-45 Bash failed"],
    why: "the call ended well when it went into the background; its task ends as failed (exit code 4, in words alone)",
  },
  {
    case: "ask-question-cancel",
    both: [
      "22-27 AskUserQuestion was not allowed by the agent: Tool permission request failed: Error: Tool use aborted",
    ],
    why: "nonExecutionKind permission-rule after a cancelled form",
  },
  {
    case: "ask-question-unsupported",
    air: [
      "22-25 AskUserQuestion failed: <tool_use_error>Error: No such tool available: AskUserQuestion. AskUserQuestion is disabled for this session, in subagents as well as here.</tool_use_error>",
    ],
    plain: [
      "22-24 AskUserQuestion failed: <tool_use_error>Error: No such tool available: AskUserQuestion. AskUserQuestion is disabled for this session, in subagents as well as here.</tool_use_error>",
    ],
    why: "failed with a text",
  },
  {
    case: "bash-exit3",
    air: ["23-31 Bash failed: echo out; echo problem >&2; exit 3"],
    plain: ["23-29 Bash failed: echo out; echo problem >&2; exit 3"],
    why: "terminal_exit 1 beside failed is coarse for AIR; plain has no code at all",
  },
  {
    case: "bash-not-found",
    air: ["23-31 Bash failed: no_such_program_zz --x"],
    plain: ["23-29 Bash failed: no_such_program_zz --x"],
    why: "as bash-exit3",
  },
  {
    case: "bash-perm-cancelled",
    air: ["23-30 Bash was not allowed by Ostler: touch marker.txt"],
    plain: ["23-29 Bash was not allowed by Ostler: touch marker.txt"],
    why: "answered with cancelled and without session/cancel",
  },
  {
    case: "bash-perm-error",
    air: ["23-30 Bash was not allowed by the agent: touch marker.txt"],
    plain: ["23-29 Bash was not allowed by the agent: touch marker.txt"],
    why: "the client answered with an error: not a word of the policy",
  },
  {
    case: "bash-reject",
    air: ["23-30 Bash was not allowed by Ostler: touch marker.txt && echo hi"],
    plain: ["23-29 Bash was not allowed by Ostler: touch marker.txt && echo hi"],
    why: "answered with the option of kind reject_once",
  },
  {
    case: "bash-timeout",
    air: ["24-31 Bash failed: sleep 20"],
    plain: ["24-29 Bash failed: sleep 20"],
    why: "as bash-exit3: that it timed out stands in a text alone",
  },
  {
    case: "edit-no-match",
    air: ["29-33 Edit failed: <tool_use_error>String to replace not found in file. String: omega</tool_use_error>"],
    plain: ["29-34 Edit failed: <tool_use_error>String to replace not found in file. String: omega</tool_use_error>"],
    why: "failed with a text",
  },
  {
    case: "kill-adapter-idle",
    air: ["29-29 The agent ended by SIGKILL"],
    plain: ["28-28 The agent ended by SIGKILL"],
    why: "SIGKILL in a turn or between two",
  },
  {
    case: "kill-adapter-mid-tool",
    air: ["29-29 The agent ended by SIGKILL"],
    plain: ["28-28 The agent ended by SIGKILL"],
    why: "SIGKILL: the exit stands for the open command",
  },
  {
    case: "kill-adapter-mid-turn",
    air: ["32-32 The agent ended by SIGKILL"],
    plain: ["29-29 The agent ended by SIGKILL"],
    why: "SIGKILL in a turn",
  },
  {
    case: "kill-adapter-turn-ends",
    air: ["29-29 The agent ended by SIGKILL"],
    plain: ["27-27 The agent ended by SIGKILL"],
    why: "SIGKILL in a turn",
  },
  {
    case: "load-after-kill",
    air: ["30-30 The agent ended by SIGKILL"],
    plain: ["26-26 The agent ended by SIGKILL"],
    why: "SIGKILL of the first process; the replay in the second tells nothing",
  },
  {
    case: "load-after-tool-failure",
    air: ["23-31 Bash failed: echo out; exit 3"],
    plain: ["22-28 Bash failed: echo out; exit 3"],
    why: "the failure of the first process; its replay in the second is not told again",
  },
  {
    case: "read-missing",
    air: ["22-26 Read failed: File does not exist. Note: your current working directory is /workspace."],
    plain: ["22-25 Read failed: File does not exist. Note: your current working directory is /workspace."],
    why: "failed with a text",
  },
  {
    case: "seq-tools",
    air: [
      "48-56 Bash failed: echo out; echo problem >&2; exit 3",
      "115-122 Bash failed: no_such_program_zz --x",
      "139-146 Bash failed: sleep 20",
      "161-165 Read failed: File does not exist. Note: your current working directory is /workspace.",
      "185-189 Edit failed: <tool_use_error>String to replace not found in file. String: omega</tool_use_error>",
      "201-203 NoSuchTool failed: <tool_use_error>Error: No such tool available: NoSuchTool</tool_use_error>",
      "218-221 Bash failed: echo hi",
    ],
    plain: [
      "46-54 Bash failed: echo out; echo problem >&2; exit 3",
      "113-119 Bash failed: no_such_program_zz --x",
      "134-141 Bash failed: sleep 20",
      "156-159 Read failed: File does not exist. Note: your current working directory is /workspace.",
      "180-185 Edit failed: <tool_use_error>String to replace not found in file. String: omega</tool_use_error>",
      "198-200 NoSuchTool failed: <tool_use_error>Error: No such tool available: NoSuchTool</tool_use_error>",
      "214-216 Bash failed: echo hi",
    ],
    why: "seven of its prompts end in a failed call; grep, rg and the four retries do not",
  },
  {
    case: "tool-bad-input",
    air: ["23-26 Bash failed: echo hi"],
    plain: ["22-24 Bash failed: echo hi"],
    why: "terminal_exit 1 is coarse",
  },
  {
    case: "tool-unknown",
    both: ["22-24 NoSuchTool failed: <tool_use_error>Error: No such tool available: NoSuchTool</tool_use_error>"],
    why: "failed with a text",
  },
];
