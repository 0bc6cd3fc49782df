/**
 * Scrubs text that leaves the process: credentials of every common shape, `name=value` secrets, URLs with passwords, PEM
 * blocks, private paths. It errs on the side of hiding, but leaves the words of an error alone ("token limit",
 * "max_tokens: 5", "API key not found"). Every pattern is bounded: text costs linear time.
 */

import { mayHoldSecret } from "./secret-signs.ts";

const HIDDEN = "[redacted]";

type Replacement = string | ((...groups: string[]) => string);

/** Tokens that show what they are by their own shape, whatever stands around them. */
export const TOKEN_SHAPES: readonly string[] = [
  "ostler_mcp_[\\w-]{16,}",
  "sk-ant-[\\w-]{4,}",
  "sk-(?:proj|svcacct|admin|or-v1|live|test)-[\\w-]{8,}",
  "sk-[A-Za-z0-9]{16,}",
  "[sr]k_(?:live|test)_[A-Za-z0-9]{8,}",
  "whsec_[A-Za-z0-9+/=]{16,}",
  "gh[pousr]_[A-Za-z0-9]{16,}",
  "github_pat_\\w{16,}",
  "gl(?:pat|rt|dt|soat|ptt)-[\\w-]{12,}",
  "xox[abeoprs]-[\\w-]{8,}",
  "xapp-\\d-[\\w-]{8,}",
  "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
  "AIza[\\w-]{30,}",
  "ya29\\.[\\w-]{16,}",
  "GOCSPX-[\\w-]{16,}",
  "eyJ[\\w-]{8,512}\\.[\\w-]{8,}(?:\\.[\\w-]{0,4096})?",
  "npm_[A-Za-z0-9]{20,}",
  "pypi-[\\w-]{20,}",
  "hf_[A-Za-z0-9]{16,}",
  "gsk_[A-Za-z0-9]{20,}",
  "xai-[A-Za-z0-9]{20,}",
  "r8_[A-Za-z0-9]{20,}",
  "pplx-[A-Za-z0-9]{20,}",
  "dop_v1_[a-f0-9]{32,}",
  "dapi[a-f0-9]{32}",
  "lin_api_[A-Za-z0-9]{20,}",
  "figd_[\\w-]{20,}",
  "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
  "SG\\.[\\w-]{16,}\\.[\\w-]{16,}",
  "AGE-SECRET-KEY-1[A-Z0-9]{20,}",
  // Discord bot token: user id, time, signature.
  "[MNO][A-Za-z0-9_-]{22,28}\\.[\\w-]{6}\\.[\\w-]{25,}",
];

const TOKEN = `(?:${TOKEN_SHAPES.join("|").replaceAll(",}", ",2048}")})`;
/** Enough of one to know it by, for a look ahead. */
const TOKEN_AHEAD = `(?:${TOKEN_SHAPES.join("|").replaceAll(",}", ",64}")})`;
const TELEGRAM_TOKEN = "\\d{6,12}:[A-Za-z0-9_-]{30,2048}";
/** A line end or an escape sequence as source code and JSON inside of JSON write them: `\\n`, `\\u001b[31m`, `\\x1b(B`. */
const WRITTEN_CONTROL =
  "\\\\(?:[nrt]|(?:u00[019][0-9A-Fa-f]|x[019][0-9A-Fa-f]|033|e)(?:\\[[0-?]{0,32})?[ -/]{0,4}[0-~]?)";

/** Names that always hold a secret; a number or an index may follow. */
const SECRET_NAME =
  "(?:passwords?|passwd|passphrase|pwd|secret|api[ _-]?keys?|access[_-]?keys?|private[_-]?keys?|secret[_-]?keys?|signing[_-]?keys?|account[_-]?keys?|encryption[_-]?keys?|(?:access|refresh|auth|id|bot|session|bearer|csrf|api)[_-]?tokens?|credentials?|set-cookie|cookie)";
