/**
 * Arguments to typed values, strictly: an option that is not in the table, a missing or unusable value and a repeated
 * option are one sentence each. yargs-parser alone does the splitting, because loading yargs costs as much as a turn.
 */
import yargsParser from "yargs-parser";
import { cleanLine } from "../../errors/redact.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import type { OptionSpec, OptionTable, OptionValues } from "./options.ts";
import { UsageError } from "../../host/usage-error.ts";

/** Of one that does not exist. */
const MAX_OPTION_CHARS = 100;

export interface Parsed<Table extends OptionTable> {
  readonly options: OptionValues<Table>;
  /** What is not an option, and everything after `--`, in order. */
  readonly words: readonly string[];
}

/** @throws UsageError with the sentence for the person. */
export function parseArguments<Table extends OptionTable>(argv: readonly string[], table: Table): Parsed<Table> {
  const specs: [string, OptionSpec][] = Object.entries(table);
  const { argv: found, error } = yargsParser.detailed([...argv], {
    alias: Object.fromEntries(specs.flatMap(([name, { alias }]) => (alias === undefined ? [] : [[name, [alias]]]))),
    boolean: specs.filter(([, { type }]) => type === "flag").map(([name]) => name),
    string: specs.filter(([, { type }]) => type !== "flag").map(([name]) => name),
    narg: Object.fromEntries(specs.map(([name, { type }]) => [name, type === "flag" ? 0 : 1])),
    configuration: PARSER_CONFIGURATION,
  });
  const unknown = Object.keys(found).find((key) => key !== "_" && key !== "--" && !Object.hasOwn(table, key));
  if (unknown !== undefined) throw new UsageError(unknownOptionSentence(unknown, argv, specs));
  if (error) throw new UsageError(valueCountSentence(error.message, specs));
  const values = specs.map(([name, spec]) => [name, readOption(name, spec, found[name])] as const);
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- readOption gives each name what its row says
    options: Object.fromEntries(values) as OptionValues<Table>,
    words: [...found._, ...(found["--"] ?? [])].map(String),
  };
}

/** None of the parser's magic: no `--no-x`, no `--a.b`, no numbers out of words, no `-abc` for three options. */
const PARSER_CONFIGURATION = {
  "boolean-negation": false,
  "camel-case-expansion": false,
  "dot-notation": false,
  "duplicate-arguments-array": true,
  "parse-numbers": false,
  "parse-positional-numbers": false,
  "populate--": true,
  "short-option-groups": false,
  "strip-aliased": true,
};

/** What the option is worth: absent is undefined, false or the empty list. */
function readOption(name: string, spec: OptionSpec, found: unknown): unknown {
  if (spec.type === "flag") return found === true;
  const given = (Array.isArray(found) ? found : [found]).filter((value) => value !== undefined).map(String);
  if (given.includes("")) throw new UsageError(`--${name} needs a value`);
  if (spec.type === "list") return given;
  if (given.length > 1) throw new UsageError(`--${name} is given ${given.length} times; it takes one value`);
  const value = given[0];
  if (value === undefined) return undefined;
  if (spec.type === "number") return readNumber(name, spec, value);
  if (spec.choices !== undefined && !spec.choices.includes(value)) {
    throw new UsageError(`--${name} cannot be "${value}"; it is one of ${spec.choices.join(", ")}`);
  }
  return value;
}

function readNumber(name: string, { min = 0, max = Infinity, whole = false }: OptionSpec, text: string): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max && (!whole || Number.isInteger(number))) return number;
  const what = whole ? "a whole number" : "a number of seconds";
  throw new UsageError(`--${name} cannot be "${text}"; it is ${what} from ${min} to ${max}`);
}

function unknownOptionSentence(key: string, argv: readonly string[], specs: readonly [string, OptionSpec][]): string {
  const typed = argv.map((argument) => argument.split("=", 1)[0]!).find((name) => name.replace(/^--?/, "") === key);
  const nearest =
    nearestName(
      key,
      specs.map(([name]) => name),
    ) ?? shortForm(key, specs);
  const hint =
    nearest === undefined
      ? '--help lists all, and words that start with a dash stand after "--"'
      : `did you mean --${nearest}?`;
  return `Unknown option ${typed === undefined ? `--${key}` : withoutSecret(typed)}; ${hint}`;
}

/** Behind the letter of a short option its value may be glued, and a secret is known by where its word begins. */
function withoutSecret(typed: string): string {
  return `${typed.slice(0, 2)}${cleanLine(typed.slice(2), MAX_OPTION_CHARS)}`;
}

/** `-bcodex` is a short option glued to its value. */
function shortForm(key: string, specs: readonly [string, OptionSpec][]): string | undefined {
  return specs.find(([, { alias }]) => alias === key[0])?.[0];
}

/** The parser's own sentence names the option last: `Not enough arguments following: b`. */
function valueCountSentence(message: string, specs: readonly [string, OptionSpec][]): string {
  const key = message.slice(message.lastIndexOf(" ") + 1);
  const [name, spec] = specs.find(([name, { alias }]) => name === key || alias === key) ?? [key];
  return spec?.type === "flag" ? `--${name} takes no value` : `--${name} needs a value`;
}
