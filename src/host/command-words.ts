/**
 * Commands and the first words of rules. To allow, a command must be read for certain, so anything a shell would give a
 * meaning to keeps it from matching. To deny, one plausible reading is enough, so everything is read generously.
 */
import { basename, dirname } from "node:path";

/** A command as a tool call carries it: a text for a shell, or words for none. */
export type Command = string | readonly string[];

/** What lets a shell run or write something besides, or hides a word from us. */
const SHELL_MEANING = /[;&|$()`<>\n\r\\]/;
const SHELLS = words("bash sh zsh dash ksh mksh fish ash");
/** A shell of another folder may be anybody's program. */
const SYSTEM_FOLDERS = words("/bin /usr/bin /usr/local/bin /opt/homebrew/bin");
/** Programs and words of a shell that run what stands somewhere behind them. */
const RUNNERS = new Set([
  ...SHELLS,
  ...words(
    "env sudo doas su runuser command exec builtin eval trap nohup time nice ionice chrt taskset timeout stdbuf",
  ),
  ...words(
    "setsid flock xargs parallel find fd busybox toybox watch entr strace ltrace script ssh chroot unshare nsenter",
  ),
  ...words("bwrap firejail xvfb-run caffeinate npx bunx"),
]);
/** These take what they run, or its words, from their input. */
const FEEDERS = words("xargs parallel");
/** Words of a shell before a command. */
const KEYWORDS = words("then do else elif if while until coproc time ! { }");
const ASSIGNMENT = /^\w+(?:\[[^\]]*\])?\+?=/;
const BETWEEN_COMMANDS = /[;&|()\n\r]/;
/** A redirection with its file, which may stand before a program and between its words; `<(` and `>(` run something. */
const REDIRECTION = /(?:(?<=^|\s)\d+)?(?:&>>?|<<<|<<-?|<>|>>|>\||[<>])&?[ \t]*[^\s;&|()<>]+/g;
/** What only the shell knows: a variable, what another command prints, what `find` and `xargs` put in, braces. */
const EXPANSION = /\$|\{\}|\{[^{}]*(?:,|\.\.)[^{}]*\}/;

/** Whether the command begins with the words of the rule, and does nothing else that a shell could add. */
export function certainlyBegins(command: Command, prefix: string): boolean {
  if (SHELL_MEANING.test(typeof command === "string" ? command : command.join(" "))) return false;
  const said = typeof command === "string" ? splitWords(command) : command;
  if (said === undefined) return false;
  const [shell = "", flag = "", script, ...more] = said;
  const isWrapped = isSystemShell(shell) && /^-l?c$/.test(flag) && more.length === 0;
  const inner = isWrapped && script !== undefined ? splitWords(script) : undefined;
  const wanted = splitWords(prefix) ?? [prefix];
  return [said, inner ?? []].some((read) => wanted.every((word, index) => read[index] === word));
}

function isSystemShell(program: string): boolean {
  return SHELLS.has(basename(program)) && (!program.includes("/") || SYSTEM_FOLDERS.has(dirname(program)));
}

/**
 * Whether the command may run what the rule names: its program with the further words behind it, in any part of the
 * command or behind a program that runs others, or a word that decides it and cannot be read.
 */
export function possiblyRuns(command: Command, prefix: string): boolean {
  const [program = "", ...further] = splitWords(prefix) ?? [prefix];
  const rule = { program: programName(program), further };
  // A list is the words of one command, or several commands.
  const texts = typeof command === "string" ? [command] : [command.join(" "), ...command];
  return texts.some((text) => {
    const plain = text
      .replace(/\\\r?\n/g, "")
      .replace(/`/g, "$;")
      .replace(/["'\\]/g, "");
    return [plain.replace(REDIRECTION, " "), plain.replace(/[<>]/g, ";")].some((reading) =>
      reading.split(BETWEEN_COMMANDS).some((part) => partRuns(part.trim().split(/\s+/), rule)),
    );
  });
}

interface Wanted {
  readonly program: string;
  readonly further: readonly string[];
}

function partRuns(part: readonly string[], rule: Wanted): boolean {
  const start = part.findIndex((word) => word !== "" && !KEYWORDS.has(word) && !ASSIGNMENT.test(word));
  const [first = "", ...rest] = start < 0 ? [] : part.slice(start);
  if (isProgram(first, rule.program)) return mayFollow(rule.further, rest) || EXPANSION.test(first);
  if (!RUNNERS.has(programName(first))) return false;
  // Which words are its options and which the command differs from runner to runner: each may begin the command.
  const run = rest.map(readingsOf);
  const isFed = [first, ...rest].some((word) => FEEDERS.has(programName(word)));
  if (run.flat().some((word) => EXPANSION.test(word) || (isFed && RUNNERS.has(programName(word))))) return true;
  // A shell with nothing behind it takes its commands from elsewhere.
  const shell = [first, ...rest].findLastIndex((word) => SHELLS.has(programName(word)));
  if (shell >= 0 && rest.slice(shell).every((word) => /^[-+]/.test(word) && !/^-\w*c./.test(word))) return true;
  const found = run.findIndex((readings) => readings.some((word) => isProgram(word, rule.program)));
  return found >= 0 && (isFed || mayFollow(rule.further, rest.slice(found + 1)));
}

/** A word, and what an option holds: `-cgit`, `--split-string=git`. */
function readingsOf(word: string): string[] {
  const held = /^--?[\w-]+=(.+)$/.exec(word)?.[1];
  return [word, ...(held === undefined ? [] : [held]), ...(/^-[^-]./.test(word) ? [word.slice(2)] : [])];
}

function isProgram(word: string, program: string): boolean {
  return EXPANSION.test(word) || mayBe(programName(word), program);
}

function programName(word: string): string {
  return basename(word)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat)$/, "");
}

