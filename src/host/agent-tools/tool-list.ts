/**
 * The tools that a run's agent gets, as the model reads them. The schemas are for the model; the arguments are read
 * again by `run-arguments.ts` and by the rules of dispositions, which refuse in sentences of their own.
 */
import type { Tool } from "@modelcontextprotocol/server";
import { DISPOSITIONS } from "../../failures/incidents/disposition-request.ts";
import { PERMISSION_RESOURCES } from "../../failures/incidents/permission-blocker.ts";

/** What the server is called to an agent. */
export const OWN_SERVER = "ostler";
export const RUN_TOOL = "run";
export const DISPOSITION_TOOL = "failure_disposition";

/** How long a command may take when its call does not say, and at most, in seconds. */
export const DEFAULT_TIMEOUT_S = 600;
export const MAX_TIMEOUT_S = 3600;

const ID_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$";

const run: Tool = {
  name: RUN_TOOL,
  title: "Run a command with declared intent",
  description: [
    "Runs a shell command (bash, or sh where there is none) and records its result as evidence. Prefer it to your own shell tool for checks whose result matters - builds, tests, linters, probes - and whenever a failure is intended or will be retried in another form:",
    "- expectedExitCodes: the exit codes other than 0 that you intend, for example [1] for a search that may find nothing or for `git diff --exit-code`. Declare them before the command runs; afterwards it takes failure_disposition.",
    '- operationId: a name for one logical operation, the same on every retry, for example "unit-tests". A later success under the same name recovers the earlier failure even if you changed the command, its scope or its flags. Without it only a retry of exactly the same command in the same folder does.',
    "- attemptId: a name for this one execution, to be used later as evidence or as a target in failure_disposition. Never use one twice, not even after a call that was refused.",
    "The command has no stdin and no terminal. Everything it started, also in the background, is ended when it exits, when its timeout is over, when the call is cancelled and when your turn ends. Long output is cut in its middle. A call with a mistake in its arguments is refused whole: nothing runs.",
  ].join("\n"),
  inputSchema: {
    type: "object",
    properties: {
      command: { type: "string", minLength: 1, description: "The command line, as for `bash -c`." },
      cwd: {
        type: "string",
        description: "Folder to run in; relative paths start at the session's folder, which is the default.",
      },
      timeout: {
        type: "number",
        exclusiveMinimum: 0,
        maximum: MAX_TIMEOUT_S,
        description: `Seconds after which it is ended; default ${DEFAULT_TIMEOUT_S}.`,
      },
      operationId: {
        type: "string",
        pattern: ID_PATTERN,
        description: "Names one logical operation across modified retries.",
      },
      attemptId: { type: "string", pattern: ID_PATTERN, description: "Names this execution; unique in the whole run." },
      expectedExitCodes: {
        type: "array",
        items: { type: "integer", minimum: 0, maximum: 255 },
        minItems: 1,
        maxItems: 16,
        uniqueItems: true,
        description: "Intended exit codes other than 0.",
      },
    },
    required: ["command"],
    additionalProperties: false,
  },
};

const failureDisposition: Tool = {
  name: DISPOSITION_TOOL,
  title: "Say what became of a failure",
  description: [
    "Records what you know about failures of your own tool calls, so that nobody has to ask. Use it before you finish when a failure of yours is still open and no retry of the same operation succeeded:",
    "- recovered: the same operation passed later. evidence names the successful attempt, which must have started after the failure.",
    "- superseded: something else established the outcome, for example another check or a fix by hand. evidence names that successful attempt, which must have started after the failure.",
    "- expected: the failure was intended.",
    "- open: it still needs the people you work for; say in the reason what they have to do. If a missing permission keeps you from going on, name its kind in permissionResource.",
    "targets are incident ids, the attemptId or operationId of a call of `run`, or tool call ids. A request that does not hold in every part is refused whole, with the incidents that can be named.",
  ].join("\n"),
  inputSchema: {
    type: "object",
    properties: {
      disposition: { type: "string", enum: [...DISPOSITIONS] },
      targets: {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 200 },
        minItems: 1,
        maxItems: 20,
        description: "The failures that it is about.",
      },
      reason: { type: "string", minLength: 1, maxLength: 400, description: "One or two sentences for a person." },
      evidence: {
        type: "string",
        minLength: 1,
        maxLength: 200,
        description: "The attemptId or tool call id of a successful attempt; needed for recovered and superseded.",
      },
      permissionResource: {
        type: "string",
        enum: [...PERMISSION_RESOURCES],
        description: "Only with open: what you are not allowed to use.",
      },
    },
    required: ["disposition", "targets", "reason"],
    additionalProperties: false,
  },
};

/** In the order in which they are listed. */
export const TOOLS: Tool[] = [run, failureDisposition];
