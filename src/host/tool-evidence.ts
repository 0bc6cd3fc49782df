/** What a tool call would do, by its own frame alone: the title is never looked at, for the model writes it. */
import type { PermissionRequest } from "../acp/types.ts";
import type { Command } from "./command-words.ts";
import { MAX_PATHS, placePath, readReachedPaths } from "./workspace-paths.ts";
import type { PlacedPath } from "./workspace-paths.ts";

export interface ToolEvidence {
  /** The kind of the frame, and `execute` or `fetch` besides when its input says so. Empty: the call was never announced. */
  readonly kinds: readonly string[];
  readonly commands: readonly Command[];
  readonly paths: readonly PlacedPath[];
  readonly hosts: readonly string[];
  /** The server of an MCP tool; empty when it is one, and which server is not certain. */
  readonly mcpServer: string | undefined;
  /** A server that the input names, which the model may have written: good enough to deny. */
  readonly claimedServer: string | undefined;
  /** Parts that could not be read. */
  readonly unreadable: { readonly command: boolean; readonly path: boolean; readonly host: boolean };
}

const COMMAND_KEY = /^(?:command|cmd|script|shell)s?$/i;
const ARGUMENTS_KEY = /^(?:args|arguments|argv)$/i;
const HOST_KEY = /^(?:ur[il]s?|href|link|endpoint|host(?:name)?s?|domains?)$/i;
/** Kinds that mean nothing without a path. A search without one searches the workspace. */
const NEEDS_PATH = new Set(["read", "edit", "delete", "move"]);

/** Collects the evidence for one request. Paths are followed on disk. */
export async function readToolEvidence(request: PermissionRequest, folders: readonly string[]): Promise<ToolEvidence> {
  const { kind, rawInput, mcpServer } = request;
  const reached = readReachedPaths(rawInput);
  const found = new Input();
  // What is too deep to be walked for paths is not walked for anything else.
  if (!reached.isTooDeep) found.visit(rawInput, "");
  const named = [...request.paths, ...reached.paths].filter((path) => !/^https?:\/\//i.test(path));
  const names = named.length === 0 && kind === "search" ? ["."] : named;
  const kinds = new Set(kind === undefined ? [] : [kind]);
  if (kind !== undefined && reached.runsCommand) kinds.add("execute");
  if (kind !== undefined && (found.hosts.length > 0 || found.unreadableHost)) kinds.add("fetch");
  return {
    kinds: [...kinds],
    commands: found.commands,
    paths: await Promise.all(names.slice(0, MAX_PATHS).map((path) => placePath(path, folders))),
    hosts: found.hosts,
    mcpServer,
    claimedServer: isRecord(rawInput) && typeof rawInput["server"] === "string" ? rawInput["server"] : undefined,
    unreadable: {
      command: reached.isTooDeep || found.unreadableCommand || (kinds.has("execute") && found.commands.length === 0),
      path:
        reached.isOpenEnded ||
        names.length > MAX_PATHS ||
        (kind !== undefined && NEEDS_PATH.has(kind) && names.length === 0),
      host: reached.isTooDeep || found.unreadableHost || (kind === "fetch" && found.hosts.length === 0),
    },
  };
}

class Input {
  readonly commands: Command[] = [];
  readonly hosts: string[] = [];
  unreadableCommand = false;
  unreadableHost = false;

  visit(value: unknown, key: string): void {
    if (Array.isArray(value)) for (const element of value) this.visit(element, key);
    else if (isRecord(value)) {
      for (const [name, inner] of Object.entries(value)) {
        if (COMMAND_KEY.test(name)) this.#command(inner, value);
        else this.visit(inner, name);
      }
    } else if (HOST_KEY.test(key)) this.#host(value);
  }

  /** A program may have its arguments beside it; an environment beside it can change what it does. */
  #command(value: unknown, holder: Readonly<Record<string, unknown>>): void {
    const beside = Object.entries(holder).find(([name]) => ARGUMENTS_KEY.test(name))?.[1] ?? [];
    const words = typeof value === "string" ? value : isTexts(value) ? value : undefined;
    const env = holder["env"] ?? holder["environment"];
    const hasEnv = isRecord(env) ? Object.keys(env).length > 0 : env != null;
    if (words === undefined || !isTexts(beside) || hasEnv) this.unreadableCommand = true;
    if (words === undefined) return;
    if (!isTexts(beside) || beside.length === 0) this.commands.push(words);
    else this.commands.push([...(typeof words === "string" ? [words] : words), ...beside]);
  }

  #host(value: unknown): void {
    const text = typeof value === "string" ? value : "";
    const url = /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[\w.-]+:\d+$/.test(text) ? text : `https://${text}`;
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed?.protocol === "file:") return;
    if (parsed === undefined || parsed.hostname === "") this.unreadableHost = true;
    else this.hosts.push(parsed.hostname.toLowerCase().replace(/\.$/, ""));
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((element) => typeof element === "string");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
