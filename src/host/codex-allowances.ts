/**
 * What a user's own codex settings let run without a question to Ostler, in every mode: rules that allow a command
 * (outside the sandbox), a hook that answers for the person, MCP tools that are approved beforehand. Codex has no switch
 * that sets them aside, so `gate: required` has to refuse. Looked for in the files that codex 0.166 reads, not decided as
 * it would: what might allow counts.
 */
import { readFileSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { unroutable } from "../acp/tool-gate.ts";
import { systemCode } from "../errors/system-code.ts";

export interface CodexPlace {
  /** The environment of the agent. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
}

/** Throws `AcpToolGateUnroutable` when a setting lets tools run unasked. */
export function requireAskingSettings(place: CodexPlace): void {
  const allowance = findCodexAllowance(place);
  if (allowance !== undefined) throw unroutable(allowance);
}

/** A sentence about the first file that may let tools run unasked; undefined when there is none. */
export function findCodexAllowance({ env, cwd }: CodexPlace): string | undefined {
  const home = env["CODEX_HOME"] || join(env["HOME"] || homedir(), ".codex");
  for (const folder of [home, ...foldersUpward(cwd).map((parent) => join(parent, ".codex"))]) {
    const rules = rulesFiles(join(folder, "rules")).find((file) => mayAllow(file, allowsCommands));
    if (rules !== undefined) return `The rules in ${rules} let commands run without asking`;
    for (const name of ["hooks.json", "config.toml"]) {
      const file = join(folder, name);
      if (mayAllow(file, (text) => text.includes("PermissionRequest")))
        return `A PermissionRequest hook in ${file} may allow tools without asking`;
    }
    const config = join(folder, "config.toml");
    if (mayAllow(config, (text) => /^[^#\n]*approval_mode\s*=\s*["']approve["']/m.test(text)))
      return `${config} lets MCP tools run without asking`;
  }
  return undefined;
}

/** A rule decides `allow` unless it says otherwise. */
function allowsCommands(text: string): boolean {
  const [, ...rules] = text.replaceAll(/#.*$/gm, "").split(/\b(?:prefix_rule|network_rule)\s*\(/);
  return rules.some((rule) => !/\bdecision\s*=\s*["'](?:prompt|forbidden|deny)["']/.test(rule));
}

/** A file that is there and cannot be read may say anything. */
function mayAllow(file: string, reading: (text: string) => boolean): boolean {
  try {
    return reading(readFileSync(file, "utf8"));
  } catch (error) {
    return !isAbsent(error);
  }
}

function rulesFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".rules"));
    return names.sort().map((name) => join(folder, name));
  } catch (error) {
    return isAbsent(error) ? [] : [folder];
  }
}

function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(systemCode(error));
}

function foldersUpward(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpward(parent)];
}
