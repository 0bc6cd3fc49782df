/**
 * Evidence to verdict: pure, first match wins. The order of evidence is fixed: structured fields and the HTTP status,
 * the JSON-RPC code, the record's category and actions, then text of the provider's own field; the more specific beats
 * the more general, and text may turn a retry into "never" but never the reverse. It refuses to guess: what no row knows
 * is `unknown`, terminal, and keeps its text. The model's prose never comes here.
 */
import type { ProviderBody } from "./body.ts";
import { capText, readBody, readOwn } from "./body.ts";
import { readRequestId, readResetAt, readRetryAfterMs } from "./facts.ts";
import type { FailureKind, FailureNeed, RetryVerdict } from "./failure.ts";
import { KINDS } from "./kinds.ts";
import type { Pattern } from "./patterns.ts";
import { isRetryProgress, namedModel, PATTERNS, statusInText } from "./patterns.ts";
import type { RawError } from "./raw.ts";
import { isGenericMessage, isNameOfCode, stripWrappers } from "./raw.ts";
import type { Grade, Row } from "./structured.ts";
import { namesInText, rowOfCode, rowOfName, rowOfProgress, rowOfRecord, rowOfStatus } from "./structured.ts";
import type { ClassifyContext, FailureRecord, Verdict } from "./verdict.ts";

/** What one piece of evidence says. */
interface Finding {
  readonly kind: FailureKind;
  readonly rule: string;
  readonly grade: Grade;
  readonly retry: RetryVerdict;
  readonly needs?: FailureNeed | undefined;
}

/** The two texts that rows look at, and the facts that fields told. */
interface Evidence {
  /** The provider's own field; the message when there is no other. */
  readonly own: string;
  /** Message and field. */
  readonly all: string;
  readonly body: ProviderBody;
  readonly status?: number | undefined;
}

/** A JSON-RPC error, a thrown error or a provider's body. */
export function classifyError(raw: RawError, context: ClassifyContext = {}): Verdict {
  const body = readBody(raw.data);
  const message = isGenericMessage(raw.message) || isNameOfCode(raw) ? "" : raw.message;
  const inMessage = readBody(message);
  const field = body.texts.filter((text) => !isGenericMessage(text)).join("\n");
  const evidence: Evidence = {
    own: matchable(field === "" ? message : field),
    all: matchable(field === "" ? message : `${message}\n${field}`),
    body: mergeBodies(body, inMessage),
    status: raw.status,
  };
  const code = raw.code === undefined || isTypedTurnFailure(raw, context) ? undefined : rowOfCode(raw.code);
  const known = refineWithText(
    refineWithRecord(structuredFinding(evidence, code), context),
    textFinding(evidence, context),
    raw.code,
  );
  return toVerdict(known ?? lastResort(code), evidence);
}

/** A session failure record. Its category and actions are the base; a status or a text in the title is more specific. */
export function classifyRecord(record: FailureRecord, context: ClassifyContext = {}): Verdict {
  const base = recordFinding(record);
  const text = record.details === undefined ? record.title : `${record.title}\n${record.details}`;
  const evidence = textEvidence(text, record.reason);
  const structured = structuredFinding(evidence, undefined);
  const refined = structured === undefined ? base : refine(base, structured);
  return toVerdict(refineWithText(refined, textFinding(evidence, context)) ?? base, evidence);
}

/** A plain error sentence of the harness, such as the chunk that codex sends after `systemError`. */
export function classifyText(text: string, context: ClassifyContext = {}): Verdict {
  const evidence = textEvidence(text);
  const known = refineWithText(structuredFinding(evidence, undefined), textFinding(evidence, context));
  return toVerdict(known ?? lastResort(undefined), evidence);
}

/** Last words of a process that died; undefined when they do not say why. Never used for a process that lives. */
export function classifyStderr(tail: string, context: ClassifyContext = {}): Verdict | undefined {
  const evidence = textEvidence(tail);
  const row = PATTERNS.find((candidate) => candidate.field === "stderr" && matches(candidate, evidence, context));
  return row === undefined ? undefined : toVerdict(finding(row.kind, row.id, "exact"), evidence);
}

function textEvidence(text: string, reason?: string): Evidence {
  const own = matchable(text);
  const body = readBody({ message: text, ...(reason === undefined ? {} : { reason }) });
  return { own, all: own, body };
}

/** Typographic quotes and colour codes differ between versions of one sentence; wrappers hide its beginning. */
function matchable(text: string): string {
  const plain = capText(text)
    // oxlint-disable-next-line no-control-regex -- escape bytes are what is removed
    .replace(/\u001B\[[\d;]{0,20}m/g, "")
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201C\u201D]/g, '"');
  return stripWrappers(plain);
}

function mergeBodies(first: ProviderBody, second: ProviderBody): ProviderBody {
  return {
    ...second,
    ...first,
    texts: [...first.texts, ...second.texts],
    names: [...first.names, ...second.names],
    noRetry: first.noRetry || second.noRetry,
  };
}

/** kiro V3 answers a failed turn with -32000, the code of a missing login, and says in `errorType` what it is (kiro-cli 2.22). */
function isTypedTurnFailure({ data }: RawError, { profile }: ClassifyContext): boolean {
  return profile === "kiro" && typeof data === "object" && data !== null && readOwn(data, "errorType") !== undefined;
}

