/** Config files to one configuration: each is validated by itself and laid over what came before. */
import { backendNames, isBuiltIn } from "./backend-names.ts";
import { DEFAULT_BACKEND_SETTINGS, DEFAULT_CONFIG } from "./config-defaults.ts";
import type { BackendSettings, Config } from "./config-defaults.ts";
import { isSpoilt } from "./config-fault.ts";
import type { ConfigFault, OnFault } from "./config-fault.ts";
import { dotted, parseConfigText, readConfigLayer } from "./config-layer.ts";
import type { LayerReading } from "./config-layer.ts";
import { keepTightening } from "./config-project.ts";
import type { ConfigLayer } from "./config-schema.ts";
import type { ConfigSource } from "./config.ts";
import { nearestName } from "../errors/nearest-name.ts";

/** The merged configuration and what there is to say about it; for `onFault` see `config-layer.ts`. */
export function mergeSources(
  sources: readonly ConfigSource[],
  onFault: OnFault,
): { config: Config; warnings: readonly string[] } {
  let config = DEFAULT_CONFIG;
  const warnings: string[] = [];
  const faults: ConfigFault[] = [];
  const layers: NamedLayer[] = [];
  const noteFault = (fault: ConfigFault): void => {
    onFault(fault);
    faults.push(fault);
  };
  for (const source of sources) {
    const reading = readSource(source, config, noteFault);
    config = overlay(config, reading.layer);
    warnings.push(...reading.warnings);
    layers.push({ where: source.where, layer: reading.layer });
  }
  const checked = checkBackendNames(config, layers, faults);
  return { config: checked.config, warnings: [...warnings, ...checked.warnings] };
}

interface NamedLayer {
  readonly where: string;
  readonly layer: ConfigLayer;
}

function readSource({ where, isProject, text }: ConfigSource, base: Config, onFault: OnFault): LayerReading {
  if (text === undefined)
    return unreadable(`${where} cannot be read: it is ignored, and nothing is approved by itself`);
  const { raw, warning } = parseConfigText(text, where);
  if (raw === undefined) return unreadable(warning ?? where);
  const reading = readDeep(() => readConfigLayer(raw, { where, isProject, onFault }));
  if (reading === undefined)
    return unreadable(`${where} is nested too deeply: it is ignored, and nothing is approved by itself`);
  return isProject ? keepTightening(reading, base, where) : reading;
}

/** Undefined when the stack is too small for it. */
function readDeep(read: () => LayerReading): LayerReading | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The file may have said `"approve": "none"`: what cannot be read must not become looser. */
function unreadable(warning: string): LayerReading {
  return { layer: { approve: "none" }, warnings: [warning] };
}

function overlay(base: Config, layer: ConfigLayer): Config {
  const backends = new Map(Object.entries(base.backends));
  for (const [name, settings] of Object.entries(layer.backends ?? {})) {
    backends.set(name, overlayBackend(backends.get(name) ?? DEFAULT_BACKEND_SETTINGS, settings));
  }
  return {
    ...base,
    ...(layer.defaultBackend !== undefined && { defaultBackend: layer.defaultBackend }),
    approve: layer.approve ?? base.approve,
    ...(layer.gate !== undefined && { gate: layer.gate }),
    confined: layer.confined ?? base.confined,
    failures: { ...base.failures, ...layer.failures },
    notify: { ...base.notify, ...layer.notify },
    backends: Object.fromEntries(backends),
    timeouts: { ...base.timeouts, ...layer.timeouts },
    restart: { ...base.restart, ...layer.restart },
    retry: { ...base.retry, ...layer.retry },
    limits: { ...base.limits, ...layer.limits },
    retention: { ...base.retention, ...layer.retention },
  };
}

function overlayBackend(
  base: BackendSettings,
  settings: NonNullable<ConfigLayer["backends"]>[string],
): BackendSettings {
  return { ...base, ...settings, env: { ...base.env, ...settings.env } };
}

/** Names that lead nowhere are said now, with the name that was meant, instead of when they are used; a fault is said already. */
function checkBackendNames(
  config: Config,
  layers: readonly NamedLayer[],
  faults: readonly ConfigFault[],
): { config: Config; warnings: string[] } {
  const isUsable = (name: string) => isBuiltIn(name) || config.backends[name]?.command !== undefined;
  const names = backendNames(config).filter(isUsable);
  const warn = (name: string, problem: string, isFrom: (layer: ConfigLayer) => boolean) => {
    const near = nearestName(name, names);
    const hint = near === undefined ? "" : ` (did you mean "${near}"?)`;
    const where = layers.findLast(({ layer }) => isFrom(layer))?.where ?? "";
    return `${where}: ${problem}${hint}, so it is ignored`;
  };
  const warnings = Object.keys(config.backends)
    .filter((name) => !isUsable(name) && !isSpoilt(name, faults))
    .map((name) =>
      warn(name, `${dotted(["backends", name])} has no command`, ({ backends = {} }) => Object.hasOwn(backends, name)),
    );
  const { defaultBackend, ...rest } = config;
  const backends = Object.fromEntries(Object.entries(config.backends).filter(([name]) => isUsable(name)));
  if (defaultBackend === undefined || names.includes(defaultBackend))
    return { config: { ...config, backends }, warnings };
  if (!isSpoilt(defaultBackend, faults)) {
    const problem = `defaultBackend names no backend: ${dotted([defaultBackend])}`;
    warnings.push(warn(defaultBackend, problem, (layer) => layer.defaultBackend !== undefined));
  }
  return { config: { ...rest, backends }, warnings };
}
