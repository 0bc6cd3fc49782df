/** `ostler models` and `ostler modes`: what may be chosen for a session, asked of the agent in a session without a prompt. */
import type { Backend } from "../../acp/ports.ts";
import type { SettingChoice, SettingOffer } from "../../acp/session-info.ts";
import { cleanLine } from "../../errors/redact.ts";
import { UsageError } from "../../host/usage-error.ts";
import { withAgent } from "./agent-command.ts";
import type { RunningAgent } from "./agent-command.ts";
import { harmlessJson } from "./harmless-json.ts";
import type { Io } from "./io.ts";
import { OFFERS_OPTIONS } from "./options.ts";
import { parseArguments } from "./parse.ts";
import { alignedRows } from "./rows.ts";

const MAX_CELL_CHARS = 60;
const MAX_DESCRIPTION_CHARS = 100;

/** The models, and below them the other options of a session. */
export async function models(argv: readonly string[], io: Io): Promise<number> {
  const options = readOptions("models", argv);
  return withAgent(options, io, async (agent) => {
    const { label } = agent.runtime.backend;
    const { models: offer, options: others } = await offersOf(agent);
    const login = agent.runtime.authStatus;
    if (options.json) {
      const shown = { ...head(agent), login: login ?? null, models: offer ?? null, options: others };
      return [harmlessJson(scrubbed(shown))];
    }
    return [
      ...(offer === undefined ? [`${label} does not say which models it has`] : alignedRows(choiceRows(offer))),
      ...(others.length === 0 ? [] : ["", "Options, for --config-option NAME=VALUE:"]),
      ...alignedRows(others.map((other) => [other.id, valuesLine(other), other.name])),
      ...(login === undefined ? [] : ["", `Login: ${login.label}`]),
    ];
  });
}

/** The modes, and which of them ask before they act. */
export async function modes(argv: readonly string[], io: Io): Promise<number> {
  const options = readOptions("modes", argv);
  return withAgent(options, io, async (agent) => {
    const { backend } = agent.runtime;
    const { modes: offer } = await offersOf(agent);
    if (options.json) {
      const choices = offer?.choices.map((choice) => ({ ...choice, asks: asks(choice, backend) ?? null }));
      return [harmlessJson(scrubbed({ ...head(agent), modes: offer === undefined ? null : { ...offer, choices } }))];
    }
    if (offer === undefined) return [`${backend.label} does not say which modes it has`];
    return offer.choices.length === 0
      ? [`${backend.label} has no modes`]
      : alignedRows(choiceRows(offer, (choice) => [ASKS_WORDS.get(asks(choice, backend)) ?? ""]));
  });
}

function readOptions(command: string, argv: readonly string[]) {
  const { options, words } = parseArguments(argv, OFFERS_OPTIONS);
  const [word] = words;
  if (word === undefined) return options;
  throw new UsageError(
    `ostler ${command} takes no words, only options; to ask one agent: ostler ${command} -b ${word}`,
  );
}

/** The session is opened as `ostler ask` opens one, and closed again. */
async function offersOf({ runtime, cwd, signal }: RunningAgent) {
  const session = await runtime.openSession({ cwd, signal });
  const { offers } = session;
  await session.close();
  return offers;
}

function head({ backend, runtime: { agent } }: RunningAgent) {
  return { backend, agent: agent === null ? null : `${agent.name} ${agent.version}`.trim() };
}

const ASKS_WORDS: ReadonlyMap<boolean | undefined, string> = new Map([
  [true, "asks"],
  [false, "acts unasked"],
]);

/** What Ostler knows of the mode, else what the agent says of its kind; undefined = nobody knows. */
function asks({ value, kind }: SettingChoice, backend: Backend): boolean | undefined {
  return backend.modeAsks(value) ?? (kind === "full_access" ? false : undefined);
}

function choiceRows(
  { choices, current, recommended }: SettingOffer,
  more: (choice: SettingChoice) => readonly string[] = () => [],
): string[][] {
  return choices.map((choice) => {
    const marks = [choice.value === current && "set", choice.value === recommended && "recommended"].filter(Boolean);
    return [
      ...[choice.value, choice.name, marks.join(", "), ...more(choice)].map((cell) => cleanLine(cell, MAX_CELL_CHARS)),
      cleanLine(choice.description ?? "", MAX_DESCRIPTION_CHARS),
    ];
  });
}

/** `low medium* high`: the star stands at what is set. */
function valuesLine({ choices, current }: SettingOffer): string {
  const words = choices.map(({ value }) => (value === current ? `${value}*` : value));
  return cleanLine(words.join(" "), MAX_DESCRIPTION_CHARS);
}

/** Names and descriptions scrubbed; what is typed again stays as it came. */
function scrubbed(value: object): object {
  const text = JSON.stringify(value, (key, inner: unknown) =>
    typeof inner === "string" && SHOWN.has(key) ? cleanLine(inner, MAX_SHOWN_CHARS) : inner,
  );
  const shown: object = JSON.parse(text);
  return shown;
}

const SHOWN: ReadonlySet<string> = new Set(["name", "description", "agent", "label"]);
const MAX_SHOWN_CHARS = 1000;
