/** The known name that somebody probably meant: one slip in four letters. Undefined when none is near. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  // A key of a config file may be of any length; what is near to a name is not.
  if (word.length > 64) return undefined;
  const [best] = names
    .map((name) => ({ name, slips: countSlips(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, slips }) => slips <= Math.max(1, Math.floor(name.length / 4)))
    .sort((a, b) => a.slips - b.slips);
  return best?.name;
}

/** Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function countSlips(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          rows[row - 1]![column - 1]! + same,
          rows[row - 1]![column]! + 1,
          current[column - 1]! + 1,
          swapped ? rows[row - 2]![column - 2]! + 1 : Infinity,
        ),
      );
    }
    rows.push(current);
  }
  return rows[a.length]![b.length]!;
}
