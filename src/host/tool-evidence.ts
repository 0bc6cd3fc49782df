/** What a tool call would do, by its own frame alone: the title is never looked at, for the model writes it. */
import type { PermissionRequest } from "../acp/types.ts";
import type { Command } from "./command-words.ts";
import { COMMAND_KEY, HOST_KEY, TEXT_KEY, readReachedPaths } from "./reached-paths.ts";
import { MAX_PATHS, placePath } from "./workspace-paths.ts";
import type { PlacedPath } from "./workspace-paths.ts";

export interface ToolEvidence {
  /** The kind of the frame, and `execute` or `fetch` besides when its input says so. Empty: the call was never announced. */
  readonly kinds: readonly string[];
  readonly commands: readonly Command[];
  readonly paths: readonly PlacedPath[];
  /** Those that a rule on commands or hosts has to think of: folders to work in, files to write to. */
  readonly besides: readonly PlacedPath[];
  readonly hosts: readonly string[];
  /** Hosts that a command or a text of a fetch speaks of: good enough to deny. */
  readonly mentionedHosts: readonly string[];
  /** The server of an MCP tool; empty when it is one, and which server is not certain. */
  readonly mcpServer: string | undefined;
  /** A server that the input names, which the model may have written: good enough to deny. */
  readonly claimedServer: string | undefined;
  /** Parts that could not be read; `whole` is the input, which was not looked at to its end. */
  readonly unreadable: {
    readonly whole: boolean;
    readonly command: boolean;
    readonly path: boolean;
    readonly host: boolean;
  };
  /** Something stands beside a command that may change what it does. */
  readonly isCommandOpen: boolean;
}

const ARGUMENTS_KEY = /^(?:args|arguments)$/i;
/** Code for an interpreter; in the input of an edit it is what is written. */
const CODE_KEY = /^(?:code|source_?code|snippet|expression)$/i;
/** Of a fetch only: elsewhere these are files. */
const FETCH_KEY = /^(?:target|to|server|origin|site|page|location|source|base|via)$/i;
/** What the recordings have beside a command and does not change it. Numbers and flags do not either. */
const BESIDE_COMMAND =
  /^(?:cwd|work(?:ing)?_?dir(?:ectory)?|dir(?:ectory)?|folder|root|path|.*description|.*purpose|explanation|reason|justification|summary|title|.*id)$/i;
/** Kinds that mean nothing without a path. A search without one searches the workspace. */
const NEEDS_PATH = new Set(["read", "edit", "delete", "move"]);

/** Collects the evidence for one request. Paths are followed on disk. */
export async function readToolEvidence(request: PermissionRequest, folders: readonly string[]): Promise<ToolEvidence> {
  const { kind, mcpServer } = request;
  const rawInput = kind === "edit" ? withoutOperation(request.rawInput) : request.rawInput;
  const reached = readReachedPaths(rawInput);
  const found = new Input(kind);
  // What is too deep to be walked for paths is not walked for anything else.
  if (!reached.isTooDeep) found.visit(rawInput, "");
  const named = [...request.paths, ...reached.paths].filter(isFile);
  const besides = [...request.paths, ...reached.besides].filter(isFile);
  const names = named.length === 0 && kind === "search" ? ["."] : named;
  const kinds = new Set(kind === undefined ? [] : [kind]);
  if (kind !== undefined && (reached.runsCommand || found.commands.length > 0)) kinds.add("execute");
  if (kind !== undefined && (found.hosts.length > 0 || found.unreadableHost)) kinds.add("fetch");
  return {
    kinds: [...kinds],
    commands: found.commands,
    paths: await Promise.all(names.slice(0, MAX_PATHS).map((path) => placePath(path, folders))),
    besides: await Promise.all(besides.slice(0, MAX_PATHS).map((path) => placePath(path, folders))),
    hosts: found.hosts,
    mentionedHosts: found.mentionedHosts,
    mcpServer,
    claimedServer: isRecord(rawInput) && typeof rawInput["server"] === "string" ? rawInput["server"] : undefined,
    isCommandOpen: found.isCommandOpen,
    unreadable: {
      whole: reached.isTooDeep,
      command: reached.isTooDeep || found.unreadableCommand || (kinds.has("execute") && found.commands.length === 0),
      path:
        reached.isOpenEnded ||
        names.length > MAX_PATHS ||
        (kind !== undefined && NEEDS_PATH.has(kind) && names.length === 0),
      host: reached.isTooDeep || found.unreadableHost || (kind === "fetch" && found.hosts.length === 0),
    },
  };
}

