/** Hands a command to a supervisor of its own and tells what becomes of it, for as long as somebody wants to know. */
import { EXIT, KINDS } from "../../errors/kinds.ts";
import { cleanLine } from "../../errors/redact.ts";
import type { CommandLaunch } from "../../host/command-run-launch.ts";
import { signalExitCode } from "../shared/exit-code.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { BatchedOutput } from "./output.ts";
import { SupervisorLink } from "./run-supervisor-launch.ts";

const MAX_SENTENCE_CHARS = 1000;

/**
 * Prints the id of the run once it is started. With `awaited` it stays until the end, shows the notifications on stderr and
 * returns the exit code of the command; Ctrl-C and TERM then end the command, and the end of the terminal does not.
 */
export async function runInBackground(
  launch: CommandLaunch,
  { json, warnings }: { readonly json: boolean; readonly warnings: readonly string[] },
  io: Io,
): Promise<number> {
  using interrupt = new Interrupt(io);
  const stdout = new BatchedOutput(io.stdout);
  const stderr = new BatchedOutput(io.stderr);
  const warn = (sentence: string): void => stderr.write(`ostler: ${cleanLine(sentence, MAX_SENTENCE_CHARS)}\n`);
  for (const warning of warnings) warn(warning);
  const link = new SupervisorLink(launch, io);
  let runId: string | undefined;
  const onStop = (): void => {
    if (interrupt.received === "SIGHUP") link.leave();
    else link.stop();
  };
  interrupt.kill = () => link.stop();
  interrupt.signal.addEventListener("abort", onStop, { once: true });
  try {
    for await (const news of link.news()) {
      switch (news.type) {
        case "refused":
          warn(news.sentence);
          return EXIT.failed;
        case "unconfined":
          warn(`The command is not confined: ${news.because}`);
          break;
        case "unstarted":
          warn(news.sentence);
          stdout.write(json ? `${JSON.stringify({ run: news.runId, status: "failed" })}\n` : "");
          return KINDS.agent_spawn.exit;
        case "started":
          runId = news.runId;
          if (!json) stdout.write(`${runId}\n`);
          else if (!launch.awaited) stdout.write(`${JSON.stringify({ run: runId })}\n`);
          if (!launch.awaited) return EXIT.completed;
          break;
        case "notice":
          stderr.write(`${news.text}\n`);
          break;
        case "ended":
          if (json) stdout.write(`${JSON.stringify({ run: runId, status: news.status, exitCode: news.exitCode })}\n`);
          return interrupt.received === undefined ? news.exitCode : signalExitCode(interrupt.received);
      }
    }
    if (interrupt.received !== undefined) return signalExitCode(interrupt.received);
    warn(runId === undefined ? "The supervisor ended before it started anything" : lostSentence(runId));
    return EXIT.failed;
  } finally {
    link.leave();
    await stdout.finish();
    await stderr.finish();
  }
}

function lostSentence(runId: string): string {
  return `The supervisor of ${runId} ended before the command did; ostler runs show ${runId} says what is left of it`;
}
