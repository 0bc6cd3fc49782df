/** Texts measured and cut in bytes of UTF-8. Pure. A cut never splits a code point. */

const ELLIPSIS = "…";
const ELLIPSIS_BYTES = 3;
/** The longest code point has four bytes, so at most three of them continue one. */
const MAX_CONTINUATION_BYTES = 3;

/** Bytes of the text in UTF-8. */
export function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

/** The longest beginning of at most `maxBytes`. */
export function startOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes ? text : bytes.toString("utf8", 0, boundaryBefore(bytes, maxBytes));
}

/** As {@link startOf}; what was cut ends in `…`, which counts. Empty when not even that fits. */
export function cutTo(text: string, maxBytes: number): string {
  if (bytesOf(text) <= maxBytes) return text;
  return maxBytes < ELLIPSIS_BYTES ? "" : `${startOf(text, maxBytes - ELLIPSIS_BYTES).trimEnd()}${ELLIPSIS}`;
}

/** The rest of the text from a byte on; undefined when the byte is beyond its end or inside of a code point. */
export function restFrom(text: string, byte: number): string | undefined {
  const bytes = Buffer.from(text);
  if (byte > bytes.length || isContinuation(bytes[byte])) return undefined;
  return bytes.toString("utf8", byte);
}

/** The last boundary between code points at or before `offset`; bytes that are no UTF-8 can be cut anywhere. */
export function boundaryBefore(bytes: Uint8Array, offset: number): number {
  const wanted = Math.max(0, Math.min(offset, bytes.length));
  let end = wanted;
  while (end > wanted - MAX_CONTINUATION_BYTES && isContinuation(bytes[end])) end -= 1;
  return isContinuation(bytes[end]) ? wanted : Math.max(0, end);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
