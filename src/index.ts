/**
 * The public library: supervise coding agents over ACP and get one true outcome per turn.
 *
 * `createHost` picks a backend and starts it as `ostler ask` does; `createRuntime` starts any command line. A runtime
 * opens sessions, a session's `prompt` gives events and an outcome that always settles.
 */
export { createHost } from "./host/host.ts";
export type {
  Host,
  HostOptions,
  OpenConversationOptions,
  OpenRuntimeOptions,
  OpenStoredOptions,
  OpenedConversation,
  OpenedRuntime,
  StoredName,
} from "./host/host-options.ts";
export type { Conversation } from "./host/conversation.ts";
export type { StoredConversation } from "./host/stored-conversation.ts";
export type { ConversationRecord } from "./host/conversation-records.ts";
export type { AgentWish, SelectedAgent } from "./host/agent-selection.ts";
export { createPermissionPolicy } from "./host/permissions.ts";
export type { AskPerson } from "./host/permissions.ts";
export { readPolicyFile } from "./host/policy-file.ts";
export type { PolicyRules } from "./host/policy-rules.ts";
export { openTrace } from "./host/trace.ts";
export { createSupervisor } from "./acp/supervisor.ts";
export type { AcquireOptions, RuntimeLease, Supervisor, SupervisorOptions } from "./acp/supervisor.ts";
export type { RuntimeBinding, RuntimeSpec } from "./acp/runtime-binding.ts";
export type { CrashLedger, Parked } from "./acp/restart-budget.ts";
export type { Crash, Intensity } from "./acp/restart-policy.ts";
export { createRetryBudget } from "./acp/retry-budget.ts";
export type { RetryBudget } from "./acp/retry-budget.ts";
export { createRuntime } from "./acp/runtime.ts";
export type { Runtime } from "./acp/runtime.ts";
export type { AgentSession, AgentSessionList, ListSessionsOptions } from "./acp/agent-sessions.ts";
export type { AuthStatus } from "./acp/auth-status.ts";
export type { ForkPoint, ForkSessionOptions } from "./acp/fork-session.ts";
export type { ModeKind, SessionOffers, SettingChoice, SettingOffer } from "./acp/session-info.ts";
export type { RuntimeOptions } from "./acp/runtime-options.ts";
export type { Session } from "./acp/session-link.ts";
export type { GoalAction, GoalRequest } from "./acp/air/goal.ts";
export type { GoalAnswer, GoalOptions } from "./acp/session-goal.ts";
export type { SteerOptions, SteerResult } from "./acp/session-steering.ts";
export type { OpenSessionOptions } from "./acp/open-session.ts";
export type { ResumeSessionOptions } from "./acp/resume-session.ts";
export type { AgentCapabilities, AuthMethod } from "./acp/negotiate.ts";
export type {
  AsyncTask,
  ChangeReport,
  Compaction,
  FileChange,
  FileDiff,
  Goal,
  PlanDocument,
  PlanEntry,
  SessionEvent,
  SubagentEvent,
  SubagentState,
  ToolContent,
  ToolStatus,
  TurnEvent,
} from "./acp/events.ts";
export type { SessionListener } from "./acp/session-feed.ts";
export { emptyTranscript } from "./acp/transcript/placement.ts";
export { reduceTranscript } from "./acp/transcript/reduce.ts";
export { replayWire } from "./acp/transcript/replay-wire.ts";
export type { EntryList } from "./acp/transcript/entry-list.ts";
export type {
  ContextUse,
  SessionState,
  SubagentInfo,
  TerminalText,
  Transcript,
  TranscriptEntry,
  TranscriptLimits,
  TurnEnd,
} from "./acp/transcript/transcript.ts";
export { questionProblems } from "./acp/question-answer.ts";
export type {
  AskQuestion,
  QuestionAnswer,
  QuestionChoice,
  QuestionField,
  QuestionRequest,
  QuestionValue,
  TextFormat,
} from "./acp/questions.ts";
export type { StopTaskAnswer, StopTaskOptions } from "./acp/session-tasks.ts";
export type {
  PermissionAnswer,
  PermissionOption,
  PermissionRequest,
  PromptBlock,
  PromptOptions,
  Turn,
  TurnOutcome,
  TurnTimeouts,
  Usage,
} from "./acp/types.ts";
export type {
  AdvertisedModes,
  Approval,
  Backend,
  CommandLine,
  FailureSink,
  PermissionPolicy,
  WireEntry,
} from "./acp/ports.ts";
export { backendFor } from "./backends/registry.ts";
export type {
  Failure,
  FailureAction,
  FailureCategory,
  FailureKind,
  FailureNeed,
  FailureSeverity,
  FailureSource,
  Profile,
  RefusalInfo,
  ReplaySafety,
  RetryVerdict,
} from "./errors/failure.ts";
export {
  AcpAuthRequired,
  AcpError,
  AcpModelUnavailable,
  AcpPermissionNeeded,
  AcpProcessDied,
  AcpPromptBusy,
  AcpTimeoutError,
  AcpToolGateUnroutable,
} from "./errors/acp-error.ts";
export {
  AcpRequestTimeout,
  AcpRuntimeDead,
  AcpRuntimeError,
  AcpWorkspaceBindingError,
} from "./errors/runtime-error.ts";
export { ToolGateUnroutable } from "./errors/tool-gate.ts";
export { UsageError } from "./host/usage-error.ts";
export { adviceFor, sentenceFor } from "./errors/wording.ts";
export { redact } from "./errors/redact.ts";
export { KINDS } from "./errors/kinds.ts";
export type { KindFacts } from "./errors/kinds.ts";
export {
  TYPED_SESSION_FAILURE_CLIENT_CAPABILITY,
  readTypedSessionFailure,
  supersedesTypedSessionFailure,
} from "./acp/air/session-failure.ts";
export type {
  TypedSessionFailure,
  TypedSessionFailureAction,
  TypedSessionFailureCategory,
  TypedSessionFailureSeverity,
} from "./acp/air/session-failure.ts";
