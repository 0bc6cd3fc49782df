/**
 * Writes docs/config.md: the prose below, and the tables of settings from the schema that validates them. Run it after a
 * change of `src/host/config-schema.ts` (`node scripts/generate-config-docs.ts`); a test holds the two together.
 */
import { writeFileSync } from "node:fs";
import { configJsonSchema } from "../src/host/config-schema.ts";

interface SchemaNode {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | false;
}

const INTRODUCTION = `# Configuration

<!-- Written by scripts/generate-config-docs.ts from src/host/config-schema.ts. -->

Ostler works without any configuration. What there is to configure is read from JSON files, each laid over the one before:

1. your own file, \`$XDG_CONFIG_HOME/ostler/config.json\` (\`~/.config/ostler/config.json\` when the variable is not set);
2. every \`.ostler.json\` from the root folder down to the working folder: the project's files;
3. the file of \`--config FILE\`.

A flag beats them all. With \`OSTLER_HOME\` set, everything of Ostler's is in that folder: \`config.json\`, the installed
adapters, and \`state\`.

\`\`\`json
{
  "$schema": "./node_modules/ostler/dist/config.schema.json",
  "defaultBackend": "claude",
  "approve": "reads",
  "backends": {
    "codex": { "model": "gpt-5", "env": { "RUST_LOG": "warn" } },
    "kiro": { "command": ["kiro-cli", "acp", "--agent-engine", "v3"] },
    "mine": { "command": ["my-agent", "--acp"], "profile": "generic" }
  },
  "timeouts": { "idleS": 600 }
}
\`\`\`

## What a project file may do

A \`.ostler.json\` comes with a checkout that somebody else may have written, so it may only tighten. It can choose a
backend and a model, lower \`approve\`, and lower the numbers of \`timeouts\`, \`retry\` and \`limits\`. What would start a
program, set its environment, mode or profile, approve more, or wait longer is ignored with a warning; so are \`gate\`,
\`failures\`, \`notify\`, \`restart\` and \`retention\`, and a \`confined\` of false where yours is true.

## When a value cannot be used
`;

const UNUSABLE_VALUES = [
  [
    "The file is not valid JSON, or cannot be read",
    "One warning; the file is ignored, and nothing is approved by itself",
  ],
  ["An unknown name", "A warning with the name that was probably meant; it is ignored"],
  ["A number out of range", "A warning; the nearest allowed number is used"],
  ["A value of the wrong type", "A warning; it is ignored"],
  ["`approve`, or another word for permissions, that cannot be read", "A warning; nothing is approved by itself"],
  [
    "The `command` or `profile` of a backend in your own file, or a missing `--config` file",
    "Exit code 2: guessing could start something else than you meant",
  ],
];

const ENVIRONMENT = `## What an agent gets to see

\`ostler ask\` gives the agent your own environment, and what stands in \`env\`. Tokens of chat platforms and of Ostler itself
are never passed on, whatever the configuration says. \`ostler doctor --verbose\` prints the names.
`;

/** The whole text of docs/config.md. */
export function renderConfigDocs(): string {
  const { properties = {} } = readNode(configJsonSchema());
  const simple = Object.entries(properties).filter(([, node]) => node.type !== "object");
  const sections = Object.entries(properties).filter(([, node]) => node.type === "object");
  return [
    INTRODUCTION,
    renderTable(["What is wrong", "What happens"], UNUSABLE_VALUES),
    "## Settings\n",
    renderSettings(simple),
    ...sections.flatMap(([name, node]) => {
      const perName = node.additionalProperties || undefined;
      const title = perName === undefined ? `\`${name}\`` : `\`${name}.<name>\``;
      const settings = Object.entries((perName ?? node).properties ?? {});
      return [`### ${title}\n\n${node.description ?? ""}\n`, renderSettings(settings)];
    }),
    ENVIRONMENT,
  ].join("\n");
}

function renderSettings(settings: readonly (readonly [string, SchemaNode])[]): string {
  return renderTable(
    ["Setting", "Value", "Default", "Meaning"],
    settings.map(([name, node]) => [`\`${name}\``, describeType(node), describeDefault(node), node.description ?? ""]),
  );
}

/** Padded as the formatter pads it, so that the written file is a formatted one. */
function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |\n`;
  return [header, widths.map((width) => "-".repeat(width)), ...rows].map(line).join("");
}

function describeType(node: SchemaNode): string {
  if (node.enum !== undefined) return node.enum.map((word) => `\`${word}\``).join(", ");
  if (node.minimum !== undefined)
    return `${node.type === "integer" ? "whole number" : "number"}, ${node.minimum} to ${node.maximum}`;
  const words: Readonly<Record<string, string>> = {
    string: "text",
    boolean: "true or false",
    array: "list of texts",
    object: "texts by name",
  };
  return words[node.type ?? ""] ?? "";
}

function describeDefault(node: SchemaNode): string {
  return node.default === undefined ? "" : `\`${JSON.stringify(node.default)}\``;
}

function readNode(schema: object): SchemaNode {
  return schema;
}

if (import.meta.main) writeFileSync(new URL("../docs/config.md", import.meta.url), renderConfigDocs());
