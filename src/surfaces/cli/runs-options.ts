/** The options of `ostler runs` and `ostler incidents`. Data only. */
import { BACKENDS_OPTIONS } from "./options.ts";
import type { OptionTable } from "./options.ts";

/** The biggest page there is, see `failures/pages/budgets.ts`. */
const MAX_PAGE_BYTES = 65_536;

/** How much is told, and in which words. */
const PAGE_OPTIONS = {
  history: {
    type: "flag",
    group: "Output",
    describe: "Every incident, also unclassified, expected, recovered and superseded ones",
  },
  raw: { type: "flag", group: "Output", describe: "Whole texts and paths instead of excerpts" },
  cursor: { type: "text", value: "CURSOR", group: "Output", describe: "Go on where an earlier page ended" },
  bytes: {
    type: "number",
    value: "N",
    min: 0,
    max: MAX_PAGE_BYTES,
    whole: true,
    group: "Output",
    describe: "How big the page may be",
  },
  json: { type: "flag", group: "Output", describe: "One JSON object on stdout" },
} as const satisfies OptionTable;

export const RUNS_OPTIONS = {
  "older-than": {
    type: "text",
    value: "AGE",
    group: "Limits",
    describe: "prune: runs that ended so long ago, such as 30d, 12h or 2w",
  },
  keep: {
    type: "number",
    value: "N",
    min: 0,
    max: 1_000_000,
    whole: true,
    group: "Limits",
    describe: "prune: all but the newest N",
  },
  "dry-run": { type: "flag", group: "Limits", describe: "prune: say what would be removed, and remove nothing" },
  ...PAGE_OPTIONS,
  ...BACKENDS_OPTIONS,
} as const satisfies OptionTable;

export const INCIDENTS_OPTIONS = {
  run: { type: "text", value: "RUN", group: "General", describe: "Of this run alone" },
  as: {
    type: "text",
    choices: ["recovered", "superseded", "expected", "open"],
    group: "General",
    describe: "dispose: what the incident is; open keeps it on the list of what needs action",
  },
  reason: { type: "text", value: "TEXT", group: "General", describe: "dispose: why; it is kept with the incident" },
  evidence: {
    type: "text",
    value: "ATTEMPT",
    group: "General",
    describe: "dispose as recovered or superseded: the attempt or tool call that succeeded after the failure",
  },
  ...PAGE_OPTIONS,
  ...BACKENDS_OPTIONS,
} as const satisfies OptionTable;
