import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { VERSION } from "../src/acp/version.ts";
import * as library from "../src/index.ts";

test("the public names of the library are pinned", () => {
  expect(Object.keys(library).toSorted()).toEqual([
    "AcpAuthRequired",
    "AcpError",
    "AcpModelUnavailable",
    "AcpPermissionNeeded",
    "AcpProcessDied",
    "AcpPromptBusy",
    "AcpRequestTimeout",
    "AcpRuntimeDead",
    "AcpRuntimeError",
    "AcpTimeoutError",
    "AcpToolGateUnroutable",
    "AcpWorkspaceBindingError",
    "KINDS",
    "TYPED_SESSION_FAILURE_CLIENT_CAPABILITY",
    "ToolGateUnroutable",
    "UsageError",
    "adviceFor",
    "backendFor",
    "createHost",
    "createPermissionPolicy",
    "createRetryBudget",
    "createRuntime",
    "createSupervisor",
    "emptyTranscript",
    "openTrace",
    "questionProblems",
    "readPolicyFile",
    "readTypedSessionFailure",
    "redact",
    "reduceTranscript",
    "replayWire",
    "sentenceFor",
    "supersedesTypedSessionFailure",
  ]);
});

test("Ostler introduces itself with the version of its package", () => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(VERSION).toBe(version);
});
