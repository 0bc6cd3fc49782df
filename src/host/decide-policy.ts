/**
 * Rules and evidence to a word. Deny beats ask beats allow. To deny or ask, one sign that a rule is meant is enough, and
 * what cannot be read is such a sign; to allow, everything the call would do must be read and named by one rule.
 */
import { certainlyBegins, possiblyRuns } from "./command-words.ts";
import { accountHome } from "./paths.ts";
import type { PolicyRule, PolicyRules, PolicyWord } from "./policy-rules.ts";
import type { ToolEvidence } from "./tool-evidence.ts";
import type { Place, PlacedPath } from "./workspace-paths.ts";

export interface PolicyDecision {
  readonly word: PolicyWord;
  /** A sentence without a full stop: which rule, or that there is none. */
  readonly reason: string;
}

/** Tools that do nothing but what their paths say. */
const FILE_KINDS = new Set(["read", "search", "edit", "delete", "move"]);

export function decidePolicy(rules: PolicyRules, evidence: ToolEvidence): PolicyDecision {
  if (evidence.kinds.length === 0) {
    const word = rules.default === "deny" || rules.deny.length > 0 ? "deny" : "ask";
    return { word, reason: "The agent never announced what it would do" };
  }
  const denied = rules.deny.findIndex((rule) => mayMean(rule, evidence));
  if (denied >= 0) return { word: "deny", reason: `The permission policy denies it (deny rule ${denied + 1})` };
  const asked = rules.ask.findIndex((rule) => mayMean(rule, evidence));
  if (asked >= 0) return { word: "ask", reason: `The permission policy leaves it to a person (ask rule ${asked + 1})` };
  const allowed = rules.allow.findIndex((rule) => certainlyMeans(rule, evidence));
  if (allowed >= 0) return { word: "allow", reason: `The permission policy allows it (allow rule ${allowed + 1})` };
  return { word: rules.default, reason: DEFAULT_REASONS[rules.default] };
}

const DEFAULT_REASONS: Readonly<Record<PolicyWord, string>> = {
  allow: "The permission policy allows what no rule names",
  ask: "The permission policy leaves it to a person",
  deny: "No rule of the permission policy allows it",
};

function mayMean(rule: PolicyRule, evidence: ToolEvidence): boolean {
  const { kinds, commands, paths, mcpServer, claimedServer, unreadable } = evidence;
  const hosts = [...evidence.hosts, ...evidence.mentionedHosts];
  return (
    (rule.kind === undefined || kinds.some((kind) => rule.kind?.includes(kind))) &&
    (rule.command === undefined ||
      unreadable.command ||
      rule.command.some((prefix) => commands.some((command) => possiblyRuns(command, prefix)))) &&
    ((rule.inside === undefined && rule.outside === undefined) ||
      unreadable.path ||
      paths.some((path) => placesOf(path).some((place) => isNamed(place, rule, "i")) || path.real === undefined)) &&
    (rule.host === undefined ||
      unreadable.host ||
      hosts.some((host) => rule.host?.some((name) => isHost(host, name)))) &&
    (rule.mcp === undefined ||
      mcpServer === "" ||
      rule.mcp.some((name) => name === mcpServer || name === claimedServer))
  );
}

function certainlyMeans(rule: PolicyRule, evidence: ToolEvidence): boolean {
  const { kinds, commands, hosts, besides, mcpServer, claimedServer, unreadable } = evidence;
  if (unreadable.whole) return false;
  const namesPaths = rule.inside !== undefined || rule.outside !== undefined;
  // Paths bound what a file tool does, and nothing else.
  if (
    namesPaths &&
    (rule.kind ?? rule.command ?? rule.mcp) === undefined &&
    !kinds.every((kind) => FILE_KINDS.has(kind))
  )
    return false;
  // What an MCP tool does is known to its server alone, so the server has to be named.
  if ((mcpServer ?? claimedServer) !== undefined && rule.mcp === undefined) return false;
  // Of a command the words are judged as words, and the folder as a path.
  const paths = rule.command === undefined ? evidence.paths : besides;
  const isAtHome = besides.every(({ real }) => real?.isInside === true);
  return (
    (rule.kind === undefined || kinds.every((kind) => rule.kind?.includes(kind))) &&
    (rule.command === undefined ||
      (!unreadable.command &&
        !evidence.isCommandOpen &&
        kinds.every((kind) => kind !== "fetch") &&
        (namesPaths || isAtHome) &&
        commands.length > 0 &&
        commands.every((command) => rule.command?.some((prefix) => certainlyBegins(command, prefix))))) &&
    (!namesPaths ||
      (!unreadable.path &&
        paths.length > 0 &&
        paths.every(({ real }) => real !== undefined && isNamed(real, rule, "")))) &&
    (rule.host === undefined ||
      (!unreadable.host &&
        kinds.every((kind) => kind === "fetch") &&
        (namesPaths || besides.length === 0) &&
        hosts.length > 0 &&
        hosts.every((host) => rule.host?.some((name) => isHost(host, name))))) &&
    (rule.mcp === undefined || (mcpServer !== undefined && mcpServer !== "" && rule.mcp.includes(mcpServer)))
  );
}

function placesOf({ real, written }: PlacedPath): readonly Place[] {
  return real === undefined ? [written] : [real, written];
}

function isNamed({ isInside, path }: Place, { inside = [], outside = [] }: PolicyRule, flags: "i" | ""): boolean {
  return (isInside ? inside : outside).some((glob) => globPattern(glob, flags).test(path));
}

/** `**` = any folders, `*` and `?` = within one name; dots are nothing special. `src/**` is `src` as well. */
function globPattern(glob: string, flags: string): RegExp {
  const whole = glob.startsWith("~/") ? accountHome() + glob.slice(1) : glob.replace(/^\.\//, "");
  const pattern = whole.replace(
    /\/\*\*$|\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g,
    (part) => GLOB_PARTS[part] ?? `\\${part}`,
  );
  return new RegExp(`^${pattern}$`, `s${flags}`);
}

const GLOB_PARTS: Readonly<Record<string, string>> = {
  "/**": "(?:/.*)?",
  "**/": "(?:.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "?": "[^/]",
};

function isHost(host: string, name: string): boolean {
  const wanted = name.toLowerCase();
  return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted;
}
