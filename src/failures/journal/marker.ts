/**
 * The companion of a journal: says that something was observed, and how much, so that a journal that is gone or was cut is
 * noticed (failure observations, section 12).
 */
import { existsSync } from "node:fs";
import { isObject } from "../../acp/frames.ts";
import { createWhole, readWhole, replaceWhole } from "../runs/whole-file.ts";
import { systemCode } from "../../errors/system-code.ts";
import { isInteger } from "./event-schema.ts";

const MAX_BYTES = 4096;

/** How much of a journal there was when somebody last looked. */
export interface Marker {
  readonly records: number;
  readonly bytes: number;
}

/** Undefined when there is none. One that says nothing, or cannot be read, still says that something was observed. */
export function readMarker(file: string): Marker | undefined {
  try {
    const value: unknown = JSON.parse(readWhole(file, MAX_BYTES));
    const { v, records, bytes } = isObject(value) ? value : {};
    if (v === 1 && isCount(records) && isCount(bytes)) return { records, bytes };
  } catch {}
  return existsSync(file) ? { records: 0, bytes: 0 } : undefined;
}

/** Makes it where there is none. Throws the system's error. */
export function createMarker(file: string, marker: Marker): void {
  try {
    createWhole(file, textOf(marker));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

/** Brings it up to date, in one step. Throws the system's error. */
export function refreshMarker(file: string, marker: Marker): void {
  replaceWhole(file, textOf(marker));
}

function textOf({ records, bytes }: Marker): string {
  return JSON.stringify({ v: 1, records, bytes });
}

function isCount(value: unknown): value is number {
  return isInteger(value, 0, Number.MAX_SAFE_INTEGER);
}
