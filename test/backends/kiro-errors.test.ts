import { afterAll, beforeAll, expect, test } from "vitest";
import { createRuntime } from "../../src/acp/runtime.ts";
import type { Runtime } from "../../src/acp/runtime.ts";
import type { Session } from "../../src/acp/session-link.ts";
import { backendFor } from "../../src/backends/registry.ts";
import { kiroCommand } from "../fixtures/agents/kiro/command.ts";
import { allErrorCalls, promptFor, REQUEST_ID } from "../fixtures/agents/kiro/error-table.ts";
import { EXPECTED } from "../fixtures/agents/kiro/expected.ts";

const ENV = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };

for (const engine of ["v2", "v3"] as const) {
  let runtime: Runtime;
  let session: Session;

  beforeAll(async () => {
    runtime = await createRuntime({ backend: backendFor("kiro"), command: kiroCommand(engine), cwd: "/", env: ENV });
    session = await runtime.openSession({ cwd: "/" });
  });
  afterAll(() => runtime.stop());

  test.each(allErrorCalls().map((call) => ({ ...call, prompt: promptFor(call), why: EXPECTED[call.family].why })))(
    `kiro ${engine}: $prompt: $why`,
    async (call) => {
      const outcome = await session.prompt(call.prompt, { retries: 0 }).outcome;
      const failure = outcome.kind === "failed" || outcome.kind === "truncated" ? outcome.failure : null;
      expect({ outcome: outcome.kind, kind: failure?.kind, requestId: failure?.requestId }).toEqual({
        outcome: "failed",
        kind: EXPECTED[call.family].kind,
        requestId: call.id ? REQUEST_ID : undefined,
      });
      expect(failure?.title).not.toMatch(/response stream|\{|\[object/i);
    },
  );
}
