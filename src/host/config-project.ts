/**
 * What a project file may say. It comes with a checkout that somebody else may have written, so it may only tighten:
 * commands, environment, modes and profiles are the user's alone, approval may only go down, and so may numbers.
 */
import type { Approval } from "../acp/ports.ts";
import type { Config } from "./config-defaults.ts";
import { dotted } from "./config-layer.ts";
import type { LayerReading } from "./config-layer.ts";
import type { ConfigLayer } from "./config-schema.ts";

const USERS_ALONE = ["retention", "restart", "gate", "failures", "notify"] as const;
const USERS_ALONE_PER_BACKEND = ["command", "env", "inheritEnv", "profile", "air", "mode"] as const;
const LOWERED_ONLY = ["timeouts", "retry", "limits"] as const;
const STRICTNESS: Readonly<Record<Approval, number>> = { all: 0, reads: 1, none: 2 };

/** Takes out of a project file what would loosen the configuration so far, with one warning each. */
export function keepTightening({ layer, warnings }: LayerReading, base: Config, where: string): LayerReading {
  const dropped: string[] = [];
  const kept: ConfigLayer = { ...layer };
  for (const name of USERS_ALONE) {
    if (kept[name] !== undefined) dropped.push(name);
    delete kept[name];
  }
  if (kept.approve !== undefined && STRICTNESS[kept.approve] < STRICTNESS[base.approve]) {
    dropped.push("approve");
    delete kept.approve;
  }
  if (kept.confined === false && base.confined) {
    dropped.push("confined");
    delete kept.confined;
  }
  for (const name of LOWERED_ONLY) {
    const section: Record<string, number> = { ...kept[name] };
    const limits: Readonly<Record<string, number>> = base[name];
    for (const [key, value] of Object.entries(section)) {
      if (value <= (limits[key] ?? value)) continue;
      dropped.push(dotted([name, key]));
      delete section[key];
    }
    kept[name] = section;
  }
  kept.backends = Object.fromEntries(
    Object.entries(layer.backends ?? {}).map(([backend, settings]) => {
      const own = { ...settings };
      for (const name of USERS_ALONE_PER_BACKEND) {
        if (own[name] !== undefined) dropped.push(dotted(["backends", backend, name]));
        delete own[name];
      }
      return [backend, own];
    }),
  );
  const said = dropped.map((name) => `${where}: a project file may only tighten, so ${name} is ignored`);
  return { layer: kept, warnings: [...warnings, ...said] };
}
