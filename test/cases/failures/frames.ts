/** What the agents of the failure cases do: calls of their own shell as frames, and calls of Ostler's tools. */
import type { Action, Json } from "../../fixtures/agents/scenario.ts";
import { chunk, end, tool, toolUpdate, update } from "../../fixtures/agents/scenario.ts";

type Fields = { readonly [key: string]: Json };

/** The turn ends well, and has said something. */
export const DONE: readonly Action[] = [chunk("Done"), end()];

/** The agent's shell begins a command. */
export function starts(id: string, command: string, input: Fields = {}): Action {
  return tool(id, { status: "in_progress", rawInput: { command, ...input } });
}

/** And ends it with this exit code. */
export function ends(id: string, code: number): Action {
  return toolUpdate(id, { status: code === 0 ? "completed" : "failed", rawOutput: { exit_code: code } });
}

/** A command that fails. */
export function fails(id: string, command = "npm test", input: Fields = {}, code = 1): readonly Action[] {
  return [starts(id, command, input), ends(id, code)];
}

/** A command that succeeds. */
export function passes(id: string, command = "npm test", input: Fields = {}): readonly Action[] {
  return [starts(id, command, input), ends(id, 0)];
}

/** A command in a session below this one that fails. */
export function failsInChild(id: string, command: string): readonly Action[] {
  return inChild(id, { command }, { status: "failed", rawOutput: { exit_code: 1 } });
}

/** One that succeeds. */
export function passesInChild(id: string, command: string, input: Fields): readonly Action[] {
  return inChild(id, { command, ...input }, { status: "completed" });
}

function inChild(id: string, rawInput: Fields, ending: Fields): readonly Action[] {
  const call = { toolCallId: id, title: "In a child", kind: "execute", status: "in_progress", rawInput };
  return [
    update({ sessionUpdate: "tool_call", ...call }, "child"),
    update({ sessionUpdate: "tool_call_update", toolCallId: id, ...ending }, "child"),
  ];
}

/** Ostler's own `run` executes this command in a shell. */
export function runs(command: string, input: Fields = {}): Action {
  return { callTool: { name: "run", input: { command, ...input } } };
}

/** `failure_disposition`. */
export function disposes(disposition: string, targets: readonly string[], more: Fields = {}): Action {
  const input = { disposition, targets, reason: "looked at it", ...more };
  return { callTool: { name: "failure_disposition", input } };
}
