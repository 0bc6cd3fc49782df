/**
 * What may stand in a config file. The one source of validation, of the published JSON schema and of docs/config.md.
 * Callers load it lazily (it brings zod).
 */
import { z } from "zod";
import { DEFAULT_BACKEND_SETTINGS as BACKEND, DEFAULT_CONFIG as DEFAULTS } from "./config-defaults.ts";

const MAX_LINE_BYTES = 268_435_456;

/** `backends.<name>`. */
export const backendSchema = z.strictObject({
  command: z
    .array(z.string().min(1))
    .min(1)
    .exactOptional()
    .meta({ description: "Program and arguments, started without a shell. A new backend needs one." }),
  env: z
    .record(z.string(), z.string())
    .exactOptional()
    .meta({ description: "Variables added to the environment of the agent.", default: BACKEND.env }),
  inheritEnv: z.array(z.string()).exactOptional().meta({
    description: "Accepted, and without effect yet: an agent gets your whole environment.",
    default: BACKEND.inheritEnv,
  }),
  profile: z.enum(["kiro", "codex", "claude", "generic"]).exactOptional().meta({
    description: "Whose wire habits to expect. Default: by the name of the backend or of its program, else `generic`.",
  }),
  air: flag("Declare the AIR extension: the agent reports failures as typed records.", BACKEND.air),
  notices: flag("Declare that notices of the agent are shown.", BACKEND.notices),
  terminalOutput: flag("Declare that terminal output is shown.", BACKEND.terminalOutput),
  model: z.string().min(1).exactOptional().meta({ description: "The model of new sessions." }),
  mode: z
    .string()
    .min(1)
    .exactOptional()
    .meta({ description: "The mode of new sessions. Without it: the mode that asks before it acts." }),
});

/** One config file. Every key is optional; what is absent leaves the layer below as it is. */
export const configSchema = z
  .strictObject({
    $schema: z.string().exactOptional().meta({ description: "For editors. Ostler ignores it." }),
    defaultBackend: z.string().min(1).exactOptional().meta({
      description: "The backend of `ostler ask` without `-b`. Without it: the first installed of claude, codex, kiro.",
    }),
    approve: z.enum(["all", "reads", "none"]).exactOptional().meta({
      description:
        "What is approved without asking: everything, reading and searching inside the workspace, or nothing.",
      default: DEFAULTS.approve,
    }),
    gate: z.enum(["required"]).exactOptional().meta({
      description: "Refuse an agent, or a mode of it, that would run tools without asking.",
    }),
    confined: z.boolean().exactOptional().meta({
      description: "Start agents under bubblewrap, so that what they declare about their failures can be believed.",
      default: DEFAULTS.confined,
    }),
    failures: section("How failures are observed.", {
      strictRetry: flag(
        "A tool call whose description was reworded is another operation.",
        DEFAULTS.failures.strictRetry,
      ),
    }),
    notify: section("Who is told of background commands.", {
      command: z.array(z.string().min(1)).min(1).exactOptional().meta({
        description:
          "Program and arguments, started without a shell with the words on its stdin. Without it they wait for your next command at a terminal.",
      }),
    }),
    backends: z
      .record(z.string().regex(/^[A-Za-z0-9][\w.-]*$/), backendSchema)
      .exactOptional()
      .meta({ description: "Settings per backend. A new name with a `command` is a new backend." }),
    timeouts: section("How long things may take, in seconds.", {
      handshakeS: seconds("The agent's answer to the handshake.", 0.1, 600, DEFAULTS.timeouts.handshakeS),
      sessionS: seconds("Opening a session.", 0.1, 600, DEFAULTS.timeouts.sessionS),
      firstByteS: seconds("The first sign of life of a turn.", 0.1, 3600, DEFAULTS.timeouts.firstByteS),
      idleS: seconds(
        "Silence of the agent; paused while a tool runs or a person decides.",
        0.1,
        86_400,
        DEFAULTS.timeouts.idleS,
      ),
      toolS: seconds("One tool call.", 0.1, 604_800, DEFAULTS.timeouts.toolS),
      turnS: seconds("A whole turn, from the prompt.", 0.1, 604_800, DEFAULTS.timeouts.turnS),
      cancelGraceS: seconds(
        "How long the agent may take to acknowledge a cancel before it is ended.",
        0,
        60,
        DEFAULTS.timeouts.cancelGraceS,
      ),
      permissionS: seconds("How long a permission question stays open.", 0.1, 86_400, DEFAULTS.timeouts.permissionS),
    }),
    restart: section("When an agent that keeps dying is left down.", {
      burst: count("Starts within `periodS`.", 1, 100, DEFAULTS.restart.burst),
      periodS: seconds("The window, in seconds.", 1, 86_400, DEFAULTS.restart.periodS),
    }),
    retry: section("Automatic retries of transient failures that are safe to send again.", {
      retries: count("Tries after the first.", 0, 20, DEFAULTS.retry.retries),
    }),
    limits: section("Bounds on memory.", {
      lineBytes: count("The longest message of an agent, in bytes.", 65_536, MAX_LINE_BYTES, DEFAULTS.limits.lineBytes),
      queue: count("Prompts waiting in one conversation.", 0, 1000, DEFAULTS.limits.queue),
    }),
    retention: section(
      "How long runs are kept that are over: applied once a day, and by `ostler runs prune`. A run with failures that nobody was told of stays.",
      {
        days: count("A run is removed so many days after its end.", 1, 3650, DEFAULTS.retention.days),
        mib: count("MiB of all runs; above that, the oldest are removed.", 16, 1_048_576, DEFAULTS.retention.mib),
      },
    ),
  })
  .meta({ title: "Ostler configuration", description: "$XDG_CONFIG_HOME/ostler/config.json and .ostler.json" });

/** What one file says, validated. */
export type ConfigLayer = z.output<typeof configSchema>;

/** The JSON schema that editors use; published as `ostler/config.schema.json`. */
export function configJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(configSchema, { io: "input" }) };
}

function section<Shape extends z.ZodRawShape>(description: string, shape: Shape) {
  return z.strictObject(shape).exactOptional().meta({ description });
}

function seconds(description: string, min: number, max: number, defaultS: number) {
  return z.number().min(min).max(max).exactOptional().meta({ description, default: defaultS });
}

function count(description: string, min: number, max: number, defaultCount: number) {
  return z.int().min(min).max(max).exactOptional().meta({ description, default: defaultCount });
}

function flag(description: string, defaultFlag: boolean) {
  return z.boolean().exactOptional().meta({ description, default: defaultFlag });
}
