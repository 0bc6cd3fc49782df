import { expect, test } from "vitest";
import { goneByExit } from "../../src/acp/death.ts";

test.each([
  {
    from: "a program that Node cannot find",
    stderr:
      "node:internal/modules/cjs/loader:1404\n  throw err;\n  ^\n\nError: Cannot find module '/srv/nope.mjs'\n" +
      "    at Module._resolveFilename (node:internal/modules/cjs/loader:1401:15)\n\nNode.js v26.10.0\n",
    title: "X exited with code 1: Error: Cannot find module '/srv/nope.mjs'",
  },
  { from: "a plain last word", stderr: "starting\nout of luck\n", title: "X exited with code 1: out of luck" },
  {
    from: "recording claude-agent-acp 0.101.0 kill-adapter-idle",
    stderr: "[session/create] sessionId=s1 phase=register durationMs=21 totalMs=1502\n[idle-compaction] skip: none\n",
    title: "X exited with code 1",
  },
  { from: "silence", stderr: "\n", title: "X exited with code 1" },
])("$from: the title names the line that says why", ({ stderr, title }) => {
  const gone = goneByExit("X", { code: 1, signal: null }, stderr, "generic", "agent_spawn");
  expect(gone.title).toBe(title);
});
