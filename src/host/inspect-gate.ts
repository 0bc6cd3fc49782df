/** Whether the agent asks before its tools run, and whether `gate: required` would refuse it. */
import type { Backend } from "../acp/ports.ts";
import { fine, remark, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";

export interface GateFacts {
  readonly backend: Backend;
  readonly args: readonly string[];
  /** The mode of the configuration. */
  readonly mode: string | undefined;
  readonly isRequired: boolean;
  /** What the harness's own settings let run unasked, as a sentence. */
  readonly allowance: string | undefined;
  /** `backends.codex in ~/.config/ostler/config.json`, for sentences. */
  readonly where: (key: string) => string;
}

/** One finding, which fails only where the gate is required. */
export function inspectGate({ backend, args, mode, isRequired, allowance, where }: GateFacts): Finding {
  const refused = isRequired ? "; gate: required refuses it" : "";
  const judge = isRequired ? wrong : remark;
  switch (backend.toolGate(args)) {
    case "asks":
      return fine("gate", ASKS);
    case "acts": {
      const flags = args.filter((arg) => backend.toolGate([arg]) === "acts").join(" ");
      return judge(
        "gate",
        `With ${flags} its tools run without asking${refused}`,
        `Remove ${flags} from ${where("command")}`,
      );
    }
    case "unknown":
      return judge(
        "gate",
        `Nobody knows whether it asks before it acts${refused}`,
        `Set ${where("profile")} to claude, codex or kiro if it is one of them`,
      );
    case "by_mode": {
      if (mode === undefined || backend.modeAsks(mode) === true) {
        if (allowance === undefined) return fine("gate", ASKS);
        return judge("gate", `${allowance}${refused}`, "Take that out of the file where Ostler is to decide");
      }
      const asking = backend.modeToSet({ current: null, available: [] }, "reads");
      const does = backend.modeAsks(mode) === false ? "runs tools without asking" : "may run tools without asking";
      return judge("gate", `Mode "${mode}" ${does}${refused}`, `Set ${where("mode")} to ${asking}, or remove it`);
    }
  }
}

const ASKS = "asks before it acts";
