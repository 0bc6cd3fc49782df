/**
 * Why a goal is held, one small file per conversation in `holds/` of the state folder: apart from every journal, so that
 * neither a restart nor a later record releases it (failure observations, section 11, Hold).
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../errors/system-code.ts";
import { readPermissionResource } from "../failures/incidents/permission-blocker.ts";
import type { PermissionResource } from "../failures/records.ts";
import { readWhole, replaceWhole } from "../failures/runs/whole-file.ts";

/** What a person was told that the goal of a conversation needs. No path, command or prose. */
export interface GoalHold {
  readonly incidentId: string;
  readonly resource: PermissionResource;
  /** As the report names it: a declared id, a tool, or the key of the operation. */
  readonly operation: string;
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /**
   * `due`: the report was read while nobody ran the session, so that it was not known whether a goal is active. `held`: it
   * was.
   */
  readonly status: "due" | "held";
}

const MAX_BYTES = 4096;
const PLAIN = /^[A-Za-z0-9._:|#~-]{1,200}$/;

/** What cannot be read holds: a damaged file must not set a goal free. */
const UNREADABLE: GoalHold = {
  incidentId: "unknown",
  resource: "unknown",
  operation: "unknown",
  runId: "unknown",
  since: 0,
  status: "held",
};

export class GoalHolds {
  readonly #folder: string;

  /** @param state the state folder, see `Paths` */
  constructor(state: string) {
    this.#folder = join(state, "holds");
  }

  /** Undefined when nothing is held. Never throws. */
  read(conversationId: string): GoalHold | undefined {
    try {
      return readGoalHold(JSON.parse(readWhole(this.#file(conversationId), MAX_BYTES))) ?? UNREADABLE;
    } catch (error) {
      return systemCode(error) === "ENOENT" ? undefined : UNREADABLE;
    }
  }

  /** In the place of an earlier one. Throws the system's error. */
  write(conversationId: string, hold: GoalHold): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    replaceWhole(this.#file(conversationId), `${JSON.stringify({ version: 1, ...hold })}\n`);
  }

  /** Throws the system's error; one that is not there is removed. */
  remove(conversationId: string): void {
    rmSync(this.#file(conversationId), { force: true });
  }

  #file(conversationId: string): string {
    return join(this.#folder, `${conversationId}.json`);
  }
}

/** A hold as it stands in a file or in the answer of an owner; undefined for what is none. */
export function readGoalHold(value: unknown): GoalHold | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { incidentId, resource, operation, runId, since, status }: Partial<Record<string, unknown>> = { ...value };
  const known = readPermissionResource(resource);
  if (!isPlain(incidentId) || !isPlain(operation) || !isPlain(runId) || known === undefined) return undefined;
  if (typeof since !== "number" || (status !== "due" && status !== "held")) return undefined;
  return { incidentId, resource: known, operation, runId, since, status };
}

function isPlain(value: unknown): value is string {
  return typeof value === "string" && PLAIN.test(value);
}
