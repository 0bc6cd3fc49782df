/** Parts of an answer that are no text. */
import type { TurnEventBody } from "./events.ts";
import type { Frame } from "./frames.ts";
import { readChunkMedia } from "./normalize.ts";

/** What is said in place of a chunk that is an answer and cannot be shown; undefined for text. */
export function unshownMedia(update: Frame): TurnEventBody | undefined {
  const media = readChunkMedia(update);
  if (media === undefined) return undefined;
  return { type: "notice", from: "ostler", text: `The agent sent content of type ${media}, which is not shown here` };
}