/** kiro v2 calls what its editor does a command (`{ command: "create", path, content }`): it is no program. */
function withoutOperation(rawInput: unknown): unknown {
  if (!isRecord(rawInput)) return rawInput;
  const { command, ...rest } = rawInput;
  return typeof command === "string" && /^(?:create|str_?replace|insert|append)$/i.test(command) ? rest : rawInput;
}

function isFile(path: string): boolean {
  return !/^https?:\/\//i.test(path);
}

class Input {
  readonly commands: Command[] = [];
  readonly hosts: string[] = [];
  readonly mentionedHosts: string[] = [];
  unreadableCommand = false;
  unreadableHost = false;
  isCommandOpen = false;
  readonly #kind: string | undefined;

  constructor(kind: string | undefined) {
    this.#kind = kind;
  }

  visit(value: unknown, key: string): void {
    if (Array.isArray(value)) for (const element of value) this.visit(element, key);
    else if (isRecord(value)) {
      for (const [name, inner] of Object.entries(value)) {
        if (this.#isCommand(name)) this.#command(inner, name, value);
        else {
          if (this.#kind === "fetch") this.#mention(name);
          this.visit(inner, name);
        }
      }
    } else if (this.#isHost(value, key)) this.#host(value);
    else if (typeof value === "string" && this.#kind === "fetch") this.#mention(value);
  }

  #isCommand(name: string): boolean {
    return COMMAND_KEY.test(name) || (CODE_KEY.test(name) && this.#kind !== "edit");
  }

  #isHost(value: unknown, key: string): boolean {
    if (HOST_KEY.test(key)) return value != null && typeof value !== "boolean";
    if (typeof value !== "string" || TEXT_KEY.test(key)) return false;
    return /^\s*(?:[a-z][a-z0-9+.-]*:)?\/\/\w/i.test(value) || (this.#kind === "fetch" && FETCH_KEY.test(key));
  }

  /** A program may have its arguments beside it; an environment beside it can change what it does. */
  #command(value: unknown, key: string, holder: Readonly<Record<string, unknown>>): void {
    const beside = Object.entries(holder).find(([name]) => ARGUMENTS_KEY.test(name))?.[1] ?? [];
    const words = typeof value === "string" ? value : isTexts(value) ? value : undefined;
    const env = holder["env"] ?? holder["environment"];
    const hasEnv = isRecord(env) ? Object.keys(env).length > 0 : env != null;
    if (words === undefined || !isTexts(beside) || hasEnv) this.unreadableCommand = true;
    this.isCommandOpen ||= Object.entries(holder).some(
      ([name, inner]) => name !== key && !ARGUMENTS_KEY.test(name) && !BESIDE_COMMAND.test(name) && isMore(inner),
    );
    if (words === undefined) return;
    const whole =
      !isTexts(beside) || beside.length === 0 ? words : [...(typeof words === "string" ? [words] : words), ...beside];
    this.commands.push(whole);
    this.#mention(typeof whole === "string" ? whole : whole.join(" "));
  }

  #host(value: unknown): void {
    const text = typeof value === "string" ? value.trim() : "";
    const url = text.startsWith("//")
      ? `https:${text}`
      : /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[\w.-]+:\d+(?:\/|$)/.test(text)
        ? text
        : `https://${text}`;
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed?.protocol === "file:") return;
    if (parsed === undefined || parsed.hostname === "") this.unreadableHost = true;
    else this.hosts.push(parsed.hostname.toLowerCase().replace(/\.$/, ""));
  }

  /** Host names within a text, with or without a scheme; a URL whose host only a shell knows cannot be read. */
  #mention(text: string): void {
    const plain = text.replace(/["'\\]/g, "").toLowerCase();
    if (/:\/\/[^\s/]*[$`{[*?]/.test(plain)) this.unreadableHost = true;
    this.mentionedHosts.push(...(plain.match(/[a-z0-9_-]+(?:\.[a-z0-9_-]+)+/g) ?? []));
    for (const [url] of plain.matchAll(/[a-z][a-z0-9+.-]*:\/\/[^\s<>()|;&]+/g)) {
      if (URL.canParse(url)) this.mentionedHosts.push(new URL(url).hostname);
    }
  }
}

/** Neither a number nor a flag nor nothing. */
function isMore(value: unknown): boolean {
  return (typeof value === "string" && value !== "") || (typeof value === "object" && value !== null);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((element) => typeof element === "string");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