/** Names that hold a secret or something harmless: the value has to look like one. */
const WEAK_NAME = "(?:token|auth|authorization|signature|sig|pass|pat|jwt|bearer)";
/** `OPENAI_API_KEY`, `DB_PASSWORD`: environment names by their ending. */
const ENV_NAME = "[A-Z][A-Z0-9_]{0,60}_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?|PAT)";
const PREFIX = "(?<![\\w.-])(?:[\\w.-]{1,40}[_.-])?";
const ANY_PREFIX = "(?<![\\w.-])[\\w.-]{0,40}?";
/** Inside JSON that is itself a string, quotes are escaped. */
const QUOTE = "(?:\\\\{0,3}[\"'])?";
const SEPARATOR = `${QUOTE}\\s{0,3}[:=]{1,3}>?\\s{0,3}`;
const VALUE = "(?:\\\\{0,3}\"[^\"\\n]{0,4096}\"?|'[^'\\n]{0,4096}'?|[^\\s\"',;&)}\\]]{1,4096})";
/** Words of an error sentence that may stand where a value would. */
const NOT_A_VALUE =
  "(?![\"']?(?:required|invalid|missing|expired|rejected|revoked|denied|incorrect|wrong|empty|unset|set|null|none|undefined|true|false|unknown|unexpected|not|no|is|was|are|has|must|should|cannot|could|failed|error|limit|usage|the|a|an|and|or|please|permission|operation|there|cannot)\\b)(?![\"'\\\\]{0,4}\\[redacted\\])";
const LOOKS_SECRET = "(?=[\"'\\\\]{0,4}(?:[\\w./+=-]{0,200}\\d|[\\w./+=-]{20}))(?=[\"'\\\\]{0,4}[^\\s\"']{6})";

/** Marks rules whose every match holds `:` or `=`: most lines hold neither and are spared the slowest patterns. */
const ASSIGNED = true;
const ASSIGNMENT = /[:=]/;

