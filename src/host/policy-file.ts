/**
 * Reads `--permission-policy FILE`. A policy that cannot be understood whole is not used at all: every doubt is one
 * sentence and exit code 2. Callers load it lazily (it brings zod).
 */
import { z } from "zod";
import { dotted } from "./config-layer.ts";
import { nearestName } from "../errors/nearest-name.ts";
import type { PolicyRules } from "./policy-rules.ts";
import { readBounded } from "./read-bounded.ts";
import { systemCode } from "../errors/system-code.ts";
import { UsageError } from "./usage-error.ts";

/** A policy is a page of text. */
const MAX_POLICY_BYTES = 1024 * 1024;
/** ACP's kinds of tools. */
const KINDS = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
] as const;
const RULE_KEYS = ["kind", "command", "inside", "outside", "host", "mcp"];
const WORDS = ["allow", "ask", "deny"] as const;
const POLICY_KEYS = ["$schema", "default", "gate", ...WORDS];
/** Characters that mean more than themselves elsewhere; a glob that is read otherwise than meant protects nothing. */
const PLAIN_GLOB = /^[^[\]{}!\\]+$/;

function oneOrMore<Entry extends z.ZodType<string>>(entry: Entry) {
  return z.union([entry.transform((one) => [one]), z.array(entry).min(1)]).optional();
}

const text = z.string().regex(/\S/);
const glob = z.string().regex(PLAIN_GLOB);
const rule = z
  .strictObject({
    kind: oneOrMore(z.enum(KINDS)),
    command: oneOrMore(text),
    inside: oneOrMore(glob.regex(/^[^/~]/)),
    outside: oneOrMore(glob.regex(/^(?:\/|~\/|\*)/)),
    host: oneOrMore(z.string().regex(/^(?:\*\.)?[a-z0-9._:-]+$/i)),
    mcp: oneOrMore(text),
  })
  .refine((conditions) => Object.values(conditions).some((condition) => condition !== undefined));
const rules = z.array(rule).default([]);

const policySchema = z.strictObject({
  $schema: z.string().optional(),
  default: z.enum(WORDS).default("deny"),
  gate: z.literal("required").optional(),
  allow: rules,
  ask: rules,
  deny: rules,
});

/** The policy in the file. Throws {@link UsageError} for a file that is missing, no JSON, or not understood. */
export async function readPolicyFile(file: string, signal?: AbortSignal): Promise<PolicyRules> {
  const refuse = (why: string, cause?: unknown) => new UsageError(`The permission policy ${file} ${why}`, { cause });
  let raw: unknown;
  try {
    const bytes = await readBounded(file, { maxBytes: MAX_POLICY_BYTES, signal });
    raw = JSON.parse(bytes.toString().replace(/^\uFEFF/, ""));
  } catch (error) {
    const code = systemCode(error);
    throw refuse(
      code === "" ? "is not valid JSON" : code === "ENOENT" ? "does not exist" : `cannot be read (${code})`,
      error,
    );
  }
  const parsed = policySchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw refuse(`cannot be used: ${problemOf(parsed.error.issues[0])}`);
}

function problemOf(issue: z.core.$ZodIssue | undefined): string {
  const where = issue === undefined || issue.path.length === 0 ? "the file" : dotted(issue.path);
  if (issue?.code !== "unrecognized_keys") return `${where} ${expectation(issue?.path ?? [])}`;
  const key = issue.keys[0] ?? "";
  const near = nearestName(key, issue.path.length === 0 ? POLICY_KEYS : RULE_KEYS);
  return `${dotted([...issue.path, key])} is not a setting${near === undefined ? "" : ` (did you mean "${near}"?)`}`;
}

const EXPECTATIONS: Readonly<Record<string, string>> = {
  default: `must be one of ${WORDS.join(", ")}`,
  gate: 'must be "required" or absent',
  kind: `must be one or more of ${KINDS.join(", ")}`,
  command: "must be the first words of a command, or a list of such texts",
  inside: "must be a pattern below the workspace, or a list: only *, ** and ? have a meaning",
  outside: "must be a pattern that begins with /, ~/ or *, or a list: only *, ** and ? have a meaning",
  host: "must be a host name, *. and a host name, or a list",
  mcp: "must be the name of an MCP server, or a list",
};

function expectation(path: readonly PropertyKey[]): string {
  const [section = "", index, condition] = path.map(String);
  if (condition !== undefined) return EXPECTATIONS[condition] ?? "is not understood";
  if (index !== undefined) return `must be an object with at least one of ${RULE_KEYS.join(", ")}`;
  return EXPECTATIONS[section] ?? (section === "" ? "must hold one JSON object" : "must be a list of rules");
}
