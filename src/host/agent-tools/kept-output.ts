/** What a command wrote, as much of it as a model should read: its beginning and its end. */

const HALF_BYTES = 16 * 1024;

/** Bounded: what lies between the two halves is counted and forgotten. */
export class KeptOutput {
  readonly #halfBytes: number;
  #head = Buffer.alloc(0);
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;

  /** `halfBytes`: how much of the beginning, and how much of the end. */
  constructor(halfBytes: number = HALF_BYTES) {
    this.#halfBytes = halfBytes;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const room = this.#halfBytes - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)]);
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= this.#halfBytes)
      this.#tailBytes -= this.#tail.shift()?.length ?? 0;
  }

  /** As text; a line says how much was left out, and where. */
  text(): string {
    const tail = Buffer.concat(this.#tail).subarray(-this.#halfBytes);
    if (this.#head.length + tail.length === this.#bytes) return Buffer.concat([this.#head, tail]).toString();
    const before = this.#head.subarray(0, this.#head.length - tornBytes(this.#head));
    const after = tail.subarray(tail.findIndex((byte) => !isContinuation(byte)));
    const leftOut = this.#bytes - before.length - after.length;
    return `${before.toString()}\n[${leftOut} bytes left out here]\n${after.toString()}`;
  }
}

/** How many bytes at the end belong to a character whose rest is missing. */
function tornBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
