import { expect, test } from "vitest";
import { readExitStatus } from "../../../src/failures/observation/exit-status.ts";

const kiro = (...items: unknown[]) => ({ rawOutput: { items } });
const status = (exit_status: unknown) => ({ Json: { exit_status, stdout: "", stderr: "" } });

test.each([
  { from: "section 5.2, 1", update: { _meta: { terminal_exit: { exit_code: 3, signal: null } } }, exit: { code: 3 } },
  {
    from: "the terminal first",
    update: { _meta: { terminal_exit: { exit_code: 0 } }, rawOutput: { exit_code: 3 } },
    exit: { code: 0 },
  },
  {
    from: "recording codex-acp 2.6.0 plain shell-grep-nomatch",
    update: { rawOutput: { exit_code: 1 } },
    exit: { code: 1 },
  },
  { from: "kiro wire notes, section 7, V3", update: { rawOutput: { output: "", exitCode: 3 } }, exit: { code: 3 } },
  { from: "exit_code before exitCode", update: { rawOutput: { exit_code: 1, exitCode: 2 } }, exit: { code: 1 } },
  { from: "case 20", update: kiro(status("exit status: 127")), exit: { code: 127 } },
  { from: "case 21", update: kiro(status("exit status: 0")), exit: { code: 0 } },
  {
    from: "the first that is there",
    update: kiro({ Text: "x" }, status("exit status: 2"), status("exit status: 0")),
    exit: { code: 2 },
  },
  { from: "section 5.2, 4", update: kiro(status("signal: 9 (SIGKILL)")), exit: { signal: "9 (SIGKILL)" } },
  {
    from: "a signal beside no code",
    update: { _meta: { terminal_exit: { exit_code: null, signal: "SIGTERM" } } },
    exit: { signal: "SIGTERM" },
  },
  {
    from: "case 18",
    update: { _meta: { terminal_exit: { exit_code: 1, signal: "SIGTERM" } } },
    exit: { code: 1, signal: "SIGTERM" },
  },
  {
    from: "recording codex-acp 2.6.0 air async-task-stop",
    update: { _meta: { terminal_exit: { exit_code: -1 } } },
    exit: {},
  },
  {
    from: "null gives nothing",
    update: { _meta: { terminal_exit: { exit_code: null, signal: null } } },
    exit: undefined,
  },
  { from: "a text is no code", update: { rawOutput: { exit_code: "3" } }, exit: undefined },
  { from: "another wording", update: kiro(status("exited with 3")), exit: undefined },
  { from: "a number where a text is expected", update: kiro(status(3)), exit: undefined },
  {
    from: "case 22: text is not parsed",
    update: {
      content: [{ type: "content", content: { type: "text", text: "Command exited with code 2" } }],
      rawOutput: "Exit code 2",
    },
    exit: undefined,
  },
  { from: "case 23", update: { rawOutput: { code: 500 } }, exit: undefined },
  { from: "stdout that looks like it", update: kiro({ Json: { stdout: "exit status: 3" } }), exit: undefined },
])("exit status of $from", ({ update, exit }) => {
  expect(readExitStatus(update)).toEqual(exit);
});
