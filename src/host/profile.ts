import type { Profile } from "../errors/failure.ts";

const PROGRAMS: readonly (readonly [program: RegExp, profile: Profile])[] = [
  [programName("claude-agent-acp"), "claude"],
  [programName("codex-acp"), "codex"],
  [programName("kiro-cli"), "kiro"],
];

/** Whether a text names wire habits. */
export function isProfile(value: unknown): value is Profile {
  return value === "kiro" || value === "codex" || value === "claude" || value === "generic";
}

/**
 * Whose wire habits a command has when nobody said: a known harness started by hand must still be put into the mode that
 * asks. Undefined for programs that nobody here has met.
 */
export function profileOfCommand(command: readonly string[]): Profile | undefined {
  return PROGRAMS.find(([program]) => command.some((word) => program.test(word)))?.[1];
}

/** A word that is the program, a path to it, or its package with a version (`npx @scope/codex-acp@2.6.0`). */
function programName(name: string): RegExp {
  return new RegExp(`(?:^|/)${name}(?:$|[/@])`);
}
