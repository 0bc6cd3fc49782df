/** Versions as npm writes them, as far as doctor compares them. */

const COMPARATOR = /(\^|~|>=|<=|>|<|=)?\s*v?(\d+)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?(-[\w.-]+)?/g;

type Triple = readonly [number, number, number];

/** Negative when `one` is older than `other`, 0 when they are the same. A pre-release is older than its release. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [triple(one), triple(other)];
  const at = a.findIndex((part, index) => part !== b[index]);
  if (at !== -1) return a[at]! - b[at]!;
  return Number(!isPreRelease(one)) - Number(!isPreRelease(other));
}

/** Whether a version lies in a range of npm's (`>=22`, `^20.19 || >=22.12`). A range that cannot be read allows all. */
export function satisfies(version: string, range: string): boolean {
  return range.split("||").some((alternative) => {
    const comparators = [...alternative.matchAll(COMPARATOR)];
    return comparators.every(([, operator = "", ...parts]) => compares(triple(version), operator, parts));
  });
}

function compares(version: Triple, operator: string, [major, minor, patch]: readonly (string | undefined)[]): boolean {
  const low: Triple = [number(major), number(minor), number(patch)];
  switch (operator) {
    case ">=":
      return order(version, low) >= 0;
    case "<":
      return order(version, low) < 0;
    case ">":
      return order(version, [low[0], isOpen(minor) ? Infinity : low[1], isOpen(patch) ? Infinity : low[2]]) > 0;
    case "<=":
      return order(version, [low[0], isOpen(minor) ? Infinity : low[1], isOpen(patch) ? Infinity : low[2]]) <= 0;
    case "^":
      return order(version, low) >= 0 && version[0] === low[0];
    case "~":
      return order(version, low) >= 0 && version[0] === low[0] && (isOpen(minor) || version[1] === low[1]);
    default:
      return (
        version[0] === low[0] && (isOpen(minor) || version[1] === low[1]) && (isOpen(patch) || version[2] === low[2])
      );
  }
}

function order(one: Triple, other: Triple): number {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at === -1 ? 0 : one[at]! - other[at]!;
}

function isOpen(part: string | undefined): boolean {
  return part === undefined || !/^\d+$/.test(part);
}

function number(part: string | undefined): number {
  return isOpen(part) ? 0 : Number(part);
}

function triple(version: string): Triple {
  const [, major, minor, patch] = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version) ?? [];
  return [number(major), number(minor), number(patch)];
}

function isPreRelease(version: string): boolean {
  return /^v?\d+(?:\.\d+)*-/.test(version);
}
