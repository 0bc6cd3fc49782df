/**
 * The paths that the input of a tool call names: under the names that are usual for paths, as keys, in the headers of a
 * patch, and wherever else a text looks like one.
 */

/** Where a tool call says it goes. */
export interface ReachedPaths {
  readonly paths: readonly string[];
  /** Those of them that are no command and no URL of a fetch: folders to work in, files to write to. */
  readonly besides: readonly string[];
  /** A search pattern leaves its folder by itself, or the input is too deep to be read whole. */
  readonly isOpenEnded: boolean;
  /** Some of the input was not looked at. */
  readonly isTooDeep: boolean;
  /** A program would run, whatever the call is labelled as (codex labels `cat file` as reading). */
  readonly runsCommand: boolean;
}

/** Keys of a command, a program or code. */
export const COMMAND_KEY =
  /^(?:command(?:_?line)?|cmd(?:_?line)?|(?:shell|bash)(?:_?(?:command|cmd))?|script|powershell|argv|exec|execute|program|executable|run)s?$/i;
/** Keys that hold what is looked for, written or said about it: text, not a place. */
export const TEXT_KEY =
  /(?:query|text|regex|term|content|symbol|string|str|code|patch|diff|purpose|description|explanation|reason|message|prompt|plan|question|summary)s?$/i;
/** Keys of where a fetch goes. */
export const HOST_KEY = /(?:ur[il]|href|link|endpoint|hosts?(?:name)?|domain|proxy|website|webpage|address)s?$/i;

const PATH_KEY = /(?:path|file|filename|dir|directory|folder|cwd|root|ur[il])s?$/i;
/** The ends of a move or copy, in a word of their own (`new_name`, `moveTo`). */
const PLACE_KEY =
  /^(?:to|from|target|dest|destination|source|src|dst|output|out|location|rename|move)s?$|(?:^|_)(?:to|target|destination|name)$|[a-z](?:To|Target|Destination|Name)$/;
const PATTERN_KEY = /^(?:pattern|glob|include|exclude)s?$/i;
/** Names that are no places. */
const NAME_KEY = /(?:symbol|tool|server|skill|agent|model|branch|user|class|function|type|display)_?name$/i;
/** A path, whatever its key is called: absolute, climbing, of the home folder, a URL, or names with slashes between. */
const LOOKS_LIKE_PATH =
  /^(?:[/~\\]|\.\.?(?:\/|$)|[a-z]:\\|[a-z][a-z0-9+.-]*:\/|file:)|[\\/]\.\.(?:[\\/]|$)|^\S+\/\S*$/i;
/** A key that is a path: `changes: { "src/a.ts": … }`. */
const PATH_AS_KEY = /[\\/]|^[.~]|\.[a-z]\w{0,7}$/i;
/** Input within a text: it is not taken apart here, and some tools do. */
const HOLDS_INPUT = /^\s*(?:\{\s*["}]|\[\s*["{[\]])/;
/** Starts at the root or home folder (also inside `{a,b}`), or climbs: a wildcard before `..` may stand for nothing. */
const LEAVES_FOLDER = /(?:^|[{,(|])\s*[/~]|(?:^|[\\/{,(|])\.\.(?:$|[\\/},)|])|^[a-z]+:\/\//i;
/** Keys of what a file will hold: a patch in it is text. */
const FILE_TEXT_KEY = /(?:content|text|string|str|prompt|description|explanation|purpose|plan)s?$/i;
const PATCH_HEADER =
  /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)|^(?:---|\+\+\+) ([^\t\n]+)|^(?:rename|copy) (?:from|to) (.+)|^diff --git (\S+) (\S+)/gm;
/** Deeper or larger than the input of any read tool in the recordings (3 levels, a dozen values). */
const MAX_DEPTH = 6;
const MAX_VALUES = 1000;

/** Collects the paths that the raw input of a tool call names, at any depth (kiro: `operations[].path`). */
export function readReachedPaths(rawInput: unknown): ReachedPaths {
  const paths: string[] = [];
  const besides: string[] = [];
  let isOpenEnded = false;
  let isTooDeep = false;
  let runsCommand = false;
  let values = 0;
  const add = (path: string, key: string): void => {
    paths.push(path);
    if (!COMMAND_KEY.test(key) && !/^(?:args|arguments)$/i.test(key) && !isOfUrl(path, key)) besides.push(path);
  };
  const visit = (value: unknown, key: string, depth: number): void => {
    if (depth > MAX_DEPTH || ++values > MAX_VALUES) isTooDeep = true;
    else if (Array.isArray(value)) for (const element of value) visit(element, key, depth + 1);
    else if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        const named = readPatchPaths(name);
        if (named.length > 0 || PATH_AS_KEY.test(name))
          for (const path of named.length > 0 ? named : [name]) add(path, "");
        const isPlace = isPathKey(key) && !TEXT_KEY.test(name) && !COMMAND_KEY.test(name);
        visit(inner, isPlace && !isPathKey(name) ? key : PATH_AS_KEY.test(name) ? "" : name, depth + 1);
      }
    } else if (typeof value === "string") {
      if (PATTERN_KEY.test(key)) isOpenEnded ||= LEAVES_FOLDER.test(value);
      else if (isPathKey(key) || (!TEXT_KEY.test(key) && LOOKS_LIKE_PATH.test(value))) add(value, key);
      if (!FILE_TEXT_KEY.test(key)) for (const path of readPatchPaths(value)) add(path, "");
      if (!TEXT_KEY.test(key) && HOLDS_INPUT.test(value)) isOpenEnded = true;
    }
    if (COMMAND_KEY.test(key)) runsCommand = true;
  };
  visit(rawInput, "", 0);
  return { paths, besides, isOpenEnded: isOpenEnded || isTooDeep, isTooDeep, runsCommand };
}

function isPathKey(key: string): boolean {
  return PATH_KEY.test(key) || (PLACE_KEY.test(key) && !NAME_KEY.test(key));
}

function isOfUrl(path: string, key: string): boolean {
  return !/^file:/i.test(path) && !/^[/~.]/.test(path) && (HOST_KEY.test(key) || /^[a-z][a-z0-9+.-]*:\/\//i.test(path));
}

/** The files that a patch is about: codex's own form, a unified diff, git's. Empty when it is none. */
function readPatchPaths(text: string): string[] {
  const isPatch =
    /^\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File: |Move to: )|^--- .*\r?\n\+\+\+ |^diff --git |^rename to /m.test(
      text,
    );
  if (!isPatch) return [];
  return [...text.matchAll(PATCH_HEADER)].flatMap(([, own, unified, moved, ...git]) => [
    ...[own, moved].filter((path) => path !== undefined).map((path) => path.trimEnd()),
    ...[unified, ...git]
      .filter((path) => path !== undefined && path !== "/dev/null")
      .map((path) => path?.trimEnd().replace(/^[ab]\//, "") ?? ""),
  ]);
}
