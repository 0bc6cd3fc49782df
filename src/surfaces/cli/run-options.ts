/** The options of `ostler run` and `ostler watch`. Data only. */
import { ASK_OPTIONS, BACKENDS_OPTIONS } from "./options.ts";
import type { OptionTable } from "./options.ts";

const MAX_CODE = 255;

/** What both have. */
const SHARED = {
  "expect-exit": {
    type: "list",
    value: "N",
    group: "Limits",
    describe: "An exit code that is no failure, 1 to 255; may be repeated",
  },
  timeout: { ...ASK_OPTIONS.timeout, describe: "Seconds for all of it; then it is ended" },
  wait: { type: "flag", group: "Limits", describe: "Stay until it is over, and exit with its code" },
  cwd: { ...ASK_OPTIONS.cwd, group: "General", describe: "Run in this folder" },
  session: { ...ASK_OPTIONS.session, group: "General", describe: "Whose run it is: a session that is kept" },
  notify: {
    type: "text",
    value: "'CMD ARGS'",
    group: "Output",
    describe: "Run this with each notification on its stdin (without it: told at your next terminal command)",
  },
  "no-notify": { type: "flag", group: "Output", describe: "Send no notification; ostler runs shows all the same" },
  json: { type: "flag", group: "Output", describe: "One JSON object on stdout" },
} as const satisfies OptionTable;

export const RUN_OPTIONS = {
  "operation-id": {
    type: "text",
    value: "ID",
    group: "Limits",
    describe: "What this is a try of: a later success with the same id recovers the failure of an earlier run",
  },
  ...SHARED,
  confined: {
    type: "flag",
    group: "Safety",
    describe: "Start it under bubblewrap, so that it cannot change what Ostler writes down",
  },
  ...BACKENDS_OPTIONS,
} as const satisfies OptionTable;

export const WATCH_OPTIONS = {
  every: {
    type: "number",
    value: "S",
    min: 0.1,
    max: 604_800,
    group: "Limits",
    describe: "Seconds from one poll to the next (60)",
  },
  "until-exit": {
    type: "number",
    value: "N",
    min: 0,
    max: MAX_CODE,
    whole: true,
    group: "Limits",
    describe: "The exit code that is waited for (0)",
  },
  "fail-exit": {
    type: "list",
    value: "N",
    group: "Limits",
    describe: "An exit code that ends the watch as failed; may be repeated",
  },
  "max-polls": {
    type: "number",
    value: "N",
    min: 1,
    max: 1_000_000,
    whole: true,
    group: "Limits",
    describe: "Give up after so many polls",
  },
  ...SHARED,
  ...BACKENDS_OPTIONS,
} as const satisfies OptionTable;
