/** Every command of `ostler`, with the options that it takes. */
import {
  ASK_OPTIONS,
  BACKENDS_OPTIONS,
  COMPLETION_OPTIONS,
  DOCTOR_OPTIONS,
  GOAL_OPTIONS,
  LOGIN_OPTIONS,
  OFFERS_OPTIONS,
  SESSIONS_OPTIONS,
  STEER_OPTIONS,
  TASKS_OPTIONS,
} from "./options.ts";
import type { OptionTable } from "./options.ts";
import { INCIDENTS_OPTIONS, RUNS_OPTIONS } from "./runs-options.ts";
import { RUN_OPTIONS, WATCH_OPTIONS } from "./run-options.ts";

/** In the order in which the help lists them. */
export const COMMAND_NAMES = [
  "ask",
  "sessions",
  "goal",
  "steer",
  "tasks",
  "run",
  "watch",
  "runs",
  "incidents",
  "models",
  "modes",
  "backends",
  "login",
  "doctor",
  "completion",
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** Every command with its options. */
export const COMMANDS: Readonly<Record<CommandName, OptionTable>> = {
  ask: ASK_OPTIONS,
  sessions: SESSIONS_OPTIONS,
  goal: GOAL_OPTIONS,
  steer: STEER_OPTIONS,
  models: OFFERS_OPTIONS,
  modes: OFFERS_OPTIONS,
  tasks: TASKS_OPTIONS,
  run: RUN_OPTIONS,
  watch: WATCH_OPTIONS,
  runs: RUNS_OPTIONS,
  incidents: INCIDENTS_OPTIONS,
  backends: BACKENDS_OPTIONS,
  login: LOGIN_OPTIONS,
  doctor: DOCTOR_OPTIONS,
  completion: COMPLETION_OPTIONS,
};

export function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}
