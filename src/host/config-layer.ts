/**
 * One config file: text to validated settings plus warnings. It never fails for a value that only makes work slower or
 * plainer; it refuses (exit code 2) where guessing could start another program or another profile than the user meant,
 * and approves nothing where `approve` cannot be read. Values are never repeated in a warning: they may be secrets.
 */
import type { z } from "zod";
import { cleanLine } from "../errors/redact.ts";
import { correctionOf } from "./config-fault.ts";
import type { OnFault } from "./config-fault.ts";
import { backendSchema, configSchema } from "./config-schema.ts";
import type { ConfigLayer } from "./config-schema.ts";
import { nearestName } from "../errors/nearest-name.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];
export type JsonObject = Record<string, unknown>;

/** The file as warnings name it, whether somebody else may have written it, and who is told what cannot be repaired. */
interface Origin {
  readonly where: string;
  readonly isProject: boolean;
  readonly onFault: OnFault;
}

export interface LayerReading {
  readonly layer: ConfigLayer;
  readonly warnings: readonly string[];
}

/** Backend settings that decide what is started and whether it is made to ask: a guess is not good enough. */
const NEVER_GUESSED: ReadonlySet<string> = new Set(["command", "profile"]);
/** Top-level words by which people mean permissions: one that this version cannot read must not loosen anything. */
const SAFETY_WORDS = ["approve", "approval", "permissions", "permissionPolicy", "gates"];

/** Parses the text of a config file; undefined when it is not a JSON object, with the one warning to show. */
export function parseConfigText(text: string, where: string): { raw?: JsonObject; warning?: string } {
  const consequence = "the file is ignored, and nothing is approved by itself until it can be read";
  try {
    const raw: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    if (isObject(raw)) return { raw };
    return { warning: `${where} must hold one JSON object: ${consequence}` };
  } catch (error) {
    // V8 quotes the text around the fault, which may be a key: only the position is repeated.
    const at = /line (\d+) column (\d+)/.exec(String(error));
    return { warning: `${where} is not valid JSON${at ? ` (line ${at[1]}, column ${at[2]})` : ""}: ${consequence}` };
  }
}

/**
 * Validates the content of a config file, repairing what can be repaired. An unusable command or profile is a fault,
 * left out when `onFault` returns; a project file has no say in either, so there they are ignored like the rest.
 */
export function readConfigLayer(raw: JsonObject, origin: Origin): LayerReading {
  const repaired = structuredClone(raw);
  const warnings: string[] = [];
  let parsed = configSchema.safeParse(repaired);
  // Every round removes or clamps each offending value, so it ends; a second one is rare.
  while (!parsed.success) {
    for (const issue of parsed.error.issues)
      warnings.push(...repair(repaired, issue, origin).map((text) => `${origin.where}: ${text}`));
    parsed = configSchema.safeParse(repaired);
  }
  return { layer: parsed.data, warnings };
}

function repair(raw: JsonObject, issue: Issue, origin: Origin): string[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.flatMap((key) => removeUnknown(raw, issue.path, key, origin));
  if (issue.path[0] === "approve") {
    raw["approve"] = "none";
    return [`approve must be ${expected(issue)}, so nothing is approved by itself`];
  }
  if (issue.path[0] === "gate") {
    raw["gate"] = "required";
    raw["approve"] = "none";
    return ['gate must be "required" or absent, so it is required, and nothing is approved by itself'];
  }
  if (issue.path[0] === "confined") {
    raw["confined"] = true;
    return ["confined must be true or false, so agents are confined"];
  }
  const path = settingPath(issue.path);
  if (!origin.isProject && issue.code !== "invalid_key" && decidesWhatStarts(path)) {
    return leaveOut(raw, path, `must be ${expected(issue)}`, origin);
  }
  const bound = issue.code === "too_small" ? issue.minimum : issue.code === "too_big" ? issue.maximum : undefined;
  if (bound !== undefined && typeof valueAt(raw, path) === "number") {
    setAt(raw, path, Number(bound));
    return [`${dotted(path)} must be at ${issue.code === "too_big" ? "most" : "least"} ${bound}, so ${bound} is used`];
  }
  deleteAt(raw, path);
  return [`${dotted(path)} must be ${expected(issue)}, so it is ignored`];
}

function removeUnknown(raw: JsonObject, path: Path, key: string, origin: Origin): string[] {
  const known = knownNames(path);
  const near = nearestName(key, path.length === 0 ? [...known, ...SAFETY_WORDS] : known);
  if (!origin.isProject && path[0] === "backends" && near !== undefined && NEVER_GUESSED.has(near)) {
    return leaveOut(raw, [...path, key], `is not a setting (did you mean "${near}"?)`, origin);
  }
  deleteAt(raw, [...path, key]);
  const hint = near !== undefined && known.includes(near) ? ` (did you mean "${near}"?)` : "";
  const text = `${dotted([...path, key])} is not a setting${hint}, so it is ignored`;
  if (path.length > 0 || near === undefined || !SAFETY_WORDS.includes(near)) return [text];
  raw["approve"] = "none";
  return [`${text}, and nothing is approved by itself`];
}

/** Needs no warning besides what `onFault` makes of it. */
function leaveOut(raw: JsonObject, path: Path, problem: string, { where, onFault }: Origin): string[] {
  const [, backend] = path;
  onFault({
    where,
    sentence: `${where}: ${dotted(path)} ${problem}`,
    fix: correctionOf(where),
    ...(backend !== undefined && { backend: String(backend) }),
  });
  deleteAt(raw, path);
  return [];
}

function knownNames(path: Path): string[] {
  if (path.length === 0) return Object.keys(configSchema.shape);
  if (path[0] === "backends") return Object.keys(backendSchema.shape);
  const section = Object.entries(configSchema.shape)
    .find(([name]) => name === path[0])?.[1]
    .unwrap();
  return section !== undefined && "shape" in section ? Object.keys(section.shape) : [];
}

/** The setting that an issue is about: a bad element spoils its list, a bad variable only itself. */
function settingPath(path: Path): Path {
  if (path[0] !== "backends") return path.slice(0, 2);
  return path.slice(0, path[2] === "env" ? 4 : 3);
}

function decidesWhatStarts(path: Path): boolean {
  return path[0] === "backends" && (path.length < 3 || NEVER_GUESSED.has(String(path[2])));
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  string: "text",
  array: "a list of texts",
  record: "an object",
  object: "an object",
};

function expected(issue: Issue): string {
  if (issue.code === "invalid_value") return `one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "invalid_type") return TYPE_WORDS[issue.expected] ?? issue.expected;
  if (issue.code === "invalid_key") return "a name of letters, digits, dots, dashes and underscores";
  return "not empty";
}

/** `backends.codex.command`; a name that is no plain word is quoted and cut, for it is somebody else's text. */
export function dotted(path: Path): string {
  return path
    .map(String)
    .map((part) => (/^[$\w-]{1,40}$/.test(part) ? part : JSON.stringify(cleanLine(part, 40))))
    .join(".");
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function valueAt(root: JsonObject, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (isObject(value) ? value[String(key)] : undefined), root);
}

function setAt(root: JsonObject, path: Path, value: unknown): void {
  const parent = valueAt(root, path.slice(0, -1));
  if (isObject(parent)) parent[String(path.at(-1))] = value;
}

function deleteAt(root: JsonObject, path: Path): void {
  const parent = valueAt(root, path.slice(0, -1));
  if (isObject(parent)) delete parent[String(path.at(-1))];
}
