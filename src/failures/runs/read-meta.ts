/** `meta.json` read back: a value of a wrong type makes the whole file unreadable, because trust hangs on it. Pure. */
import { isMark } from "../../acp/process-mark.ts";
import { isRunId } from "./ids.ts";
import type { RunMeta } from "./meta.ts";

type Check = (value: unknown) => boolean;

/** What a field may be. Every field of `RunMeta` has a row; one that this version does not know is kept. */
const FIELDS: Readonly<Record<keyof RunMeta, { readonly is: Check; readonly optional?: true }>> = {
  version: { is: (value) => value === 1 },
  id: { is: (value) => isText(value) && isRunId(value) },
  kind: { is: oneOf("agent", "command", "watch") },
  status: { is: oneOf("starting", "running", "completed", "failed", "cancelled", "orphaned", "lost") },
  createdAt: { is: isTime },
  endedAt: { is: isTime, optional: true },
  title: { is: isText },
  cwd: { is: isText },
  supervisor: { is: isOwner },
  settling: { is: isOwner, optional: true },
  // A signal to number 1 reaches every process of a container; Ostler itself may be that one.
  process: { is: (value) => isProcess(value) && value["pid"] !== 1 && isMarked(value), optional: true },
  exit: { is: isExit, optional: true },
  conversationId: { is: isText, optional: true },
  backend: { is: isText, optional: true },
  taskRuntime: { is: isFlag },
  owner: { is: isText, optional: true },
  operationId: { is: isText, optional: true },
  expectedExitCodes: { is: (value) => isListOf(value, isCount), optional: true },
  callback: { is: isFlag },
  told: { is: (value) => isListOf(value, oneOf("completion", "orphaned", "lost")) },
  observedTo: { is: (value) => isObject(value) && isCount(value["bytes"]) && isCount(value["n"]), optional: true },
  noiseLines: { is: isCount, optional: true },
  untrustedBecause: { is: (value) => isListOf(value, isText), optional: true },
  machine: { is: isText, optional: true },
};

/** The metadata that a text holds; undefined when it holds none that this version can rely on. */
export function readRunMeta(text: string): RunMeta | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRunMeta(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRunMeta(value: unknown): value is RunMeta {
  if (!isObject(value)) return false;
  return Object.entries(FIELDS).every(([name, { is, optional }]) =>
    value[name] === undefined ? optional === true : is(value[name]),
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isFlag(value: unknown): boolean {
  return typeof value === "boolean";
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Milliseconds that a Date can hold. */
function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(Number(value)) <= 8.64e15;
}

function isProcess(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && isCount(value["pid"]) && value["pid"] !== 0 && isText(value["startedAt"]);
}

function isOwner(value: unknown): boolean {
  return isProcess(value) && isText(value["system"]);
}

function isMarked({ mark }: Readonly<Record<string, unknown>>): boolean {
  return mark === undefined || (isText(mark) && isMark(mark));
}

function isExit(value: unknown): boolean {
  return (
    isObject(value) &&
    (value["code"] === null || isCount(value["code"])) &&
    (value["signal"] === null || isText(value["signal"]))
  );
}

function isListOf(value: unknown, is: Check): boolean {
  return Array.isArray(value) && value.every(is);
}

function oneOf(...words: readonly string[]): Check {
  return (value) => isText(value) && words.includes(value);
}
