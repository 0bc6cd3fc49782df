/** Agents that nobody here has met, under the generic profile: started by a host, as `ostler ask --agent` starts them. */
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Approval } from "../../src/acp/ports.ts";
import type { Runtime } from "../../src/acp/runtime.ts";
import type { Session } from "../../src/acp/session-link.ts";
import { DEFAULT_CONFIG } from "../../src/host/config-defaults.ts";
import { createHost } from "../../src/host/host.ts";
import type { Scenario } from "../fixtures/agents/scenario.ts";
import { scenarioFile } from "../fixtures/agents/scenario.ts";
import { untilLogged } from "./drive.ts";

const SCRIPTED = fileURLToPath(new URL("../fixtures/agents/scripted.mjs", import.meta.url));
const LAUNCHER = fileURLToPath(new URL("../fixtures/agents/launcher.mjs", import.meta.url));

export interface StrangerOptions {
  readonly approve?: Approval;
  /** A person who is asked and never answers. */
  readonly silentPerson?: boolean;
  /** Started by a launcher, see `launcher.mjs`. */
  readonly launcher?: object;
}

/** A running stranger. */
export interface Stranger extends AsyncDisposable {
  readonly runtime: Runtime;
  /** Where the agent works, and what `untilFile` is relative to. */
  readonly folder: string;
  readonly log: string;
  open(): Promise<Session>;
  /** Creates a file in the agent's folder. */
  touch(name: string): void;
  /** Waits until the agent's log fulfils a condition. */
  until(condition: () => boolean): Promise<void>;
  /** Ends everything. */
  close(): Promise<void>;
}

/** Starts one; it is ended with the scope that holds it. */
export async function meet(scenario: Scenario, options: StrangerOptions = {}): Promise<Stranger> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ostler-stranger-")));
  const log = join(folder, "agent.log");
  writeFileSync(log, "");
  const scripted = [process.execPath, SCRIPTED, scenarioFile(scenario, folder)];
  const command =
    options.launcher === undefined
      ? scripted
      : [process.execPath, LAUNCHER, `'${JSON.stringify(options.launcher)}'`, ...scripted];
  const env = { PATH: process.env["PATH"], HOME: folder, OSTLER_HOME: join(folder, "ostler"), AGENT_LOG: log };
  // Shorter than a test may take, so that a mistake in a scenario leaves no process.
  const config = { ...DEFAULT_CONFIG, timeouts: { ...DEFAULT_CONFIG.timeouts, handshakeS: 10, sessionS: 10 } };
  const host = await createHost({ env, cwd: folder, loaded: { config, warnings: [], sources: [] } });
  const close = () => host.close();
  try {
    const { approve = "reads", silentPerson = false } = options;
    const ask = silentPerson ? { ask: () => new Promise<never>(() => {}) } : {};
    const { runtime } = await host.openRuntime({ agent: command.join(" "), profile: "generic", approve, ...ask });
    return {
      runtime,
      folder,
      log,
      open: () => runtime.openSession({ cwd: folder }),
      touch: (name) => writeFileSync(join(folder, name), ""),
      until: (condition) => untilLogged(log, condition),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