/** Words of typed fields and the HTTP status, then the code; a general word yields to a plainer one behind it. */
function structuredFinding({ all, body, status }: Evidence, code: Row | undefined): Finding | undefined {
  const names = [...body.names, ...namesInText(all)].map(rowOfName).filter((row) => row !== undefined);
  const http = status ?? body.status ?? statusInText(all);
  const rows = [
    ...(code?.grade === "exact" ? [code] : []),
    ...names.filter(({ grade }) => grade === "exact"),
    ...(http === undefined ? [] : [rowOfStatus(http, all)]),
    ...names.filter(({ grade }) => grade !== "exact"),
  ];
  const row =
    rows.find(({ grade }) => grade !== "general") ?? rows[0] ?? (code?.grade === "general" ? undefined : code);
  return row === undefined ? undefined : finding(row.kind, row.id, row.grade);
}

function recordFinding(record: FailureRecord): Finding {
  const { kind, retry, needs } = isRetryProgress(record) ? rowOfProgress(record) : rowOfRecord(record);
  const actions = record.actions.length === 0 ? "none" : record.actions.join("+");
  return { kind, retry, needs, grade: "general", rule: `record:${record.category}/${actions}` };
}

function textFinding(evidence: Evidence, context: ClassifyContext): Finding | undefined {
  const row = PATTERNS.find((candidate) => candidate.field !== "stderr" && matches(candidate, evidence, context));
  if (row === undefined) return undefined;
  const kind = row.namesModel === true ? decideNamedModel(evidence.own, context) : row.kind;
  return finding(kind, row.id, row.exact === true ? "exact" : "plain");
}

function matches(row: Pattern, { own, all }: Evidence, { profile }: ClassifyContext): boolean {
  if (row.profile !== undefined && profile !== undefined && row.profile !== profile) return false;
  return row.pattern.test(row.field === "data" ? own : all);
}

/** kiro says "not available" for a busy model and for one the account lacks; only the advertised list tells them apart. */
function decideNamedModel(text: string, { profile, advertisedModels = [] }: ClassifyContext): FailureKind {
  if (profile !== undefined && profile !== "kiro") return "model_unavailable";
  const model = bareModel(namedModel(text) ?? "");
  const isListed = advertisedModels.some((listed) => bareModel(listed) === model);
  return advertisedModels.length === 0 || isListed ? "model_capacity" : "model_unavailable";
}

/** Without the effort that some lists append: `model-a[high]`. */
function bareModel(id: string): string {
  return id.toLowerCase().replace(/\[[^\]]{0,40}\]$/, "");
}

/** A record beside a rejected prompt refines what the error itself leaves open (typed failures, section 5.3). */
function refineWithRecord(base: Finding | undefined, { record, ...context }: ClassifyContext): Finding | undefined {
  if (record === undefined || (base !== undefined && base.grade !== "general")) return base;
  const { kind, retry, needs, rule } = classifyRecord(record, context);
  const told: Finding = { kind, retry, needs, rule, grade: "general" };
  return base === undefined ? told : refine(base, told);
}

function refineWithText(base: Finding | undefined, text: Finding | undefined, code?: number): Finding | undefined {
  if (base === undefined || text === undefined) return base ?? text;
  // -32000 is "sign in" unless the text says limit or transient (case C06).
  if (code === -32000 && base.rule === "code:-32000") {
    return text.retry !== "never" || KINDS[text.kind].category === "limit" ? text : base;
  }
  return refine(base, text);
}

/** The more specific of two: what forbids a retry wins, what allows one wins only over a wrapper that allows it too. */
function refine(base: Finding, better: Finding): Finding {
  if (base.kind === better.kind || base.grade === "exact") return base;
  if (better.retry === "never") return better;
  // A record that recommends no retry stays so, whatever its words; that a child died is still worth saying.
  if (base.retry === "never" && base.rule.startsWith("record:")) {
    return better.kind === "agent_died" ? { ...better, retry: "never" } : base;
  }
  return better.grade === "exact" || (base.grade === "general" && base.retry !== "never") ? better : base;
}

/** Nothing told more than the code: a bad request is rejected, everything else is unknown. */
function lastResort(code: Row | undefined): Finding {
  return code === undefined ? finding("unknown", "no-row", "general") : finding(code.kind, code.id, "general");
}

function finding(kind: FailureKind, rule: string, grade: Grade): Finding {
  return { kind, rule, grade, retry: KINDS[kind].retry, needs: KINDS[kind].needs };
}

function toVerdict({ kind, retry, needs, rule }: Finding, { all, body }: Evidence): Verdict {
  const reset = KINDS[kind].category === "limit" ? (body.resetAt ?? readResetAt("", all)) : undefined;
  // "try again in 0.4s" is a wait; for an allowance, "in 4 days" is when it ends.
  const resetAt = kind === "rate_limit" && reset?.startsWith("in ") ? undefined : reset;
  const retryAfterMs = body.retryAfterMs ?? readRetryAfterMs("", all);
  const requestId = body.requestId ?? readRequestId("", all);
  return {
    kind,
    retry: body.noRetry ? "never" : retry,
    rule,
    ...(needs === undefined ? {} : { needs }),
    ...(resetAt === undefined ? {} : { resetAt }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(kind === "agent_died" ? { childDied: true } : {}),
  };
}
