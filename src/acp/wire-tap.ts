/** Lets somebody listen to the wire of one agent: its frames in both directions, its stderr, and its end. */
import type { AgentChild } from "./child.ts";
import type { WireTap } from "./ports.ts";

/** Stderr may be held open by a process that the agent left behind: its last words are waited for no longer. */
const LAST_WORDS_MS = 200;
/** A line without end is told in pieces, so that it costs no memory. */
const MAX_LINE_CHARS = 64 * 1024;

/** Tells stderr by lines and, when all output has been heard, the exit. Resolves then. */
export async function tapProcess(child: AgentChild, tap: WireTap): Promise<void> {
  const { stdout, stderr } = child;
  const silent = Promise.all([closed(stdout), Promise.race([closed(stderr), exitedAndDrained(child)])]);
  let rest = "";
  stderr.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE_CHARS) {
      lines.push(rest);
      rest = "";
    }
    for (const line of lines) tap({ dir: "stderr", line });
  });
  const { code, signal } = await child.exited;
  await silent;
  if (rest !== "") tap({ dir: "stderr", line: rest });
  tap({ dir: "exit", code, signal });
}

function closed(stream: AgentChild["stdout"]): Promise<void> {
  return new Promise((resolve) => {
    stream.once("close", resolve);
  });
}

async function exitedAndDrained(child: AgentChild): Promise<void> {
  await child.exited;
  await new Promise((resolve) => {
    setTimeout(resolve, LAST_WORDS_MS).unref();
  });
}
