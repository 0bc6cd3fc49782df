/**
 * Bytes to JSON-RPC frames. Anything that is not a frame is dropped and counted, never answered and never an error:
 * agents print banners, logs and escape sequences on stdout (case C12; kiro wire notes, section 2). A line is bounded,
 * because a runaway agent must not take the supervisor's memory with it.
 */
import { StringDecoder } from "node:string_decoder";

/** One JSON-RPC message as received: an object with a `method` or an `id`. */
export type Frame = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Frame {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface FrameReaderOptions {
  /** Longest line that is accepted. */
  readonly lineBytes: number;
  /** `chars` is the length of its line. */
  readonly onFrame: (frame: Frame, chars: number) => void;
  /** A line exceeded the bound; the reader is finished and ignores everything after. */
  readonly onOversize: () => void;
}

/** How many noise lines are kept for the debug log (case C12). */
const KEPT_NOISE_LINES = 5;
const NOISE_LINE_CHARS = 200;
/**
 * So much is decoded at a time. The text lives while its lines are handled, and what lives at every collection makes V8
 * give the process more memory: whole chunks of a pipe, 64 KiB, cost 15 MB.
 */
const PIECE_BYTES = 16 * 1024;
const NEWLINE = "\n";
const OPEN_BRACE = 123;
// ESC ] ... BEL or ESC \ (title sequences), and ESC [ ... letter (colours), in front of a frame on the same line.
const LEADING_ESCAPES =
  // oxlint-disable-next-line no-control-regex
  /^(?:\u001b\][^\u0007\u001b]{0,1024}(?:\u0007|\u001b\\)|\u001b\[[0-9;?]{0,32}[A-Za-z]|[\s\uFEFF\u0000-\u0008])+/;
/** Escapes stand in front of a frame, not in front of megabytes: a longer match overflows the stack of the engine. */
const MAX_ESCAPE_CHARS = 4096;
/** A banner printed without a newline stands in front of the first frame of some agents. */
const FRAME_START = '{"jsonrpc"';

/** Reads a stream of chunks; `push` and `end` call back synchronously and in order. */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  readonly #decoder = new StringDecoder("utf8");
  #parts: string[] = [];
  #pendingBytes = 0;
  #broken = false;
  /** Lines that were no frame. */
  noiseLines = 0;
  /** The first few of them, cut. Not scrubbed: for the log, which scrubs. */
  readonly noiseSample: string[] = [];

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      if (this.#broken) return;
      this.#pushPiece(chunk.subarray(start, start + PIECE_BYTES));
    }
  }

  /** End of the stream: a last line without a newline still counts (case C13 b). */
  end(): void {
    if (this.#broken) return;
    const line = this.#parts.join("") + this.#decoder.end();
    this.#parts = [];
    if (line !== "") this.#line(line);
  }

  #pushPiece(chunk: Buffer): void {
    const text = this.#decoder.write(chunk);
    let end = text.indexOf(NEWLINE);
    if (end < 0) {
      this.#keep(text, chunk.length);
      return;
    }
    let start = 0;
    if (this.#parts.length > 0) {
      this.#parts.push(text.slice(0, end));
      const line = this.#parts.join("");
      this.#parts = [];
      this.#line(line);
      start = end + 1;
      end = text.indexOf(NEWLINE, start);
    }
    this.#pendingBytes = 0;
    while (end >= 0) {
      this.#line(text.slice(start, end));
      start = end + 1;
      end = text.indexOf(NEWLINE, start);
    }
    if (start < text.length) this.#keep(text.slice(start), text.length - start);
  }

  #keep(text: string, bytes: number): void {
    this.#parts.push(text);
    this.#pendingBytes += bytes;
    if (this.#pendingBytes <= this.#options.lineBytes) return;
    this.#broken = true;
    this.#parts = [];
    this.#options.onOversize();
  }

  #line(line: string): void {
    if (this.#broken) return;
    const frame = line.charCodeAt(0) === OPEN_BRACE ? parse(line) : undefined;
    const read = frame ?? recover(line);
    if (read !== undefined) this.#options.onFrame(read, line.length);
    else if (line !== "" && line !== "\r") this.#noise(line);
  }

  #noise(line: string): void {
    this.noiseLines += 1;
    if (this.noiseSample.length < KEPT_NOISE_LINES) this.noiseSample.push(line.slice(0, NOISE_LINE_CHARS));
  }
}

function parse(line: string): Frame | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  return typeof value["method"] === "string" || value["id"] !== undefined ? value : undefined;
}

function recover(line: string): Frame | undefined {
  const escapes = LEADING_ESCAPES.exec(line.slice(0, MAX_ESCAPE_CHARS))?.[0].length ?? 0;
  if (escapes > 0 && line.charCodeAt(escapes) === OPEN_BRACE) return parse(line.slice(escapes));
  const at = line.indexOf(FRAME_START);
  return at > 0 ? parse(line.slice(at)) : undefined;
}
