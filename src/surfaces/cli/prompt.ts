/** Where the prompt comes from: words, a file, stdin. A call that has its prompt never waits for stdin. */
import { addAbortSignal } from "node:stream";
import { resolve } from "node:path";
import type { Input, Io } from "./io.ts";
import { systemCode } from "../../errors/system-code.ts";
import { UsageError } from "../../host/usage-error.ts";
import { fileProblem } from "./file-problem.ts";

/** More is no prompt but a file that should be attached or left for the agent to read. */
const MAX_PROMPT_BYTES = 10 * 1024 * 1024;

/** How a call without words is told: what it would do with them, what they are, and how it is written. */
export interface NothingWords {
  readonly to: string;
  readonly what: string;
  readonly usage: string;
}

/**
 * Words and text joined by a blank line; without words and `-f`, all of stdin unless it is a terminal.
 * @throws UsageError when there is nothing to ask, or it is not text.
 */
export async function readPrompt(
  { words, file }: { readonly words: readonly string[]; readonly file: string | undefined },
  { stdin, cwd }: Pick<Io, "stdin" | "cwd">,
  signal: AbortSignal,
  nothing: NothingWords = { to: "ask", what: "prompt", usage: 'ostler ask "your question"' },
): Promise<string> {
  const question = words.join(" ").trim();
  const text = readsStdin({ words, file }, stdin)
    ? decode(await readAll(stdin, signal), "stdin")
    : file === undefined
      ? ""
      : decode(await readPromptFile(resolve(cwd, file), file, signal), file);
  const prompt = [question, withoutLastLineEnds(text)].filter((part) => part.trim() !== "").join("\n\n");
  if (prompt === "") throw new UsageError(nothingGiven(nothing, { file, stdin }));
  return prompt;
}

/** Whether the prompt, or a part of it, is on stdin. */
export function readsStdin(
  { words, file }: { readonly words: readonly string[]; readonly file: string | undefined },
  stdin: Pick<Input, "kind">,
): boolean {
  return file === "-" || (file === undefined && words.length === 0 && stdin.kind !== "terminal");
}

/**
 * Calls back once when a pipe holds data that nobody asked for; never waits. A pipe that others read too is left alone,
 * because looking takes data out of it. Returns what ends the watch.
 */
export function watchUnreadInput(stdin: Input, onFound: () => void): () => void {
  if (stdin.kind !== "pipe" || stdin.shared) return () => {};
  const stream = stdin.open();
  const look = () => {
    if (stream.readableLength === 0) return;
    stream.off("readable", look);
    onFound();
  };
  stream.on("error", () => {}).on("readable", look);
  return () => void stream.destroy();
}

async function readAll(stdin: Input, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stream: AsyncIterable<string | Uint8Array> = addAbortSignal(signal, stdin.open());
  for await (const chunk of stream) {
    const part = Buffer.from(chunk);
    chunks.push(part);
    bytes += part.length;
    if (bytes > MAX_PROMPT_BYTES) throw tooLong("stdin");
  }
  return Buffer.concat(chunks);
}

async function readPromptFile(path: string, file: string, signal: AbortSignal): Promise<Buffer> {
  const { readBounded } = await import("../../host/read-bounded.ts");
  try {
    return await readBounded(path, { maxBytes: MAX_PROMPT_BYTES, signal });
  } catch (error) {
    if (systemCode(error) === "ERR_FS_FILE_TOO_LARGE") throw tooLong(file);
    throw new UsageError(`Cannot read the prompt file ${file}: ${fileProblem(error)}`);
  }
}

/** By hand: a regular expression looks at ten megabytes of line ends once for each of them. */
function withoutLastLineEnds(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === "\n" || text.charAt(end - 1) === "\r") end -= 1;
  return text.slice(0, end);
}

function decode(bytes: Buffer, from: string): string {
  if (bytes.includes(0))
    throw new UsageError(`The text from ${from} holds NUL bytes, so it is no prompt; attach files with --attach`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`The text from ${from} is not UTF-8`);
  }
}

function tooLong(from: string): UsageError {
  return new UsageError(`The text from ${from} is longer than ${MAX_PROMPT_BYTES / 1024 / 1024} MiB`);
}

function nothingGiven(
  { to, what, usage }: NothingWords,
  { file, stdin }: { readonly file: string | undefined; readonly stdin: Pick<Input, "kind"> },
): string {
  if (file !== undefined && file !== "-") return `Nothing to ${to}: ${file} is empty`;
  const where = stdin.kind === "terminal" ? "" : " and stdin is empty";
  return `Nothing to ${to}: no ${what} is given${where}; write: ${usage}`;
}
