/** `--attach FILE`: images by what they are, everything else as text. */
import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { PromptBlock } from "../../acp/types.ts";
import { fileProblem } from "./file-problem.ts";
import { UsageError } from "../../host/usage-error.ts";

/** The services behind the agents take images of about 5 MB; base64 adds a third. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
/** More text than fits any context. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/** The blocks in the order of the files. @throws UsageError naming the file that cannot be attached and why. */
export function readAttachments(files: readonly string[], cwd: string): Promise<PromptBlock[]> {
  return Promise.all(files.map((file) => readAttachment(file, resolve(cwd, file))));
}

async function readAttachment(file: string, path: string): Promise<PromptBlock> {
  const refuse = (why: string) => new UsageError(`Cannot attach ${file}: ${why}`);
  const bytes = await readWhole(path).catch((error: unknown) => {
    throw refuse(error instanceof UsageError ? error.message : fileProblem(error));
  });
  const mimeType = imageType(bytes);
  if (mimeType !== undefined) return { type: "image", mimeType, data: bytes.toString("base64") };
  if (bytes.length > MAX_TEXT_BYTES) throw refuse(`a text may have at most ${MAX_TEXT_BYTES / 1024 / 1024} MiB`);
  const text = bytes.includes(0) ? undefined : decodeText(bytes);
  if (text === undefined) throw refuse("it is neither an image (PNG, JPEG, GIF, WebP) nor text in UTF-8");
  return { type: "resource", resource: { uri: pathToFileURL(path).href, text, mimeType: textType(basename(path)) } };
}

async function readWhole(path: string): Promise<Buffer> {
  const found = await stat(path);
  if (!found.isFile() && !found.isDirectory()) throw new UsageError("it is not a file");
  if (found.size > MAX_IMAGE_BYTES) throw new UsageError(`it has more than ${MAX_IMAGE_BYTES / 1024 / 1024} MiB`);
  return readFile(path);
}

/** The first bytes tell; a name can lie. */
function imageType(bytes: Buffer): string | undefined {
  const starts = (text: string, at = 0) => bytes.subarray(at, at + text.length).equals(Buffer.from(text, "latin1"));
  if (starts("\u0089PNG\r\n\u001a\n")) return "image/png";
  if (starts("\u00ff\u00d8\u00ff")) return "image/jpeg";
  if (starts("GIF87a") || starts("GIF89a")) return "image/gif";
  if (starts("RIFF") && starts("WEBP", 8)) return "image/webp";
  return undefined;
}

function decodeText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const TEXT_TYPES: ReadonlyMap<string, string> = new Map([
  ["json", "application/json"],
  ["md", "text/markdown"],
  ["html", "text/html"],
  ["csv", "text/csv"],
]);

function textType(name: string): string {
  return TEXT_TYPES.get(name.slice(name.lastIndexOf(".") + 1).toLowerCase()) ?? "text/plain";
}
