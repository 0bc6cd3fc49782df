import { describe, expect, test } from "vitest";
import * as acpErrors from "../../src/errors/acp-error.ts";
import type { FailureKind } from "../../src/errors/failure.ts";
import { KINDS } from "../../src/errors/kinds.ts";
import * as runtimeErrors from "../../src/errors/runtime-error.ts";
import { ToolGateUnroutable } from "../../src/errors/tool-gate.ts";
import { toError } from "../../src/errors/typed.ts";
import { ALL_KINDS, failureOf } from "./failures.ts";

const { AcpError, AcpModelUnavailable, AcpPermissionNeeded, AcpProcessDied, AcpTimeoutError, AcpToolGateUnroutable } =
  acpErrors;
const { AcpRequestTimeout, AcpRuntimeDead, AcpRuntimeError, AcpWorkspaceBindingError } = runtimeErrors;

/** In a turn; the class of a control request follows where it differs. */
const CLASS_OF: Readonly<Record<FailureKind, readonly [string, string?]>> = {
  auth: ["AcpAuthRequired"],
  credentials_settling: ["AcpError"],
  usage_limit: ["AcpError"],
  rate_limit: ["AcpError"],
  context_overflow: ["AcpError"],
  budget: ["AcpError"],
  output_limit: ["AcpError"],
  model_unavailable: ["AcpModelUnavailable"],
  model_capacity: ["AcpError"],
  malformed_request: ["AcpError"],
  request_rejected: ["AcpError"],
  policy_denied: ["AcpError"],
  overloaded: ["AcpError"],
  service_error: ["AcpError"],
  network: ["AcpError"],
  agent_died: ["AcpProcessDied", "AcpRuntimeDead"],
  agent_spawn: ["AcpRuntimeError"],
  protocol: ["AcpRuntimeError"],
  timeout: ["AcpTimeoutError", "AcpRequestTimeout"],
  busy: ["AcpPromptBusy"],
  session_not_found: ["AcpError"],
  gate: ["AcpToolGateUnroutable"],
  configuration: ["AcpError"],
  compaction: ["AcpError"],
  unknown: ["AcpError"],
};

describe.each(ALL_KINDS)("%s", (kind) => {
  const [inTurn, inRequest = inTurn] = CLASS_OF[kind];
  const failure = failureOf(kind);
  const cause = new Error("source");

  test(`is ${inTurn} in a turn and ${inRequest} outside`, () => {
    for (const method of [undefined, "session/prompt"]) {
      const error = toError(failure, { cause, method });
      expect(error.name).toBe(inTurn);
      expect(error.constructor.name).toBe(inTurn);
    }
    expect(toError(failure, { cause, method: "session/new" }).name).toBe(inRequest);
  });

  test("carries kind, verdict, record, cause, and a message that starts upper-case without a full stop", () => {
    const error = toError(failure, { cause });
    expect(error.kind).toBe(kind);
    expect(error.transient).toBe(KINDS[kind].retry !== "never");
    expect(error.failure).toBe(failure);
    expect(error.message).toBe("It failed");
  });
});

test.each(ALL_KINDS.filter((kind) => kind !== "gate"))("%s passes its cause", (kind) => {
  const cause = new Error("source");
  expect(toError(failureOf(kind), { cause }).cause).toBe(cause);
});

test("the verdict of the failure wins over the one of its kind", () => {
  expect(toError(failureOf("unknown", { retry: "backoff", transient: true })).transient).toBe(true);
  expect(toError(failureOf("service_error", { retry: "never", transient: false })).transient).toBe(false);
});

