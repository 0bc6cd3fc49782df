/** `ostler steer`: a person's words for the turn that runs in a session of another terminal. */
import { AcpError } from "../../errors/acp-error.ts";
import { EXIT } from "../../errors/kinds.ts";
import { cleanLine } from "../../errors/redact.ts";
import { fitsOwnerLine, steerOwner } from "../../host/owner-work.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { openStore } from "../../host/store.ts";
import { UsageError } from "../../host/usage-error.ts";
import { signalExitCode } from "../shared/exit-code.ts";
import { findSession, readFolder } from "./find-session.ts";
import { harmlessJson } from "./harmless-json.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { STEER_OPTIONS } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";
import { readPrompt } from "./prompt.ts";
import { answered, ownerSocketOf } from "./session-owner.ts";

/** An agent puts the words where its model finds them; it does not wait for the model. */
const ANSWER_MS = 35_000;
const MAX_NAME_CHARS = 200;
const MAX_PROBLEM_CHARS = 1000;
const USAGE = 'ostler steer -s NAME "what the agent should hear"';

/**
 * Throws UsageError, kind `session_not_found` (exit 4), kind `request_rejected` (exit 1) where no turn runs or the agent
 * takes no steering, and kind `busy` (exit 10) where the owner cannot be reached.
 */
export async function steer(argv: readonly string[], io: Io): Promise<number> {
  const { words, options } = parseArguments(argv, STEER_OPTIONS);
  const { session: name, file, json } = options;
  if (name === undefined) throw new UsageError(`Say which session is meant: ${USAGE}`);
  using interrupt = new Interrupt(io);
  try {
    const text = await readPrompt({ words, file }, io, interrupt.signal, { to: "say", what: "text", usage: USAGE });
    if (!fitsOwnerLine(text))
      throw new UsageError("The text is too long to steer with; put it into a file and name that");
    using store = openStore(ostlerPaths(io.env));
    const record = findSession(store, name, readFolder(options.cwd, io), io.env);
    const path = ownerSocketOf(store, record);
    if (path === undefined) throw nothingRuns(name);
    const outcome = await answered(
      steerOwner(path, record.id, text, { timeoutMs: ANSWER_MS, signal: interrupt.signal }),
    );
    if (outcome === "promptRequired") throw nothingRuns(name);
    await print(io, json ? harmlessJson({ outcome }) : said(outcome, name));
    return EXIT.completed;
  } catch (error) {
    if (interrupt.received !== undefined) return signalExitCode(interrupt.received);
    if (json && error instanceof AcpError) {
      const problem = cleanLine(error.message, MAX_PROBLEM_CHARS);
      await print(io, harmlessJson({ outcome: "failed", kind: error.kind, problem }));
    }
    throw error;
  }
}

async function print(io: Io, line: string): Promise<void> {
  const stdout = new BatchedOutput(io.stdout);
  stdout.write(`${line}\n`);
  await stdout.finish();
}

function said(outcome: "injected" | "startedNewTurn", name: string): string {
  const where = cleanLine(`"${name}"`, MAX_NAME_CHARS);
  return outcome === "injected"
    ? `The running turn of ${where} has it; what comes of it is shown where that turn runs`
    : `No turn ran in ${where}, so the agent began one of its own with it; it is shown where the session is open`;
}

function nothingRuns(name: string): AcpError {
  const title = `No turn runs in "${name}", so nothing was sent; as a prompt it is: ostler ask -s ${name} "…"`;
  return new AcpError(title, { kind: "request_rejected" });
}
