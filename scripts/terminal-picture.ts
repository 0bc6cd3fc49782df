/**
 * Draws docs/session.svg, the terminal session of the README: runs the real command and sets what it printed, stdout and
 * stderr as they came. Run `npm run picture` after a change of what people see.
 */
import { writeFileSync } from "node:fs";
import { execa } from "execa";

const SESSION: readonly (readonly string[])[] = [
  ["ask", "-b", "demo", "/tool"],
  ["ask", "-b", "demo", "/limit"],
  ["ask", "-b", "demo", "/write notes.txt"],
];
const CHAR_PX = 8.4;
const LINE_PX = 20;
const PADDING_PX = 18;
const COLUMNS = 100;

const root = new URL("..", import.meta.url).pathname;
const lines: { readonly text: string; readonly style: "prompt" | "output" | "exit" }[] = [];

for (const args of SESSION) {
  const shown = args.map((arg) => (/[\s/]/.test(arg) ? `"${arg}"` : arg)).join(" ");
  lines.push({ text: `$ ostler ${shown}`, style: "prompt" });
  const { all, exitCode } = await execa(process.execPath, [`${root}bin/ostler.js`, ...args], {
    all: true,
    reject: false,
    stdin: "ignore",
  });
  for (const line of all.split("\n").flatMap(wrap)) lines.push({ text: line, style: "output" });
  lines.push({ text: `exit code ${exitCode}`, style: "exit" }, { text: "", style: "output" });
}
lines.pop();

writeFileSync(`${root}docs/session.svg`, draw());

function wrap(line: string): string[] {
  const rows: string[] = [];
  let row = "";
  for (const word of line.split(/(?<= )/)) {
    if (row.length + word.length > COLUMNS) {
      rows.push(row);
      row = "    ";
    }
    row += word;
  }
  return [...rows, row];
}

function draw(): string {
  const width = Math.round(COLUMNS * CHAR_PX + 2 * PADDING_PX);
  const height = lines.length * LINE_PX + 2 * PADDING_PX;
  const rows = lines.map(({ text, style }, index) => {
    const y = PADDING_PX + (index + 0.75) * LINE_PX;
    return `<text class="${style}" x="${PADDING_PX}" y="${y}" xml:space="preserve">${escape(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal session with ostler ask">
<style>text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#d6deeb}.prompt{fill:#82d9a4;font-weight:600}.exit{fill:#7f8ea3}</style>
<rect width="100%" height="100%" rx="8" fill="#10151f"/>
${rows.join("\n")}
</svg>
`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
