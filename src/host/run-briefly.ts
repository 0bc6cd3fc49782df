/** Asks a program one thing, such as its version: bounded in time and output, and nothing of it is left running. */
import { spawn } from "node:child_process";

export interface BriefRun {
  /** Null when it was ended, or never began. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_CHARS = 4096;
/** What a program says after its exit arrives at once or not at all. */
const LAST_WORDS_MS = 200;

/** Resolves with its exit, at the latest after `timeoutMs`; whatever it started is ended then. Rejects when the signal aborts. */
export async function runBriefly(
  file: string,
  args: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
    readonly signal?: AbortSignal;
    /** What it may read; none by default. */
    readonly input?: string;
  },
): Promise<BriefRun> {
  const { env, timeoutMs, signal, input } = options;
  signal?.throwIfAborted();
  const child = spawn(file, args, { env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: true });
  // It may leave without reading.
  child.stdin.on("error", () => {}).end(input);
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      if (said[name].length < MAX_CHARS) said[name] += text;
    });
  }
  const { promise: over, resolve } = Promise.withResolvers<number | null>();
  child.once("error", () => resolve(null));
  child.once("close", resolve);
  // A helper that holds the pipes open does not hold doctor.
  child.once("exit", (code) => setTimeout(resolve, LAST_WORDS_MS, code).unref());
  const deadline = setTimeout(resolve, timeoutMs, null);
  const onAbort = (): void => resolve(null);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const code = await over;
    signal?.throwIfAborted();
    return { code, ...said };
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener("abort", onAbort);
    endGroup(child.pid);
    for (const name of ["stdout", "stderr"] as const) child[name].destroy();
  }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody of the group is left.
  }
}
