/** What a page says to a program beside its text: permission reports that somebody must act on. Pure. */
import { compareForList, isActionRequired } from "../incidents/labels.ts";
import type { IncidentState, PermissionBlocker } from "../records.ts";
import { bytesOf } from "./bytes.ts";

export interface PageDetails {
  /** Of incidents that require action, in the order of the list. */
  readonly permissionBlockers: readonly PermissionBlocker[];
  readonly permissionBlockersOmitted: number;
}

/** What they take of a page, at most. */
const SHARE = 0.5;

/**
 * As many reports as half of the budget holds; undefined when there is none. They share the budget of the page, so that
 * one too small to say how many were left out is a RangeError.
 */
export function pageDetails({ incidents }: IncidentState, maxBytes: number): PageDetails | undefined {
  const reports = [...incidents.values()]
    .filter((incident) => isActionRequired(incident) && incident.permissionBlockers !== undefined)
    .toSorted(compareForList)
    .flatMap(({ permissionBlockers = [] }) => permissionBlockers);
  if (reports.length === 0) return undefined;
  const detailsOf = (count: number): PageDetails => ({
    permissionBlockers: reports.slice(0, count),
    permissionBlockersOmitted: reports.length - count,
  });
  const needed = detailsBytes(detailsOf(0));
  if (needed > maxBytes)
    throw new RangeError(`The page needs at least ${needed} bytes: a permission report has to be named on it`);
  let count = 0;
  while (count < reports.length && detailsBytes(detailsOf(count + 1)) <= maxBytes * SHARE) count += 1;
  return detailsOf(count);
}

/** What they take of the budget: their JSON. */
export function detailsBytes(details: PageDetails | undefined): number {
  return details === undefined ? 0 : bytesOf(JSON.stringify(details));
}
