/** Config files to one configuration: each is validated by itself and laid over what came before. */
import { backendNames, isBuiltIn } from "./backend-names.ts";
import { DEFAULT_BACKEND_SETTINGS, DEFAULT_CONFIG } from "./config-defaults.ts";
import type { BackendSettings, Config } from "./config-defaults.ts";
import { dotted, parseConfigText, readConfigLayer } from "./config-layer.ts";
import type { LayerReading } from "./config-layer.ts";
import { keepTightening } from "./config-project.ts";
import type { ConfigLayer } from "./config-schema.ts";
import type { ConfigSource } from "./config.ts";
import { nearestName } from "./nearest-name.ts";

/** The merged configuration and what there is to say about it. Throws UsageError, see `config-layer.ts`. */
export function mergeSources(sources: readonly ConfigSource[]): { config: Config; warnings: readonly string[] } {
  let config = DEFAULT_CONFIG;
  const warnings: string[] = [];
  for (const source of sources) {
    const reading = readSource(source, config);
    config = overlay(config, reading.layer);
    warnings.push(...reading.warnings);
  }
  const checked = checkBackendNames(config);
  return { config: checked.config, warnings: [...warnings, ...checked.warnings] };
}

function readSource({ where, isProject, text }: ConfigSource, base: Config): LayerReading {
  if (text === undefined)
    return unreadable(`${where} cannot be read: it is ignored, and nothing is approved by itself`);
  const { raw, warning } = parseConfigText(text, where);
  if (raw === undefined) return unreadable(warning ?? where);
  const reading = readDeep(() => readConfigLayer(raw, { where, isProject }));
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

/** Names that lead nowhere are said now, with the name that was meant, instead of when they are used. */
function checkBackendNames(config: Config): { config: Config; warnings: string[] } {
  const isUsable = (name: string) => isBuiltIn(name) || config.backends[name]?.command !== undefined;
  const names = backendNames(config).filter(isUsable);
  const hint = (name: string) => {
    const near = nearestName(name, names);
    return near === undefined ? "" : ` (did you mean "${near}"?)`;
  };
  const warnings = Object.keys(config.backends)
    .filter((name) => !isUsable(name))
    .map((name) => `${dotted(["backends", name])} has no command${hint(name)}, so it is ignored`);
  const { defaultBackend, ...rest } = config;
  const backends = Object.fromEntries(Object.entries(config.backends).filter(([name]) => isUsable(name)));
  if (defaultBackend === undefined || names.includes(defaultBackend))
    return { config: { ...config, backends }, warnings };
  warnings.push(
    `defaultBackend names no backend: ${dotted([defaultBackend])}${hint(defaultBackend)}, so it is ignored`,
  );
  return { config: { ...rest, backends }, warnings };
}
