/**
 * What people read, keyed by kind. It does not know which surface shows it: the one command it may name is `/compact`,
 * which reaches every backend as prompt text. How a conversation is started over differs, so that stays prose; the busy
 * text names nothing at all. It never promises that a retry helps.
 */
import { readableText } from "./raw.ts";
import type { Failure, FailureKind, Profile } from "./failure.ts";

/** What the caller may know besides the failure. */
export interface AdviceContext {
  readonly profile?: Profile;
  /** The backend's own sign-in sentence. */
  readonly loginHint?: string;
  /** Models that the harness advertises for this account. */
  readonly usableModels?: readonly string[];
}

interface Words {
  /** What happened, when the provider gave no words. */
  readonly title: string;
  /** What to do; nothing where there is nothing to do. */
  readonly advice?: string;
}

const WORDS: Readonly<Record<FailureKind, Words>> = {
  auth: { title: "The backend is not signed in", advice: "Sign in to the backend, then send the message again." },
  credentials_settling: {
    title: "The service does not know the credential yet",
    advice: "A fresh credential is usually known within seconds. If this does not clear, refresh the credentials.",
  },
  usage_limit: {
    title: "The usage allowance is spent",
    advice: "Wait until the allowance renews, add credits or change the plan, or choose another model.",
  },
  rate_limit: {
    title: "The service is limiting requests",
    advice: "Wait a little, or choose another model.",
  },
  context_overflow: {
    title: "The conversation no longer fits into the model's context window",
    advice:
      "Shrink the history with /compact, give the agent less material that is always loaded (instructions, tools, attachments), or start a new conversation.",
  },
  budget: {
    title: "The budget of this session is used up",
    advice: "Start a new conversation, or raise the budget.",
  },
  output_limit: {
    title: "The answer was cut at its limit",
    advice: "Ask for the rest in a smaller step, or raise the limit.",
  },
  model_unavailable: {
    title: "The model is not available to this account",
    advice: "Choose another model for this session or as the default. Trying again with the same model does not help.",
  },
  model_capacity: {
    title: "The model has no capacity at the moment",
    advice: "Wait a little, or choose another model.",
  },
  malformed_request: {
    title: "The service rejected the request as malformed",
    advice:
      "The history of this conversation is broken, so the same request fails again. Repair it with /compact, or start a new conversation.",
  },
  request_rejected: {
    title: "The service rejected the request",
    advice: "The same request fails again: change it first, for example with less or smaller content.",
  },
  policy_denied: {
    title: "A filter of the provider declined the request",
    advice: "Rephrase the request, or start a new conversation.",
  },
  overloaded: { title: "The service is overloaded", advice: "Try again later, or choose another model." },
  service_error: {
    title: "The service had an internal failure",
    advice: "Try again later. If it keeps failing, choose another model.",
  },
  network: {
    title: "The service could not be reached",
    advice: "Check the network connection and the proxy settings.",
  },
  agent_died: {
    title: "The agent process ended unexpectedly",
    advice: "Check what was already done, then send the message again: a fresh process takes it.",
  },
  agent_spawn: {
    title: "The agent could not be started",
    advice: "Check that the agent is installed and starts by itself on this machine.",
  },
  protocol: {
    title: "The program does not speak the Agent Client Protocol",
    advice: "Check the configured command and the version of the agent.",
  },
  timeout: {
    title: "The agent did not answer in time",
    advice: "Check what was already done, then send the message again or allow more time.",
  },
  busy: {
    title: "The previous request is still being worked on",
    advice: "This clears by itself when that request ends. If it does not, start a new conversation.",
  },
  session_not_found: {
    title: "The agent does not know this session any more",
    advice: "Start a new conversation.",
  },
  gate: {
    title: "The tool call was not permitted",
    advice: "Somebody has to allow it, or the permission settings have to be changed.",
  },
  configuration: {
    title: "The configuration of the backend is not usable",
    advice: "Correct the setting named above. Trying again does not help before that.",
  },
  compaction: {
    title: "The conversation could not be compacted",
    advice: "Go on with the conversation as it is, or start a new one.",
  },
  unknown: { title: "The backend failed for a reason it did not explain" },
};

/** kiro sends the same throttling texts when a plan's credits are gone (kiro wire notes, section 12). */
const KIRO_QUOTA_ADVICE = "If it goes on, the plan's credits may be spent: check the usage of the account.";
const MAX_MODELS = 8;

/** The fixed sentence of a kind, for failures without words of their own. No full stop. */
export function titleFor(kind: FailureKind): string {
  return WORDS[kind].title;
}

/** What happened: the provider's own words, else the fixed sentence. A title that is a JSON body shows its message. */
export function sentenceFor(failure: Pick<Failure, "kind" | "title">): string {
  const said = readableText(failure.title.trim());
  return said === "" ? titleFor(failure.kind) : said;
}

/** What to do next, in sentences; undefined when there is nothing to say. */
export function adviceFor(
  failure: Pick<Failure, "kind" | "resetAt" | "title">,
  context: AdviceContext = {},
): string | undefined {
  const parts = [
    ...resetAdvice(failure),
    ...(failure.kind === "auth" && context.loginHint !== undefined ? [context.loginHint] : ownAdvice(failure.kind)),
    ...(failure.kind === "rate_limit" && context.profile === "kiro" ? [KIRO_QUOTA_ADVICE] : []),
    ...(failure.kind === "model_unavailable" ? modelAdvice(context.usableModels ?? []) : []),
  ];
  return parts.length === 0 ? undefined : parts.join(" ");
}

function ownAdvice(kind: FailureKind): readonly string[] {
  const { advice } = WORDS[kind];
  return advice === undefined ? [] : [advice];
}

function resetAdvice({ resetAt, title }: Pick<Failure, "resetAt" | "title">): readonly string[] {
  if (resetAt === undefined || title.includes(resetAt)) return [];
  return [/^(?:in|at|on) /.test(resetAt) ? `The limit resets ${resetAt}.` : `The limit resets at ${resetAt}.`];
}

function modelAdvice(models: readonly string[]): readonly string[] {
  if (models.length === 0) return [];
  const more = models.length > MAX_MODELS ? ` and ${models.length - MAX_MODELS} more` : "";
  return [`Models of this account: ${models.slice(0, MAX_MODELS).join(", ")}${more}.`];
}
