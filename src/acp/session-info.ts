/**
 * What may be chosen in a session, and what is: read from the answers that open one and from its own updates, leniently
 * (kiro wire notes, section 4: spellings and absences), because a field that is missing means "unknown". Pure.
 */
import { readAirField } from "./air/namespace.ts";
import { isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { str } from "./normalize.ts";
import type { AdvertisedModes } from "./ports.ts";

/** How freely a mode acts (AIR presentation hint `kind`). */
export type ModeKind = "standard" | "plan" | "auto_review" | "full_access";

/** One value that a setting may have. */
export interface SettingChoice {
  readonly value: string;
  /** For people; the value where the agent gave no name. */
  readonly name: string;
  readonly description?: string;
  /** Of a mode, where the agent says it. */
  readonly kind?: ModeKind;
}

/** One setting of a session: its models, its modes, or an option. */
export interface SettingOffer {
  /** What `--config-option` calls it. */
  readonly id: string;
  readonly name: string;
  /** Null when the agent does not say. */
  readonly current: string | null;
  /** The value that the agent recommends (AIR `recommendedValue`): always one of the choices. */
  readonly recommended?: string;
  readonly choices: readonly SettingChoice[];
}

/** Everything that may be chosen; a list that the agent did not give is absent. */
export interface SessionOffers {
  readonly models?: SettingOffer;
  readonly modes?: SettingOffer;
  /** Besides model and mode. */
  readonly options: readonly SettingOffer[];
}

/** One select option of a session (`configOptions`), flattened from its groups. */
export interface ConfigOption {
  readonly id: string;
  readonly name: string;
  readonly category: string;
  readonly current: string | undefined;
  readonly values: readonly string[];
  readonly choices: readonly SettingChoice[];
  readonly recommended: string | undefined;
}

/** What `session/new` and its siblings say about a session. */
export interface SessionInfo {
  readonly modes: AdvertisedModes | undefined;
  readonly models: readonly string[];
  readonly currentModel: string | undefined;
  readonly options: readonly ConfigOption[];
  /** The agent listed its options, be it none; else nobody knows them. */
  readonly tellsOptions: boolean;
  /** The modes with their names. */
  readonly modeChoices: readonly SettingChoice[];
  /** The models with their names: those of the option, or of the list where there is no option. */
  readonly modelChoices: readonly SettingChoice[];
}

export function readSessionInfo(result: Frame): SessionInfo {
  const { configOptions } = result;
  const options = Array.isArray(configOptions) ? configOptions.filter(isObject).flatMap(readOption) : [];
  const option = modelOption(options);
  const listed = isObject(result["models"]) ? result["models"] : undefined;
  const listedChoices = readChoices(listed?.["availableModels"], ["modelId", "id"]);
  const modes = isObject(result["modes"]) ? result["modes"] : undefined;
  const modeChoices =
    modes === undefined
      ? (modeOption(options)?.choices ?? [])
      : readChoices(modes["availableModes"], ["id", "modeId", "value"]);
  return {
    modes: readModes(modes, modeChoices, options),
    models: listedChoices.length > 0 ? valuesOf(listedChoices) : (option?.values ?? []),
    currentModel: str(listed?.["currentModelId"]) ?? option?.current,
    options,
    tellsOptions: Array.isArray(configOptions),
    modeChoices,
    modelChoices: option?.choices ?? listedChoices,
  };
}

/** The information after an answer or update that lists the options anew; what it does not list stays. */
export function withNewOptions(info: SessionInfo, answer: unknown): SessionInfo {
  if (!isObject(answer) || !Array.isArray(answer["configOptions"])) return info;
  const news = readSessionInfo({ configOptions: answer["configOptions"] });
  const mode = modeOption(news.options)?.current;
  return {
    ...info,
    options: news.options,
    tellsOptions: true,
    modes: info.modes === undefined ? news.modes : { ...info.modes, current: mode ?? info.modes.current },
    modeChoices: info.modeChoices.length > 0 ? info.modeChoices : news.modeChoices,
    models: info.models.length > 0 ? info.models : news.models,
    currentModel: modelOption(news.options)?.current ?? info.currentModel,
    modelChoices: news.modelChoices.length > 0 ? news.modelChoices : info.modelChoices,
  };
}

/** Every model id a person may type: the listed ones and the values of the model option (codex lists `id[effort]` pairs). */
export function knownModels(info: SessionInfo): readonly string[] {
  const option = modelOption(info.options);
  return [...new Set([...(option?.values ?? []), ...info.models])];
}

export function modelOption(options: readonly ConfigOption[]): ConfigOption | undefined {
  return options.find(({ id, category }) => category === "model" || id === "model");
}

export function modeOption(options: readonly ConfigOption[]): ConfigOption | undefined {
  return options.find(({ id, category }) => category === "mode" || id === "mode");
}

/** The same for people, with `model` and `mode` as what is set now. */
export function offersOf(
  info: SessionInfo,
  now: { readonly model?: string | undefined; readonly mode?: string | undefined },
): SessionOffers {
  const { options, modelChoices, modeChoices, modes, currentModel } = info;
  const [model, mode] = [modelOption(options), modeOption(options)];
  const others = options.filter((option) => option !== model && option !== mode);
  return {
    ...(modelChoices.length > 0 && {
      models: offer(model, "model", choiceOf(now.model ?? currentModel, modelChoices), modelChoices),
    }),
    ...(modes !== undefined && { modes: offer(mode, "mode", now.mode ?? modes.current ?? undefined, modeChoices) }),
    options: others.map((option) => offer(option, option.id, option.current, option.choices)),
  };
}

/** The choice that a model is; codex's `id[effort]` is the one of its id. */
function choiceOf(model: string | undefined, choices: readonly SettingChoice[]): string | undefined {
  if (model === undefined || choices.some(({ value }) => value === model)) return model;
  return choices.find(({ value }) => model.startsWith(`${value}[`))?.value ?? model;
}

function offer(
  option: ConfigOption | undefined,
  id: string,
  current: string | undefined,
  choices: readonly SettingChoice[],
): SettingOffer {
  const recommended = option?.recommended;
  return {
    id: option?.id ?? id,
    name: option?.name ?? id,
    current: current ?? null,
    ...(recommended !== undefined && { recommended }),
    choices,
  };
}

function readModes(
  modes: Frame | undefined,
  choices: readonly SettingChoice[],
  options: readonly ConfigOption[],
): AdvertisedModes | undefined {
  if (modes !== undefined) return { current: str(modes["currentModeId"]) ?? null, available: valuesOf(choices) };
  const option = modeOption(options);
  return option === undefined ? undefined : { current: option.current ?? null, available: option.values };
}

function readOption(option: Frame): ConfigOption[] {
  const id = str(option["id"]);
  if (id === undefined) return [];
  const entries = Array.isArray(option["options"]) ? option["options"].filter(isObject) : [];
  const flat = entries.flatMap((entry): unknown[] => (Array.isArray(entry["options"]) ? entry["options"] : [entry]));
  const choices = readChoices(flat, ["value", "id"]);
  const values = valuesOf(choices);
  const recommended = str(readAirField(option["_meta"], "recommendedValue"));
  return [
    {
      id,
      name: str(option["name"]) ?? id,
      category: str(option["category"]) ?? "",
      current: str(option["currentValue"]),
      values,
      choices,
      // A value that cannot be chosen is no recommendation (seed document 002, Recommended config values).
      recommended: recommended !== undefined && values.includes(recommended) ? recommended : undefined,
    },
  ];
}

const MODE_KINDS: ReadonlyMap<unknown, ModeKind> = new Map(
  (["standard", "plan", "auto_review", "full_access"] as const).map((kind) => [kind, kind]),
);

/** Several times as many as the largest gateway has models. */
const MAX_CHOICES = 5000;

function readChoices(list: unknown, keys: readonly string[]): SettingChoice[] {
  if (!Array.isArray(list)) return [];
  return list
    .slice(0, MAX_CHOICES)
    .filter(isObject)
    .flatMap((entry) => {
      const value = keys.map((key) => str(entry[key])).find((id) => id !== undefined);
      if (value === undefined) return [];
      const description = str(entry["description"]);
      const kind = MODE_KINDS.get(readAirField(entry["_meta"], "kind"));
      return [
        {
          value,
          name: str(entry["name"]) ?? value,
          ...(description !== undefined && { description }),
          ...(kind !== undefined && { kind }),
        },
      ];
    });
}

function valuesOf(choices: readonly SettingChoice[]): string[] {
  return choices.map(({ value }) => value);
}
