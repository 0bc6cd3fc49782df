/** Rows of cells as aligned lines, without blanks at their ends; a column that is empty in every row takes no room. */
export function alignedRows(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => ({ cell, width: widths[column]! }))
      .filter(({ width }) => width > 0)
      .map(({ cell, width }) => cell.padEnd(width))
      .join("  ")
      .trimEnd(),
  );
}
