/**
 * The options of every command: the one table that the parser, the help, the completion scripts and the types are made
 * of. Data only.
 */

export interface OptionSpec {
  /** `list` may be given several times; every other option once. */
  readonly type: "flag" | "text" | "number" | "list";
  readonly alias?: string;
  /** What stands for the value in the help; `FILE` and `DIR` are completed as such. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Allowed values of a number, both ends included. */
  readonly min?: number;
  readonly max?: number;
  readonly whole?: boolean;
  readonly describe: string;
  readonly group: "Agent" | "Prompt" | "Output" | "Limits" | "Safety" | "General";
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;

type OptionValue<Spec extends OptionSpec> = Spec["type"] extends "flag"
  ? boolean
  : Spec["type"] extends "list"
    ? readonly string[]
    : | (Spec["type"] extends "number" ? number : Spec extends { choices: readonly (infer Choice)[] } ? Choice : string)
      | undefined;

/** The parsed values of a table, by the long names of its options. */
export type OptionValues<Table extends OptionTable> = { readonly [Name in keyof Table]: OptionValue<Table[Name]> };

/** A week: more is a typing error, and timers overflow at 24 days. */
const MAX_SECONDS = 604_800;
/** A tenth of a second: less cannot be told from nothing. */
const MIN_SECONDS = 0.1;

const GENERAL_OPTIONS = {
  config: {
    type: "text",
    value: "FILE",
    group: "General",
    describe: "Read this configuration file too; it beats the others",
  },
  verbose: { type: "flag", group: "General", describe: "Tell the causes of errors on stderr" },
  "no-color": { type: "flag", group: "General", describe: "No colours (NO_COLOR does the same)" },
  help: { type: "flag", alias: "h", group: "General", describe: "Show this help" },
  version: { type: "flag", alias: "V", group: "General", describe: "Show the version" },
} as const satisfies OptionTable;

export const ASK_OPTIONS = {
  backend: {
    type: "text",
    alias: "b",
    value: "NAME",
    group: "Agent",
    describe: "Which agent: claude, codex, kiro, demo, or a name from the configuration",
  },
  agent: {
    type: "text",
    value: "'CMD ARGS'",
    group: "Agent",
    describe: "Run this ACP agent instead of a configured one",
  },
  profile: {
    type: "text",
    choices: ["kiro", "codex", "claude", "generic"],
    group: "Agent",
    describe: "Whose habits --agent has (default: by the name of its program)",
  },
  cwd: { type: "text", alias: "C", value: "DIR", group: "Agent", describe: "Work in this folder" },
  model: { type: "text", alias: "m", value: "NAME", group: "Agent", describe: "Which model the agent should use" },
  mode: {
    type: "text",
    value: "NAME",
    group: "Agent",
    describe: "Which mode of the agent; without it, one that asks before it acts",
  },
  "config-option": {
    type: "list",
    value: "K=V",
    group: "Agent",
    describe: "Set an option of the agent's session; may be repeated",
  },
  mcp: {
    type: "list",
    value: "FILE",
    group: "Agent",
    describe: "JSON file of MCP servers for the agent; may be repeated",
  },
  "add-dir": {
    type: "list",
    value: "DIR",
    group: "Agent",
    describe: "One more folder the agent may work in; may be repeated",
  },

  session: {
    type: "text",
    alias: "s",
    value: "NAME",
    group: "Agent",
    describe: "Go on in the named session of this folder; made on first use",
  },
  continue: { type: "flag", group: "Agent", describe: "Go on in the last session of this folder" },
  "no-wait": { type: "flag", group: "Agent", describe: "When the session is in use: end with code 10, do not queue" },

  file: {
    type: "text",
    alias: "f",
    value: "FILE",
    group: "Prompt",
    describe: "Add the text of this file to the prompt; - reads stdin",
  },
  attach: { type: "list", value: "FILE", group: "Prompt", describe: "Attach an image or a text file; may be repeated" },

  format: {
    type: "text",
    choices: ["text", "json", "ndjson", "quiet"],
    group: "Output",
    describe: "text streams the answer, json is one result, ndjson one event a line, quiet the answer alone",
  },
  json: { type: "flag", group: "Output", describe: "The same as --format ndjson" },
  changes: {
    type: "flag",
    group: "Output",
    describe: "List the files that the agent changed, as it tells them, at the end",
  },
  trace: {
    type: "text",
    value: "FILE",
    group: "Output",
    describe:
      "Write everything said between Ostler and the agent to this file (overwritten), secrets hidden, for a report",
  },

  "log-level": {
    type: "text",
    choices: ["silent", "error", "warn", "info", "debug", "trace"],
    group: "Output",
    describe: "How much goes into the log file (default: warn; OSTLER_LOG does the same)",
  },

  timeout: {
    type: "number",
    value: "S",
    min: MIN_SECONDS,
    max: MAX_SECONDS,
    group: "Limits",
    describe: "Seconds for the whole turn",
  },
  "idle-timeout": {
    type: "number",
    value: "S",
    min: MIN_SECONDS,
    max: MAX_SECONDS,
    group: "Limits",
    describe: "Seconds the agent may stay silent",
  },
  "tool-timeout": {
    type: "number",
    value: "S",
    min: MIN_SECONDS,
    max: MAX_SECONDS,
    group: "Limits",
    describe: "Seconds one tool call may take",
  },
  "wait-tasks": {
    type: "flag",
    group: "Limits",
    describe: "Wait for the background work of the turn (within --timeout) instead of ending it",
  },
  retries: {
    type: "number",
    value: "N",
    min: 0,
    max: 20,
    whole: true,
    group: "Limits",
    describe: "More tries after a passing failure that is safe to repeat",
  },

  approve: {
    type: "text",
    choices: ["all", "reads", "none"],
    group: "Safety",
    describe: "Which permission requests to grant (default: reads = reading and searching inside the workspace)",
  },
  "permission-policy": {
    type: "text",
    value: "FILE",
    group: "Safety",
    describe: "Rules that allow, deny or ask, instead of --approve",
  },
  confined: {
    type: "flag",
    group: "Safety",
    describe: "Start the agent under bubblewrap, so that what it declares about its failures can be believed",
  },

  ...GENERAL_OPTIONS,
} as const satisfies OptionTable;

export const BACKENDS_OPTIONS = GENERAL_OPTIONS;

export const DOCTOR_OPTIONS = {
  backend: { type: "text", alias: "b", value: "NAME", group: "Agent", describe: "Look at this agent alone" },
  smoke: { type: "flag", group: "Agent", describe: "Start each agent and open a session as well" },
  timeout: {
    type: "number",
    value: "S",
    min: MIN_SECONDS,
    max: MAX_SECONDS,
    group: "Limits",
    describe: "Seconds an agent may take to answer --smoke (20)",
  },
  json: { type: "flag", group: "Output", describe: "One JSON object on stdout" },
  ...GENERAL_OPTIONS,
} as const satisfies OptionTable;

/** Of `models` and `modes`. */
export const OFFERS_OPTIONS = {
  backend: ASK_OPTIONS.backend,
  agent: ASK_OPTIONS.agent,
  profile: ASK_OPTIONS.profile,
  cwd: ASK_OPTIONS.cwd,
  json: { type: "flag", group: "Output", describe: "One JSON object on stdout" },
  ...GENERAL_OPTIONS,
} as const satisfies OptionTable;

export const LOGIN_OPTIONS = {
  method: { type: "text", value: "ID", group: "Agent", describe: "Which of the logins that the agent offers" },
  ...GENERAL_OPTIONS,
} as const satisfies OptionTable;

export const SESSIONS_OPTIONS = {
  agent: { type: "flag", group: "Agent", describe: "List what the agent itself keeps for this folder" },
  backend: { type: "text", alias: "b", value: "NAME", group: "Agent", describe: "Of this agent, with --agent" },
  at: {
    type: "text",
    value: "MESSAGE",
    group: "Agent",
    describe: "Fork at this message of the agent (default: the last)",
  },
  as: { type: "text", value: "NAME", group: "Agent", describe: "What the fork is called (default: NAME-2)" },
  transcript: { type: "flag", group: "Output", describe: "Show the end of the conversation, as the agent repeats it" },
  cwd: { type: "text", alias: "C", value: "DIR", group: "General", describe: "Look in this folder first" },
  json: { type: "flag", group: "Output", describe: "JSON on stdout" },
  ...GENERAL_OPTIONS,
} as const satisfies OptionTable;

/** A goal is work as a prompt is, in a session that has a name. */
export const GOAL_OPTIONS = {
  session: { ...ASK_OPTIONS.session, describe: "The session that has the goal; set makes it on first use" },
  wait: { type: "flag", group: "Limits", describe: "Stay until the goal is no longer active" },
  file: { ...ASK_OPTIONS.file, describe: "Add the text of this file to the objective; - reads stdin" },
  backend: ASK_OPTIONS.backend,
  agent: ASK_OPTIONS.agent,
  profile: ASK_OPTIONS.profile,
  cwd: ASK_OPTIONS.cwd,
  model: ASK_OPTIONS.model,
  mode: ASK_OPTIONS.mode,
  "config-option": ASK_OPTIONS["config-option"],
  mcp: ASK_OPTIONS.mcp,
  "add-dir": ASK_OPTIONS["add-dir"],
  format: ASK_OPTIONS.format,
  json: ASK_OPTIONS.json,
  trace: ASK_OPTIONS.trace,
  "log-level": ASK_OPTIONS["log-level"],
  timeout: { ...ASK_OPTIONS.timeout, describe: "Seconds for all of it" },
  "idle-timeout": ASK_OPTIONS["idle-timeout"],
  "tool-timeout": ASK_OPTIONS["tool-timeout"],
  approve: ASK_OPTIONS.approve,
  "permission-policy": ASK_OPTIONS["permission-policy"],
  confined: ASK_OPTIONS.confined,
  ...GENERAL_OPTIONS,
} as const satisfies OptionTable;

export const STEER_OPTIONS = {
  session: { ...ASK_OPTIONS.session, describe: "The session whose turn is steered" },
  file: { ...ASK_OPTIONS.file, describe: "Add the text of this file; - reads stdin" },
  cwd: { ...ASK_OPTIONS.cwd, describe: "Look for the session in this folder first" },
  json: { type: "flag", group: "Output", describe: "One JSON object on stdout" },
  ...GENERAL_OPTIONS,
} as const satisfies OptionTable;

export const TASKS_OPTIONS = {
  session: { type: "text", alias: "s", value: "NAME", group: "General", describe: "The session whose tasks are meant" },
  cwd: { type: "text", alias: "C", value: "DIR", group: "General", describe: "Look in this folder first" },
  json: { type: "flag", group: "Output", describe: "JSON on stdout" },
  ...GENERAL_OPTIONS,
} as const satisfies OptionTable;

export const COMPLETION_OPTIONS = GENERAL_OPTIONS;

export type AskOptions = OptionValues<typeof ASK_OPTIONS>;
export type DoctorOptions = OptionValues<typeof DOCTOR_OPTIONS>;
