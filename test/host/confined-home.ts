/** An Ostler's folders with something in each, a workspace beside them, and programs that attack them. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { CommandLine } from "../../src/acp/ports.ts";
import { proveConfinement } from "../../src/host/confinement.ts";
import type { Confinement, ConfinementOptions } from "../../src/host/confinement.ts";
import { ostlerPaths } from "../../src/host/paths.ts";
import type { Paths } from "../../src/host/paths.ts";

/** Who attacks. A plain user is `nobody`, where the test may become that. */
export type Who = "this user" | "a plain user";
export const EVERYBODY: readonly Who[] = process.getuid?.() === 0 ? ["this user", "a plain user"] : ["this user"];
const NOBODY = 65534;

/** What stands in the folders; the attacks are after these. */
const FILES = {
  "ostler/config.json": "{}\n",
  "ostler/state/store.sqlite": "rows\n",
  "ostler/state/provenance/ag_abcdef_1.json": '{"version":1}\n',
  "ostler/state/runs/ag_abcdef_1/meta.json": '{"version":1}\n',
  "ostler/state/runs/ag_abcdef_1/failures.jsonl": "{}\n",
  "ostler/state/runs/ag_abcdef_1/output.log": "{}\n",
  "ostler/adapters/node_modules/.bin/codex-acp": "#!/bin/sh\n",
  "app/dist/cli.js": "// Ostler itself\n",
  "work/notes.txt": "notes\n",
} as const;

export class ConfinedHome {
  /** Holds everything: an attack may rename what is below it. */
  readonly root = mkdtempSync(join(tmpdir(), "ostler-confined-"));
  readonly work = join(this.root, "mine/work");
  readonly ostler = join(this.root, "mine/ostler");
  readonly who: Who;

  constructor(who: Who = "this user") {
    this.who = who;
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(FILES)) {
      const file = join(this.root, "mine", name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    mkdirSync(join(this.ostler, "state/sockets"));
    mkdirSync(join(this.work, "empty"));
  }

  get paths(): Paths {
    return ostlerPaths({ OSTLER_HOME: this.ostler });
  }

  prove(options: Partial<ConfinementOptions> = {}): Promise<Confinement> {
    const app = join(this.root, "mine/app");
    return proveConfinement({
      paths: this.paths,
      workspace: this.work,
      env: {},
      installation: { files: app, folder: app },
      ...options,
    });
  }

  /** Proves the confinement, which must hold. */
  async confine(options: Partial<ConfinementOptions> = {}): Promise<(command: CommandLine) => CommandLine> {
    const confinement = await this.prove(options);
    if (!confinement.trusted) throw new Error(confinement.because);
    return confinement.confine;
  }

  /** Runs a shell script in the workspace as {@link who} and tells what it printed. */
  run(script: string, confine: (command: CommandLine) => CommandLine = (command) => command, victim?: number): string {
    this.#giveAway();
    const { file, args } = this.#asWho(confine({ file: "/bin/sh", args: ["-c", script] }));
    const env = {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      NODE: process.execPath,
      ROOT: this.root,
      OSTLER: this.ostler,
      STATE: join(this.ostler, "state"),
      RUN: join(this.ostler, "state/runs/ag_abcdef_1"),
      VICTIM: String(victim ?? 0),
    };
    const { stdout, stderr } = spawnSync(file, args, { cwd: this.work, env, encoding: "utf8", timeout: 30_000 });
    return stdout + stderr;
  }

  /** A process of the attacker's own user that stands in for Ostler, working in its state folder. */
  victim(): ChildProcess {
    this.#giveAway();
    const { file, args } = this.#asWho({ file: "sleep", args: ["300"] });
    const child = spawn(file, args, { cwd: join(this.ostler, "state"), stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  }

  /** Every file that is none of the workspace's, with what it holds and who may change it. */
  snapshot(): Record<string, string> {
    const found: Record<string, string> = {};
    for (const entry of readdirSync(this.root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (path.startsWith(this.work)) continue;
      const mode = statSync(path).mode.toString(8);
      found[path.slice(this.root.length)] = entry.isFile() ? `${mode} ${readFileSync(path, "utf8")}` : mode;
    }
    return found;
  }

  #asWho({ file, args }: CommandLine): CommandLine {
    if (this.who === "this user") return { file, args };
    return { file: "setpriv", args: [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", file, ...args] };
  }

  /** After the proof, which is made as the user of the test: root without its powers cannot look into others' folders. */
  #giveAway(): void {
    if (this.who === "this user") return;
    chmodSync(this.root, 0o755);
    chownSync(this.root, NOBODY, NOBODY);
    for (const entry of readdirSync(this.root, { recursive: true, withFileTypes: true }))
      chownSync(join(entry.parentPath, entry.name), NOBODY, NOBODY);
  }
}
