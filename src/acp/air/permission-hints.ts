/** How an agent wants a permission request shown (seed document 002, Permission presentation): hints, never evidence. Pure. */
import { stripControls } from "../../errors/redact.ts";
import { isObject } from "../frames.ts";
import type { PermissionOption } from "../types.ts";
import { AIR_VERSION, readAirField } from "./namespace.ts";

export interface PermissionHints {
  readonly title?: string;
  readonly description?: string;
  /** A stray key must not approve, and the noes come first. */
  readonly defaultToNo?: true;
}

/**
 * Reads the `_meta` of a request. Text that is invalid is left out. `defaultToNo` counts in a record of any version: it
 * can only make a surface stricter.
 */
export function readPermissionHints(meta: unknown): PermissionHints {
  const record = readAirField(meta, "permission");
  if (!isObject(record)) return {};
  const isKnown = record["version"] === AIR_VERSION;
  const title = isKnown ? readText(record["title"]) : undefined;
  const description = isKnown ? readText(record["description"]) : undefined;
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(record["defaultToNo"] === true && { defaultToNo: true }),
  };
}

/** In the order they are shown: as offered, and the noes first where a stray key must not approve. */
export function orderOptions(
  options: readonly PermissionOption[],
  { defaultToNo = false }: { readonly defaultToNo?: boolean },
): readonly PermissionOption[] {
  if (!defaultToNo) return options;
  return [...options.filter(isNo), ...options.filter((option) => !isNo(option))];
}

function isNo({ kind }: PermissionOption): boolean {
  return kind.startsWith("reject");
}

/** A command keeps its line breaks and has no limit here: whoever shows it cuts it. */
function readText(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = stripControls(value).trim();
  return text === "" ? undefined : text;
}
