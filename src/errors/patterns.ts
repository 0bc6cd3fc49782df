/**
 * The one table of texts. No other file holds a regular expression that decides a kind. Rows are tried in order, first
 * match wins: what forbids a retry stands before what allows one, and the narrow before the wide. Every pattern is
 * bounded (no unbounded repetition of a class that overlaps its neighbour), so that hostile text costs linear time.
 */
import type { FailureKind, Profile } from "./failure.ts";

export interface Pattern {
  readonly id: string;
  readonly kind: FailureKind;
  readonly pattern: RegExp;
  /** `data` = only the provider's own field (a message counts as such when there is no other); `stderr` = of a dead process. */
  readonly field: "data" | "both" | "stderr";
  /** Counts for this harness, or when the harness is not known. */
  readonly profile?: Profile;
  /** Says so even where structured evidence says otherwise. */
  readonly exact?: true;
  /** The first group names a model, and the advertised list decides (kiro wire notes, section 12). */
  readonly namesModel?: true;
  readonly source: string;
}

export const PATTERNS: readonly Pattern[] = [
  {
    id: "child-lost",
    kind: "agent_died",
    pattern:
      /\bconnection to (?:codex|claude) was lost\b|\bclaude agent process (?:exited|died)\b|\bcodex app-server (?:was killed|crashed|exited|could not be started)\b|\bclaude code process (?:terminated|was killed)\b|\bcodex process has exited\b/i,
    field: "both",
    exact: true,
    source: "recordings codex-acp 2.6.0 kill-codex-child, claude-agent-acp 0.101.0 kill-child-mid-turn",
  },
  {
    id: "child-would-not-start",
    kind: "agent_spawn",
    pattern:
      /\bspawn [^\s]{1,300} (?:ENOENT|EACCES|EPERM|ENOEXEC)\b|\bnative binary not found\b|^claude code process exited with code \d{1,3}\b/i,
    field: "both",
    exact: true,
    source: "recordings claude-agent-acp 0.101.0 no-claude-binary, claude-binary-exits",
  },
  {
    id: "credential-settling",
    kind: "credentials_settling",
    pattern: /\bsecurity token included in the request is invalid\b(?! or )/i,
    field: "both",
    profile: "kiro",
    exact: true,
    source: "kiro wire notes, section 12: fresh credential not yet propagated",
  },

  // The provider's filters. Capacity that a policy reserves is capacity.
  {
    id: "policy-capacity",
    kind: "model_capacity",
    pattern: /\bpolicy-restricted capacity is unavailable\b/i,
    field: "both",
    exact: true,
    source: "codex-acp 2.6.0 failed-policy-capacity",
  },
  {
    id: "policy-filter",
    kind: "policy_denied",
    pattern:
      /\bflagged (?:for|as) (?:possibl[ey]|potential(?:ly)?)\b|\bblocked due to (?:an? )?(?:[\w-]{1,24} ){0,3}policy violation\b|\bviolat(?:es?|ed|ing) (?:our|the) (?:[\w-]{1,24} ){0,3}polic(?:y|ies)\b|reason["']?[:=] ?["']?content_filter\b|\bcontent (?:filter(?:ing)?|management|safety) policy\b|\bblocked by (?:our |the )?content filter|\bour safety system\b/i,
    field: "both",
    source: "recordings codex-acp 2.6.0 failed-cyber-policy, http-400-usage-policy, incomplete-content-filter",
  },

  // The conversation or the request itself.
  {
    id: "malformed",
    kind: "malformed_request",
    pattern:
      /\bimproperly formed request\b|\binvalid conversation history\b|\b(?:request|conversation) (?:is|was) malformed\b|\bmalformed request\b|\btool_use\b[^\n]{0,120}\bwithout\b[^\n]{0,60}\btool_result\b|\bunexpected [`']?tool_use_id\b|\bno tool output found for function call\b/i,
    field: "data",
    source: "kiro wire notes, section 12; case C07",
  },
  {
    id: "codex-foreign-reasoning",
    kind: "malformed_request",
    pattern: /\bcan't read this thread's earlier reasoning\b/i,
    field: "data",
    source: "recording codex-acp 2.6.0 http-400-encrypted-content",
  },
  {
    id: "place-blocked",
    kind: "request_rejected",
    pattern:
      /\baccess blocked by cloudflare\b|\b(?:restricted|unsupported|blocked) (?:region|country|territory|location)\b|\b(?:country|region|territory|location)\b[^.\n]{0,40}\bnot (?:supported|allowed)\b|\b(?:network|ip address) (?:is |has been )?(?:blocked|not allowed)\b/i,
    field: "both",
    source: "codex-acp 2.6.0 http-403-cloudflare",
  },
  {
    id: "image",
    kind: "request_rejected",
    pattern:
      /\bcould not process image\b|\bimage(?: dimensions| size)? exceeds? |\bunsupported image\b|\bimage (?:format|type|media type)\b[^.\n]{0,40}\b(?:not supported|unsupported|invalid)\b/i,
    field: "data",
    source: "kiro wire notes, section 12",
  },
  {
    id: "tool-schema",
    kind: "request_rejected",
    pattern: /\binput_schema\b[^\n]{0,80}\b(?:does not support|not supported|invalid)\b/i,
    field: "data",
    source: "kiro wire notes, section 12",
  },
  {
    id: "too-large",
    kind: "request_rejected",
    pattern: /\b(?:request|message|payload)(?: body| entity)?(?: is)? too large\b/i,
    field: "data",
    source: "kiro wire notes, section 12; claude-agent-acp 0.101.0 http-413",
  },

  // Limits that end a session or an answer.
  {
    id: "output-limit",
    kind: "output_limit",
    pattern:
      /\boutput token (?:maximum|limit)\b|\breason: max_output_tokens\b|\bmaximum output tokens\b|\breached (?:the )?maximum number of turns\b/i,
    field: "both",
    source: "recordings claude-agent-acp 0.101.0 max-tokens, max-turns; codex-acp 2.6.0 incomplete-max-tokens",
  },
  {
    id: "budget",
    kind: "budget",
    pattern:
      /\breached (?:the |your )?maximum budget\b|\bsession budget\b[^.\n]{0,30}\b(?:exceeded|exhausted|reached)\b/i,
    field: "both",
    source: "claude-agent-acp 0.101.0 max-budget",
  },
  {
    id: "context-overflow",
    kind: "context_overflow",
    pattern:
      /\bcontext (?:window|length|limit)\b[^.\n]{0,60}\b(?:overflow\w{0,4}|exceed\w{0,4}|limit|reached)\b|\b(?:exceed\w{0,4}|overflow\w{0,4}|ran out of room in|reached)\b[^.\n]{0,60}\bcontext (?:window|length|limit)\b|\bmaximum context length\b|\b(?:prompt|input|conversation) is too long\b/i,
    field: "both",
    source: "recordings codex-acp 2.6.0 failed-context-length, claude-agent-acp 0.101.0 http-400-prompt-too-long; kiro",
  },

  // The model. "does not exist" is final, "not available" is decided by the advertised list, "at capacity" passes.
  {
    id: "model-capacity",
    kind: "model_capacity",
    pattern: /\bmodel\b[^.\n]{0,80}\b(?:temporarily unavailable|at capacity)\b|\binsufficient (?:model )?capacity\b/i,
    field: "data",
    source: "recording codex-acp 2.6.0 failed-overloaded; kiro wire notes, section 12 (2.16 and later)",
  },
  {
    id: "model-named",
    kind: "model_unavailable",
    pattern:
      /\bmodel ['"`]?([\w.:/[\]-]{1,100}?)['"`]? is not available\b|\binvalid model id:? ['"`]?([\w.:/[\]-]{1,100})/i,
    field: "data",
    exact: true,
    namesModel: true,
    source: "kiro wire notes, section 12",
  },
  {
    id: "model-unavailable",
    kind: "model_unavailable",
    pattern:
      /\bmodel\b[^\n]{0,120}\b(?:does not exist|not supported|may not exist|(?:do not|don't|does not) have access)\b|\baccess to (?:the )?model\b|\b(?:unknown|no such) model\b|\binvalid value for config option model\b|\bmodel [^\s]{1,100} (?:was )?not found\b|\bmodels\/[^\s]{1,100} is not found\b/i,
    field: "both",
    source:
      "recordings codex-acp 2.6.0 failed-model-not-found, claude-agent-acp 0.101.0 http-404-model; the sentence of Google's API",
  },

  // Spent allowances. A limit word alone is not enough: it has to be reached, and it must not be a rate.
  {
    id: "limit-reached",
    kind: "usage_limit",
    pattern:
      /\b(?:hit|reached|exceeded|used up|exhausted) your (?:(?!(?:rate|per|requests?|tokens?)\b)[\w'-]{1,24} ){0,4}(?:limit|quota|allowance|credits)\b|\b(?:hit|reached|exceeded|used up|exhausted) the (?:usage|spend(?:ing)?|monthly|weekly|daily|session|credit) (?:usage )?(?:limit|quota)\b/i,
    field: "both",
    source: "case C05; recordings codex-acp 2.6.0 http-429-usage-limit, claude-agent-acp 0.101.0 http-429-usage-oauth",
  },
  {
    id: "limit-spent",
    kind: "usage_limit",
    pattern:
      /\b(?:usage|spend|spending|monthly|weekly|daily|session|\d{1,2}-hour|free tier|credit|billing hard) (?:usage |spend |spending |request )?(?:limit|quota|cap) (?:has been |was |is )?(?:reached|exceeded|hit|exhausted)\b|\bquota (?:has been |was )?(?:exceeded|exhausted)\b(?![^.\n]{0,80}\bper (?:minute|second)\b)/i,
    field: "both",
    source:
      "kiro wire notes, section 12; recordings codex-acp 2.6.0 failed-usage-limit-reached, failed-insufficient-quota",
  },
  {
    id: "credits-spent",
    kind: "usage_limit",
    pattern:
      /\b(?:out of|no remaining|no more|insufficient|not enough) (?:credits?|quota|balance|funds)\b|\bcredits (?:are|have been) (?:exhausted|used up|spent)\b|\bcredit balance is too low\b|\bpurchase more credits\b|\bbilling problem\b/i,
    field: "both",
    source: "codex-acp 2.6.0 failed-out-of-credits; claude-agent-acp 0.101.0 http-400-credit",
  },
  {
    id: "not-in-plan",
    kind: "usage_limit",
    pattern:
      /\bupgrade to (?:plus|pro|max|team)\b|\bnot included in your (?:[\w-]{1,24} ){0,2}(?:plan|subscription)\b/i,
    field: "both",
    source: "codex-acp 2.6.0 http-429-usage-not-included",
  },
  {
    id: "limit-resets-at",
    kind: "usage_limit",
    pattern:
      /\bresets (?:at |on )?(?:\d{1,2}(?::\d{2})?\s?[ap]m\b|\d{1,2}:\d{2}\b|\d{4}-\d{2}-\d{2}|(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6} )|\bresets in \d{1,3} ?(?:h|hours?|d|days?)\b/i,
    field: "both",
    source: "case C05: a limit that ends at a time of day is an allowance, not a rate",
  },

  // Sessions and prompts.
  {
    id: "session-elsewhere",
    kind: "busy",
    pattern:
      /\b(?:active|open|running) in another process\b|\bin use by another\b|\bowned by another process\b|\balready has an active writer\b|\bfailed to re-read lock file\b/i,
    field: "both",
    source: "kiro wire notes, section 6; recording codex-acp 2.6.0 load-active-elsewhere; case C21",
  },
  {
    id: "prompt-busy",
    kind: "busy",
    pattern:
      /\bprompt (?:is |was )?already (?:in progress|running)\b|\banother (?:prompt|turn) is (?:already )?(?:in progress|running|active)\b|\balready processing (?:a|another) (?:prompt|turn)\b|\b(?:session|agent) is (?:currently )?busy\b/i,
    field: "both",
    source: "kiro wire notes, section 12",
  },
  {
    id: "session-unknown",
    kind: "session_not_found",
    pattern:
      /\b(?:session|conversation) (?:id )?(?:['"`]?[\w.:-]{1,100}['"`]? )?(?:(?:was )?not found|does not exist)\b|\bunknown session\b(?!\/)|\bno (?:rollout|conversation|session) found\b|\bno such (?:session|conversation|thread)\b|\binvalid session id\b|\brequires a valid session id\b|\bdoes not match any session\b/i,
    field: "both",
    source: "recordings codex-acp 2.6.0 and claude-agent-acp 0.101.0 load-unknown; case C21",
  },

  // The machine's settings and the protocol.
  {
    id: "missing-variable",
    kind: "configuration",
    pattern:
      /\b[Mm]issing environment variable\b|\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}[`'"]? (?:environment variable )?is not set\b/,
    field: "both",
    source: "codex-acp 2.6.0 missing-env-key; recording not-logged-in",
  },
  {
    id: "bad-setting",
    kind: "configuration",
    pattern:
      /\binvalid proxy url\b|^mode ['"`][^'"`\n]{1,80}['"`] not found\b|\binvalid mode: |\bmode \w{1,60} is not available\b|\b(?:unknown|invalid value for) config option\b/i,
    field: "both",
    source: "claude-agent-acp 0.101.0 startup-proxy-invalid, set-unknown-model; kiro wire notes, section 12",
  },
  {
    id: "not-this-protocol",
    kind: "protocol",
    pattern:
      /\bunsupported protocol version\b|\bunknown ext method\b|\bno persistence classification\b|\bfirst ACP request must be initialize\b|\bACP connection must be initialized\b/i,
    field: "both",
    source: "recordings codex-acp 2.6.0 protocol-errors; kiro wire notes, section 12 (V3)",
  },
  {
    id: "compaction",
    kind: "compaction",
    pattern: /^(?:failed to compact|(?:conversation )?compaction failed|(?:context )?summari[sz]ation failed)\b/i,
    field: "both",
    source: "kiro wire notes, section 11",
  },

  // Signed out.
  {
    id: "signed-out",
    kind: "auth",
    pattern:
      /\bnot (?:logged|signed) in\b|\bplease (?:log|sign) ?in\b|\bfailed to authenticate\b|\bauthentication (?:is )?(?:required|failed)\b|\borganization must complete verification\b|^(?:unauthorized|forbidden|access denied)\b|\b(?:no|missing) api key\b|\bapi key (?:not found|is missing|is invalid|has expired)\b|\b(?:invalid|incorrect|expired) (?:api key|x-api-key|credentials|bearer token|access token)\b/i,
    field: "both",
    source: "recordings claude-agent-acp 0.101.0 http-401, http-403; kiro wire notes, section 12; case C06",
  },
  {
    id: "credential-rejected",
    kind: "auth",
    pattern:
      /\b(?:bearer|access|oauth|refresh|security|auth) token\b[^.\n]{0,60}\b(?:invalid|expired|revoked)\b|\btoken (?:has |is |was )?(?:expired|revoked)\b|\b(?:session|login|credentials?) (?:is|are|has|have)(?: been)? (?:invalid|expired)\b/i,
    field: "both",
    source: "kiro wire notes, section 12; recording claude-agent-acp 0.101.0 http-401-oauth",
  },

  // What passes by itself.
  {
    id: "throttled",
    kind: "rate_limit",
    pattern:
      /\brate[ -]limit(?:s|ed|ing)?\b|\btoo many requests\b|\brate exceeded\b|\bquota exceeded\b[^.\n]{0,80}\bper (?:minute|second)\b|\bthrottl(?:ed|ing)\b/i,
    field: "both",
    source: "kiro wire notes, section 12; recording codex-acp 2.6.0 failed-rate-limit-never",
  },
  {
    id: "codex-high-demand",
    kind: "service_error",
    pattern: /\bwe're currently experiencing high demand, which may cause temporary errors\b/i,
    field: "both",
    source: "recording codex-acp 2.6.0 http-500-never: what codex says for every HTTP 500",
  },
  {
    id: "overloaded",
    kind: "overloaded",
    pattern:
      /\bunexpectedly high load\b|\bhigh (?:volume of )?traffic\b|\bhigh demand\b|\boverloaded\b|\bserver is (?:too )?busy\b/i,
    field: "both",
    source: "kiro wire notes, section 12 (2.28: HTTP 503)",
  },
  {
    id: "stream-wrapper",
    kind: "service_error",
    pattern: /^stream disconnected before completion:/i,
    field: "both",
    source: "recordings codex-acp 2.6.0 stream-cut-never, hang-after-headers",
  },
  {
    id: "network",
    kind: "network",
    pattern:
      /\bE(?:CONNREFUSED|CONNRESET|CONNABORTED|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|HOSTDOWN|NETDOWN)\b|\bsocket hang up\b|\bfetch failed\b|\bdispatch failure\b|\berror sending request\b|\brequest or response body error\b|\bconnection (?:was |has been )?(?:refused|reset|closed|aborted|dropped|failed|timed out|error|timeout)\b|\bnetwork (?:error|is unreachable)\b|\bno route to host\b|\bbroken pipe\b/i,
    field: "both",
    source: "kiro wire notes, section 12; recordings claude-agent-acp 0.101.0 conn-refused, conn-cut-forever",
  },
  {
    id: "name-resolution",
    kind: "network",
    pattern:
      /\bname or service not known\b|\bfailed to lookup address\b|\bcould not resolve host\b|\btemporary failure in name resolution\b|\bno such host\b|\bdns error\b/i,
    field: "both",
    source: "bridge notes, section 19: a laptop that wakes up is no reason to give up",
  },
  {
    id: "timed-out",
    kind: "network",
    pattern: /\b(?:request|operation|response|stream) (?:stalled and |has )?(?:timed out|timeout)\b/i,
    field: "both",
    source: "recording claude-agent-acp 0.101.0 hang-no-bytes; kiro wire notes, section 12",
  },
  {
    id: "service-wrapper",
    kind: "service_error",
    pattern:
      /\bfailed to generate a response\b|\bservice failed to process the request\b|\bserver error mid-response\b|\bempty or malformed response\b|\ban error (?:occurred )?while processing your request\b|\bupstream connect error\b/i,
    field: "data",
    source: "kiro wire notes, section 12; recordings claude-agent-acp 0.101.0 sse-error-api, sse-empty",
  },
  {
    id: "service-garbage",
    kind: "service_error",
    pattern: /^(?:API Error: )?JSON Parse error:/i,
    field: "data",
    profile: "claude",
    source: "recording claude-agent-acp 0.101.0 seq-stream-errors",
  },
  {
    id: "service-fault",
    kind: "service_error",
    pattern:
      /\binternal server error\b|\bbad gateway\b|\bgateway time-?out\b|\bservice (?:is )?(?:temporarily |currently )?unavailable\b/i,
    field: "both",
    source: "kiro wire notes, section 12",
  },

  // stderr of a process that died.
  {
    id: "stderr-signed-out",
    kind: "auth",
    pattern: /\byou are not (?:logged|signed) in\b|\bnot logged in\b|\bplease (?:log|sign) in\b/i,
    field: "stderr",
    source: "kiro wire notes, section 13",
  },
  {
    id: "stderr-registration-throttled",
    kind: "rate_limit",
    pattern: /\bregistration failed\b[^\n]{0,200}\b(?:HTTP )?429\b|\b429\b[^\n]{0,200}\bregistration failed\b/i,
    field: "stderr",
    source: "bridge notes, section 1.1; kiro wire notes, section 13",
  },
  {
    id: "stderr-usage",
    kind: "configuration",
    pattern:
      /^error: (?:unexpected argument|invalid value|unrecognized subcommand|the following required arguments|a value is required)\b/im,
    field: "stderr",
    source: "kiro wire notes, section 14: bad flag value, exit 2",
  },
  {
    id: "stderr-no-space",
    kind: "configuration",
    pattern: /\bno space left on device\b|\bENOSPC\b/i,
    field: "stderr",
    source: "kiro wire notes, section 13",
  },
  {
    id: "stderr-would-not-start",
    kind: "agent_spawn",
    pattern:
      /\berror while loading shared libraries\b|\bversion `?GLIBC[\w.]{1,20}'? not found\b|\b(?:cannot execute binary file|exec format error)\b|\bcannot find (?:module|package) '|\bERR_MODULE_NOT_FOUND\b|\bspawn [^\s]{1,300} (?:ENOENT|EACCES)\b|\bcommand not found\b|\benv: [^\n]{1,80}: no such file or directory\b/i,
    field: "stderr",
    source: "recording codex-acp 2.6.0 codex-path-missing; the loader and the shell",
  },
];

/** An HTTP error status as agents write it into a text; anything else with three digits (a port, a count) is not one. */
const STATUS = "(4(?:0\\d|1[0-8]|2[1-9]|31|51)|5(?:0\\d|1[01]|2\\d))";
const STATUS_TEXTS: readonly RegExp[] = [
  new RegExp(`\\bHTTP(?:/\\d(?:\\.\\d)?)?[ :]{1,2}(?:status:? )?${STATUS}\\b`, "i"),
  new RegExp(`\\bstatus(?:[ _-]?code)?["']?\\s?[:=]?\\s?${STATUS}\\b`, "i"),
  new RegExp(`\\bAPI Error: (?:Repeated )?${STATUS}\\b`, "i"),
  new RegExp(`\\b(?:failed to authenticate|error(?: code)?): ${STATUS}\\b`, "i"),
  new RegExp(`\\(${STATUS}\\)`),
  new RegExp(`^${STATUS}(?=$|[:,]|\\s{1,2}[A-Z{"'(])`),
  // A provider's own lower-case words ("503 upstream connect error"); before a plural the number is a count.
  new RegExp(`^${STATUS}(?= status code\\b|\\s(?![a-z]+s\\b)[a-z])`),
  new RegExp(
    `\\b${STATUS} (?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Request Timeout|Conflict|Payload Too Large|Content Too Large|Unprocessable|Too Many Requests|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out|Overloaded|overloaded_error)\\b`,
    "i",
  ),
];

/** The HTTP status that a text names, in any of the usual spellings (`HTTP/1.1 403`, `status: 503`, `API Error: 402`). */
export function statusInText(text: string): number | undefined {
  for (const pattern of STATUS_TEXTS) {
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return Number(found);
  }
  return undefined;
}

const RETRY_PROGRESS = /^(?:Reconnecting\.\.\. |Reconnecting to Claude, attempt |Retrying Claude, attempt )/;

/** A record that only tells a harness's own retry (recordings of both adapters); such warnings carry no action. */
export function isRetryProgress({ title, actions }: { readonly title: string; readonly actions: readonly unknown[] }) {
  return actions.length === 0 && RETRY_PROGRESS.test(title);
}

/** The model that a text of the row `model-named` is about. */
export function namedModel(text: string): string | undefined {
  const found = PATTERNS.find(({ namesModel }) => namesModel === true)?.pattern.exec(text);
  return found?.[1] ?? found?.[2];
}