/** Whether the words behind a program may hold those of the rule: flags anywhere and in any spelling, the rest in order. */
function mayFollow(wanted: readonly string[], rest: readonly string[]): boolean {
  const hidden = rest.findIndex((word) => EXPANSION.test(word));
  const flags = rest.filter((word) => word.startsWith("-"));
  let next = 0;
  const others = wanted.filter((word) => !word.startsWith("-"));
  for (const word of hidden < 0 ? rest : rest.slice(0, hidden)) {
    if (next < others.length && mayBe(word, others[next] ?? "")) next += 1;
  }
  if (hidden >= 0) return true;
  return next >= others.length && wanted.filter((word) => word.startsWith("-")).every((flag) => isGiven(flag, flags));
}

/** `-rf` is `-fr`, `-r -f` and `-R --force`: letters of short flags, first letters of long ones. */
function isGiven(flag: string, flags: readonly string[]): boolean {
  if (flags.some((given) => mayBe(given, flag) || given.startsWith(`${flag}=`))) return true;
  const letters = new Set(
    flags.flatMap((given) => (given.startsWith("--") ? given.slice(2, 3) : Array.from(given.slice(1)))).map(lower),
  );
  const isLong = flag.startsWith("--");
  return (isLong ? [flag.slice(2, 3)] : Array.from(flag.slice(1))).map(lower).every((letter) => letters.has(letter));
}

function lower(text: string): string {
  return text.toLowerCase();
}

/** A word with wildcards may become what they match. */
function mayBe(word: string, wanted: string): boolean {
  if (!/[*?[]/.test(word)) return word === wanted;
  if (word.length > MAX_WILD_CHARS) return true;
  const pattern = word.replace(/\[[^\]]*\]|\*+|\?|[.+^${}()|[\]\\]/g, (sign) =>
    sign.startsWith("*") ? ".*" : sign === "?" || sign.length > 1 ? "." : `\\${sign}`,
  );
  return new RegExp(`^${pattern}$`, "s").test(wanted);
}

/** A longer pattern is not tried: it may take for ever. */
const MAX_WILD_CHARS = 100;

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** Words by blanks and plain quotes; undefined when a quote is not closed. */
function splitWords(text: string): string[] | undefined {
  const found: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (const char of text) {
    if (quote !== "") {
      if (char === quote) quote = "";
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= "";
    } else if (/\s/.test(char)) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else word = (word ?? "") + char;
  }
  if (word !== undefined) found.push(word);
  return quote === "" ? found : undefined;
}
