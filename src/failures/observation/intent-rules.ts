/**
 * What a command declares before it runs, read strictly: one field that breaks its rule refuses the whole call, before
 * anything ran (failure observations, section 9.1). Arguments are not coerced. Pure.
 */
import { isObject } from "../../acp/frames.ts";
import type { RunIntent } from "../intent.ts";

/** The fields of an intent among the arguments of a call. */
export const INTENT_FIELDS: readonly (keyof RunIntent)[] = ["operationId", "attemptId", "expectedExitCodes"];

const ID = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/;
const MAX_CODES = 16;
const MAX_CODE = 255;
const ID_RULE = "1 to 64 of the characters A-Z a-z 0-9 . _ : / - that begin with a letter or a digit";
const CODES_RULE = `a list of 1 to ${MAX_CODES} different whole numbers from 1 to ${MAX_CODE}`;

export type IntentReading =
  | { readonly ok: true; readonly intent: RunIntent }
  /** `reason`: one sentence that names the field and its rule. */
  | { readonly ok: false; readonly reason: string };

/** Reads the intent among the arguments of a call; other arguments are not looked at, and no object declares nothing. */
export function readIntent(input: unknown): IntentReading {
  const fields = isObject(input) ? input : {};
  const operationId = readId(fields["operationId"]);
  const attemptId = readId(fields["attemptId"]);
  const expectedExitCodes = readCodes(fields["expectedExitCodes"]);
  if (operationId === null) return refused("operationId", ID_RULE);
  if (attemptId === null) return refused("attemptId", ID_RULE);
  if (expectedExitCodes === null) return refused("expectedExitCodes", CODES_RULE);
  const intent = {
    ...(operationId !== undefined && { operationId }),
    ...(attemptId !== undefined && { attemptId }),
    ...(expectedExitCodes !== undefined && { expectedExitCodes }),
  };
  return { ok: true, intent };
}

function refused(field: keyof RunIntent, rule: string): IntentReading {
  return { ok: false, reason: `${field} must be ${rule}` };
}

/** Null: not one. */
function readId(value: unknown): string | undefined | null {
  if (value == null || value === "") return undefined;
  return typeof value === "string" && ID.test(value) ? value : null;
}

/** Null: none. Exit 0 is success already, so that zeros are dropped first. */
function readCodes(value: unknown): readonly number[] | undefined | null {
  if (value == null) return undefined;
  if (!Array.isArray(value) || value.length === 0) return null;
  const codes: readonly unknown[] = value.filter((code) => code !== 0);
  if (codes.length > MAX_CODES || new Set(codes).size < codes.length || !codes.every(isCode)) return null;
  return codes.length === 0 ? undefined : codes;
}

function isCode(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_CODE;
}