describe("fields", () => {
  test("AcpTimeoutError has the partial output", () => {
    const error = toError(failureOf("timeout"), { partialText: "half" });
    expect(error).toBeInstanceOf(AcpTimeoutError);
    expect(error).toMatchObject({ partialOutput: "half", transient: false });
    expect(new AcpTimeoutError("No answer").partialOutput).toBe("");
  });

  test("AcpProcessDied has exit facts, and says whether the prompt may have been acted upon", () => {
    const died = failureOf("agent_died", { replaySafety: "unknown" });
    expect(toError(died, { exitCode: 3, signal: null })).toMatchObject({
      exitCode: 3,
      signal: null,
      ambiguousDelivery: true,
    });
    expect(toError(died, { signal: "SIGKILL" })).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    expect(toError(failureOf("agent_died", { replaySafety: "not_sent" }))).toMatchObject({ ambiguousDelivery: false });
    expect(new AcpProcessDied("Gone").ambiguousDelivery).toBe(true);
  });

  test("AcpModelUnavailable has the model and what is advertised", () => {
    expect(toError(failureOf("model_unavailable"), { modelId: "m", advertised: ["a"] })).toMatchObject({
      modelId: "m",
      advertised: ["a"],
    });
    expect(toError(failureOf("model_unavailable", { title: "Invalid model ID: m-2" }))).toMatchObject({
      modelId: "m-2",
      advertised: [],
    });
    expect(new AcpModelUnavailable("No")).toMatchObject({ modelId: "", advertised: [] });
  });

  test("AcpPermissionNeeded has what was asked and what was said", () => {
    const needed = failureOf("gate", { rule: "permission-needed", title: "Write a file" });
    expect(toError(needed, { requestTitle: "rm -rf x", partialText: "I will" })).toMatchObject({
      name: "AcpPermissionNeeded",
      requestTitle: "rm -rf x",
      responseSoFar: "I will",
    });
    expect(toError(needed)).toMatchObject({ requestTitle: "Write a file", responseSoFar: "" });
    expect(new AcpPermissionNeeded("Ask")).toMatchObject({ kind: "gate", transient: false });
  });

  test("AcpToolGateUnroutable wraps the leaf, its own or a new one", () => {
    const leaf = new ToolGateUnroutable("Tools bypass the gate");
    expect(toError(failureOf("gate"), { cause: leaf }).cause).toBe(leaf);
    const other = new Error("other");
    const wrapped = toError(failureOf("gate"), { cause: other }).cause;
    expect(wrapped).toBeInstanceOf(ToolGateUnroutable);
    expect(wrapped).toHaveProperty("cause", other);
    expect(leaf).not.toBeInstanceOf(AcpError);
  });

  test("AcpRequestTimeout is transient by type: no prompt was sent", () => {
    const error = toError(failureOf("timeout"), { method: "session/new", budgetMs: 90_000 });
    expect(error).toBeInstanceOf(AcpRuntimeError);
    expect(error).toMatchObject({
      name: "AcpRequestTimeout",
      transient: true,
      method: "session/new",
      budgetMs: 90_000,
    });
    expect(new AcpRequestTimeout("Late")).toMatchObject({ kind: "timeout", transient: true, method: "", budgetMs: 0 });
  });

  test("AcpWorkspaceBindingError is a fact of the configuration", () => {
    expect(new AcpWorkspaceBindingError("Bound to /a")).toMatchObject({ kind: "configuration", transient: false });
  });
});

describe("the families", () => {
  const acp = Object.entries(acpErrors).filter(([, value]) => typeof value === "function");
  const runtime = Object.entries(runtimeErrors).filter(([, value]) => typeof value === "function");

  test("are these classes", () => {
    expect(acp.map(([name]) => name).sort()).toEqual([
      "AcpAuthRequired",
      "AcpError",
      "AcpModelUnavailable",
      "AcpPermissionNeeded",
      "AcpProcessDied",
      "AcpPromptBusy",
      "AcpTimeoutError",
      "AcpToolGateUnroutable",
    ]);
    expect(runtime.map(([name]) => name).sort()).toEqual([
      "AcpRequestTimeout",
      "AcpRuntimeDead",
      "AcpRuntimeError",
      "AcpWorkspaceBindingError",
    ]);
  });

  test.each([...acp, ...runtime])("%s belongs to one family, has its own name and passes its cause", (name, Class) => {
    const cause = new Error("source");
    const error = new Class("It failed", { cause });
    expect(error.name).toBe(name);
    expect(error.cause).toBe(cause);
    expect(error instanceof AcpError).toBe(!(error instanceof AcpRuntimeError));
    expect(error.failure).toBeUndefined();
    expect("cause" in new Class("It failed")).toBe(false);
  });
});

test("an error that is typed already is returned as it is", () => {
  const dead = new AcpRuntimeDead("Gone", { failure: failureOf("agent_died") });
  expect(toError(failureOf("agent_died"), { cause: dead })).toBe(dead);
  expect(toError(failureOf("auth"), { cause: dead })).not.toBe(dead);
  expect(new AcpToolGateUnroutable("No").kind).toBe("gate");
});
