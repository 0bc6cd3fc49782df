/**
 * Reports that a permission keeps work from going on: who may say so, of what, in a closed schema. They never hold a
 * path, a command, an output or prose (failure observations, section 11). Pure. Text such as "EPERM" makes no report.
 */
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { Incident, PermissionBlocker, PermissionResource } from "../records.ts";

/** In the order of the contract. */
export const PERMISSION_RESOURCES: readonly PermissionResource[] = [
  "credential-files",
  "process-inspection",
  "project-files",
  "outside-project-files",
  "runtime-control-files",
  "command-execution",
  "network-access",
  "unknown",
];
const CONTEXTS: readonly PermissionBlocker["context"][] = ["worker", "foreground"];
const BASES: readonly PermissionBlocker["basis"][] = ["agent-reported", "policy-refusal", "os-permission-error"];
const REMOTE_OUTCOMES: readonly PermissionBlocker["remoteOutcome"][] = ["unknown", "not-started"];

const OPERATION = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/;
/** Our ids of a call that was used again, or that ended twice, hold `#` and `~`. */
const INCIDENT_ID = /^[A-Za-z0-9._:|#~-]{1,200}$/;
/** Every key that a report may have. */
export const PERMISSION_BLOCKER_KEYS: readonly (keyof PermissionBlocker)[] = [
  "version",
  "kind",
  "context",
  "resource",
  "basis",
  "operation",
  "remoteOutcome",
  "incidentId",
  "runId",
  "policySnapshotId",
];

/** A report as it stands in a record; undefined for anything with another key or another value. */
export function readPermissionBlocker(value: unknown): PermissionBlocker | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = new Map<string, unknown>(Object.entries(value));
  if ([...entries.keys()].some((key) => !PERMISSION_BLOCKER_KEYS.some((known) => known === key))) return undefined;
  const context = oneOf(CONTEXTS, entries.get("context"));
  const resource = readPermissionResource(entries.get("resource"));
  const basis = oneOf(BASES, entries.get("basis"));
  const remoteOutcome = oneOf(REMOTE_OUTCOMES, entries.get("remoteOutcome"));
  const operation = matching(OPERATION, entries.get("operation"));
  const incidentId = matching(INCIDENT_ID, entries.get("incidentId"));
  if (entries.get("version") !== 1 || entries.get("kind") !== "permission-blocker") return undefined;
  if (context === undefined || resource === undefined || basis === undefined) return undefined;
  if (remoteOutcome === undefined || operation === undefined || incidentId === undefined) return undefined;
  const runId = matching(REFERENCE, entries.get("runId"));
  const policySnapshotId = matching(REFERENCE, entries.get("policySnapshotId"));
  if (entries.has("runId") && runId === undefined) return undefined;
  if (entries.has("policySnapshotId") && policySnapshotId === undefined) return undefined;
  return {
    version: 1,
    kind: "permission-blocker",
    context,
    resource,
    basis,
    operation,
    remoteOutcome,
    incidentId,
    ...(runId !== undefined && { runId }),
    ...(policySnapshotId !== undefined && { policySnapshotId }),
  };
}

/** One of the eight words; undefined for anything else. */
export function readPermissionResource(value: unknown): PermissionResource | undefined {
  return oneOf(PERMISSION_RESOURCES, value);
}

/**
 * What a refused tool call was about, from its ACP kind and the paths that it names (relative ones start at `cwd`). One
 * path outside of `cwd` makes it `outside-project-files`; a change without any path is `unknown`.
 */
export function resourceOf(kind: string | undefined, paths: readonly string[], cwd: string): PermissionResource {
  switch (kind) {
    case "execute":
      return "command-execution";
    case "fetch":
      return "network-access";
    case "edit":
    case "delete":
    case "move":
      if (paths.length === 0) return "unknown";
      return paths.every((path) => isInside(path, cwd)) ? "project-files" : "outside-project-files";
    default:
      return "unknown";
  }
}

/** What an agent reports of its own failed call. It proves nothing: what happened at the other end is not known. */
export function agentReport(incident: Incident, resource: PermissionResource, runId: string): PermissionBlocker {
  const { id: incidentId, operation: key, tool, attempt } = incident;
  const operation = [attempt?.operationId, tool, key].find((name) => name !== undefined && OPERATION.test(name)) ?? key;
  return {
    version: 1,
    kind: "permission-blocker",
    context: "worker",
    resource,
    basis: "agent-reported",
    operation,
    remoteOutcome: "unknown",
    incidentId,
    runId,
  };
}

/**
 * What Ostler knows first-hand: it refused the call itself. `didNothing`: the call ended without an exit code and
 * without output, so it never started.
 */
export function policyRefusal(refused: {
  readonly incidentId: string;
  readonly runId: string;
  readonly operation: string;
  readonly resource: PermissionResource;
  readonly didNothing: boolean;
}): PermissionBlocker {
  const { incidentId, runId, operation, resource, didNothing } = refused;
  return {
    version: 1,
    kind: "permission-blocker",
    context: "worker",
    resource,
    basis: "policy-refusal",
    operation,
    remoteOutcome: didNothing ? "not-started" : "unknown",
    incidentId,
    runId,
  };
}

function isInside(path: string, cwd: string): boolean {
  const way = relative(cwd, resolve(cwd, path));
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function oneOf<Word extends string>(words: readonly Word[], value: unknown): Word | undefined {
  return words.find((word) => word === value);
}

function matching(pattern: RegExp, value: unknown): string | undefined {
  return typeof value === "string" && pattern.test(value) ? value : undefined;
}