const RULES: readonly (readonly [RegExp, Replacement, typeof ASSIGNED?])[] = [
  // A block that was cut keeps its key: everything from BEGIN on goes.
  [/-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|$)/g, HIDDEN],
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@:"']{0,256}:[^\s/@"']{1,512}@/gi, `$1${HIDDEN}@`, ASSIGNED],
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@:"']{16,512}@/gi, `$1${HIDDEN}@`, ASSIGNED],
  [/\b(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[^\s"'<>)]{1,512}/gi, `$1${HIDDEN}`],
  [/\b(discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/)[^\s"'<>)]{1,512}/gi, `$1${HIDDEN}`],
  // Telegram bot tokens stand in URLs right behind `/bot`.
  [new RegExp(`(?<!\\d)${TELEGRAM_TOKEN}`, "g"), HIDDEN, ASSIGNED],
  [new RegExp(`(?<![A-Za-z0-9_])${TOKEN}`, "g"), HIDDEN],
  [new RegExp(`(${WRITTEN_CONTROL})${TOKEN}`, "g"), `$1${HIDDEN}`],
  [
    /\b((?:proxy-)?authorization\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?(?:bearer|basic|digest|token|negotiate|apikey)\s{1,3})[^\s"',;\\]{1,4096}/gi,
    `$1${HIDDEN}`,
    ASSIGNED,
  ],
  [/\b(bearer\s{1,3})(?!realm|error|scope)(?=\S{0,200}[\d._=+/]|\S{20})[\w.~+/=-]{6,4096}/gi, `$1${HIDDEN}`],
  [/\b(basic\s{1,3})(?=[\w+/]{0,200}[\d=+/]|[\w+/]{20})[\w+/]{8,4096}={0,2}/gi, `$1${HIDDEN}`],
  // Query strings: the wide net, because a URL's parameter has no prose around it.
  [
    /([?&][\w.-]{0,40}(?:key|token|secret|sig|signature|password|passwd|auth|credential|code)=)[^&\s#"'<>]{1,4096}/gi,
    `$1${HIDDEN}`,
    ASSIGNED,
  ],
  // ACP's form of an environment: {"name":"API_KEY","value":"…"}.
  [
    /("name"\s{0,3}:\s{0,3}"[^"\n]{0,60}(?:key|token|secret|passw(?:or)?d|credential|auth)[^"\n]{0,20}"\s{0,3},\s{0,3}"value"\s{0,3}:\s{0,3}")[^"\n]{1,4096}/gi,
    `$1${HIDDEN}`,
    ASSIGNED,
  ],
  [
    new RegExp(`(${ANY_PREFIX}${SECRET_NAME}(?:_?\\d{1,3})?${SEPARATOR})${NOT_A_VALUE}(${VALUE})`, "gi"),
    hideValue,
    ASSIGNED,
  ],
  [
    new RegExp(`((?<![A-Z0-9_])${ENV_NAME}(?:_?\\d{1,3})?${SEPARATOR})${NOT_A_VALUE}(${VALUE})`, "g"),
    hideValue,
    ASSIGNED,
  ],
  [new RegExp(`(${PREFIX}${WEAK_NAME}${SEPARATOR})${NOT_A_VALUE}${LOOKS_SECRET}(${VALUE})`, "gi"), hideValue, ASSIGNED],
  [
    new RegExp(
      `((?<![\\w.-])[\\w.-]{1,40}?(?:Token|Key|Secret)${SEPARATOR})${NOT_A_VALUE}${LOOKS_SECRET}(${VALUE})`,
      "g",
    ),
    hideValue,
    ASSIGNED,
  ],
  [new RegExp(`(${PREFIX}token=)${NOT_A_VALUE}(${VALUE})`, "gi"), hideValue, ASSIGNED],
  [/(?<![\w-])(--?(?:[\w-]{1,30}-)?(?:token|api-key|password|passwd|secret)[ =])(?!-)(\S{6,4096})/gi, hideValue],
  // What curl and others take as `user:password` (numbers are ids), and programs of which everybody knows what `-p` is.
  [
    /(?<![\w-])((?:-u|--(?:proxy-)?user)[ =]["']?[^\s:"'/]{1,128}:)(?!\d{1,10}(?![^\s"']))[^\s"'/]{3,512}/g,
    `$1${HIDDEN}`,
  ],
  [/\b((?:mysql\w{0,16}|mariadb|sshpass)\b[^\n|;&]{0,256}?\s-p ?)(?![\s-])[^\s"']{3,512}/g, `$1${HIDDEN}`],
  // Private paths: whose machine this is, nobody else needs to know.
  [/\b[A-Za-z]:(\\{1,2}|\/)Users\1(?:[^\\/\r\n"'`:;,<>|]{1,64}(?=\\)|[^\\/\s"'`:;,<>|]{1,64})/gi, "~", ASSIGNED],
  [
    /(?:(?<![\w~.-])|(?<=(?<!\S)-[A-Za-z]))(?:\/mnt\/[a-z]|\/export|\/var|\/System\/Volumes\/Data)?\/(?:home|Users)\/[^/\s"'`:;,()<>[\]{}|]{1,64}/g,
    "~",
  ],
  [/(?<![\w~./-])\/root(?![\w-])/g, "~"],
];

/** The text without credentials and private paths. Applied twice, it changes nothing more. */
export function redact(text: string): string {
  return mayHoldSecret(text) ? redactByRules(text) : text;
}

/** As {@link redact}, without the look at first whether there is anything. */
export function redactByRules(text: string): string {
  const assigns = ASSIGNMENT.test(text);
  let scrubbed = text;
  for (const [pattern, replacement, assigned] of RULES) {
    if (assigned && !assigns) continue;
    scrubbed =
      typeof replacement === "string" ? scrubbed.replace(pattern, replacement) : scrubbed.replace(pattern, replacement);
  }
  return scrubbed;
}

/** One line for a card or a log: no control characters, scrubbed, then cut at `maxChars` with an ellipsis. */
export function cleanLine(text: string, maxChars: number): string {
  return cut(
    redact(startOf(stripControls(text), maxChars))
      .replace(/\s+/g, " ")
      .trim(),
    maxChars,
  );
}

/** Several lines, otherwise as {@link cleanLine}. `keep: "end"` is for tails of output, which say why at their end. */
export function cleanBlock(text: string, maxChars: number, keep: "start" | "end" = "start"): string {
  const plain = stripControls(text);
  const scrubbed = redact(keep === "start" ? startOf(plain, maxChars) : endOf(plain, maxChars)).trim();
  if (keep === "start" || scrubbed.length <= maxChars) return cut(scrubbed, maxChars);
  return `…${scrubbed.slice(scrubbed.length - maxChars + 1).replace(/^[\uDC00-\uDFFF]/, "")}`;
}

/** So much is scrubbed at least, whatever is shown of it; a text of megabytes would take seconds. */
const MIN_SCRUBBED_CHARS = 64 * 1024;
/** A cut goes back to a blank, so that it leaves no half of a secret, which no rule knows. */
const MAX_WORD_CHARS = 4096;

function startOf(text: string, maxChars: number): string {
  const limit = Math.max(MIN_SCRUBBED_CHARS, 4 * maxChars);
  if (text.length <= limit) return text;
  const word = text.slice(limit - MAX_WORD_CHARS, limit).search(/\S*$/);
  return `${text.slice(0, limit - MAX_WORD_CHARS + word)}…`;
}

function endOf(text: string, maxChars: number): string {
  const limit = Math.max(MIN_SCRUBBED_CHARS, 4 * maxChars);
  if (text.length <= limit) return text;
  const end = text.slice(-limit);
  return `…${end.slice(/^\S{0,4096}/.exec(end)?.[0].length ?? 0)}`;
}

function hideValue(...groups: string[]): string {
  const [, name = "", value = ""] = groups;
  const quote = /^\\{0,3}["']/.exec(value)?.[0] ?? "";
  // A value ends before a bracket.
  return value.includes(HIDDEN.slice(0, -1))
    ? `${name}${value}`
    : `${name}${quote}${HIDDEN}${closes(value, quote) ? quote : ""}`;
}

function closes(value: string, quote: string): boolean {
  return quote !== "" && value.length > quote.length && value.endsWith(quote.slice(-1));
}

/** Control, direction and unseen characters: they hide or split what stands between them. */
const UNSEEN =
  "[\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F\\u00AD\\u061C\\u180E\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u206F\\uFEFF\\uFFF9-\\uFFFB]|\\uDB40[\\uDC00-\\uDC7F]";
const HAS_UNSEEN = new RegExp(UNSEEN);

/** What a final byte is not: an escape sequence that was cut must not take the first letter of a secret with it. */
const NO_SECRET = `(?!${TOKEN_AHEAD}|(?i:${SECRET_NAME}|${WEAK_NAME})["']?\\s?[:=])`;
/** Controls that a terminal obeys inside of a sequence without leaving it. */
const OBEYED = "\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u0017\\u0019\\u001C-\\u001F\\u007F";
/**
 * Escape sequences by ECMA-48 and ECMA-35, with ESC or as one C1 character, whole or cut. Every repetition goes up to the
 * first character that it cannot hold and never fails behind it, so that the time is linear.
 */
const ESCAPE = [
  // Strings: DCS, SOS, OSC, PM, APC up to BEL or ST. One without an end is shown, for nobody knows how far it goes.
  "(?:\\u001B[PX\\]^_]|[\\u0090\\u0098\\u009D-\\u009F])(?:[^\\u0007\\u0018\\u001A\\u001B\\u0080-\\u009F]*(?:\\u0007|\\u001B\\\\|\\u009C))?",
  // CSI: parameters, intermediate bytes, a final byte.
  `(?:\\u001B\\[|\\u009B)[0-?${OBEYED}]*[ -/${OBEYED}]*(?:${NO_SECRET}[@-~])?`,
  // nF, Fp, Fe, Fs: `ESC ( B`, `ESC 7`, `ESC M`, `ESC c`.
  `\\u001B[ -/${OBEYED}]*(?:${NO_SECRET}[0-~])?`,
].join("|");
const REMOVED = new RegExp(`${ESCAPE}|${UNSEEN}`, "g");

/** What only counts as a secret where a word begins. */
const WORD_OF_SECRET = new RegExp(
  `${TOKEN_AHEAD}|\\d{6,12}:[A-Za-z0-9_-]{30}|(?i:${WEAK_NAME}|basic)\\b|[a-z][a-z0-9+.-]{1,20}://|hooks\\.slack\\.com|discord(?:app)?\\.com|--?(?:[\\w-]{1,30}-)?(?:token|api-key|password|passwd|secret)\\b`,
  "y",
);

/** Without colour codes, titles, and {@link UNSEEN} characters. A secret that one of them set apart from a word stays apart. */
export function stripControls(text: string): string {
  // Escape sequences and carriage returns begin with one of them; most lines have none.
  if (!HAS_UNSEEN.test(text)) return text;
  const pieces = text.replace(/\r\n?/g, "\n").split(REMOVED);
  const plain = pieces.join("");
  let shown = "";
  let shownTo = 0;
  let at = 0;
  for (const piece of pieces) {
    WORD_OF_SECRET.lastIndex = at;
    if (piece !== "" && at > 0 && /\w/.test(plain[at - 1]!) && WORD_OF_SECRET.test(plain)) {
      shown += `${plain.slice(shownTo, at)} `;
      shownTo = at;
    }
    at += piece.length;
  }
  return shown + plain.slice(shownTo);
}

/**
 * As {@link redact}, for text that is kept with its control characters as long as there is no secret in it: one that they
 * hide or split costs them.
 */
export function redactKept(text: string): string {
  const plain = stripControls(text);
  const scrubbed = redact(plain);
  return scrubbed === plain && plain !== text ? redact(text) : scrubbed;
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, Math.max(0, maxChars - 1)).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
