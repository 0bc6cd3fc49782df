/** Measures several subjects in turns, and sums up what the rounds gave. */

/** `measure` for every subject in every round, after one round that only warms caches. */
export async function inTurns<Name extends string, Figure>(
  rounds: number,
  subjects: Readonly<Record<Name, () => Promise<Figure>>>,
): Promise<Record<Name, Figure[]>> {
  const entries = Object.entries<() => Promise<Figure>>(subjects);
  const figures = new Map(entries.map(([name]): [string, Figure[]] => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, measure] of entries) {
      const figure = await measure();
      if (round > 0) figures.get(name)!.push(figure);
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names come out as they went in
  return Object.fromEntries(figures) as Record<Name, Figure[]>;
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The median of the ratios round by round: what slows a whole round down cancels out. */
export function medianRatio(figures: readonly number[], base: readonly number[]): number {
  return median(figures.map((figure, round) => figure / base[round]!));
}
