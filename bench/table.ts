import type { Row } from "./bench.ts";

/** Rows as a Markdown table, padded so that it can be read as text too. All rows have the columns of the first. */
export function markdownTable(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ""))];
  const widths = columns.map((_, index) => Math.max(...lines.map((cells) => cells[index]!.length)));
  const [head, ...body] = lines.map((cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`);
  return [head, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body].join("\n");
}
