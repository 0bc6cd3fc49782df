/**
 * Which machine this is, over its restarts. `OwnerIdentity.system` names one boot: alone it cannot tell a run of before the
 * restart, of which nothing is left, from one that lives on another machine with the same home folder.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

const TAG_CHARS = 12;

/** Hex characters that stand for the machine. */
export function thisMachine(): string {
  // The id is not to be told as it is (machine-id(5)); machines made from one image are told apart by their names.
  return createHash("sha256").update(`${machineId()} ${hostname()}`).digest("hex").slice(0, TAG_CHARS);
}

/** Empty where the system has none, as in most containers. */
function machineId(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    return "";
  }
}

/** The boot that a system belongs to; undefined where the system is not named by one. */
export function bootOf(system: string): string | undefined {
  const [boot, namespace] = system.split("-");
  return namespace === undefined ? undefined : boot;
}
