/** Scenes with work beside the answer: background tasks, subagents, goals, compactions. */
import { randomUUID } from "node:crypto";
import { airMeta } from "../client-features.ts";
import { pursueGoal } from "../goals.ts";
import { startTask } from "../tasks.ts";
import type { DemoTurn } from "../turn.ts";

const STEP_MS = 100;
const DEFAULT_TASK_SECONDS = 30;
const MAX_TASK_SECONDS = 3600;

/** `/task SECONDS`: a command that runs on after the answer, until it is done or stopped. */
export async function task(turn: DemoTurn): Promise<void> {
  const asked = Number.parseFloat(turn.options.argument);
  const seconds = Number.isNaN(asked) ? DEFAULT_TASK_SECONDS : Math.min(Math.max(asked, 0), MAX_TASK_SECONDS);
  const { client, session, features } = turn.options;
  const title = `sleep ${seconds}`;
  const id = await turn.startTool({
    title,
    kind: "execute",
    rawInput: { command: title },
    ...(features.isAir && { _meta: airMeta({ commandTitle: "Wait in the background" }) }),
  });
  if (features.air.has("asyncTasks")) {
    startTask(client, session, { toolCallId: id, name: title, seconds });
    await turn.updateTool(id, { status: "completed", _meta: airMeta({ asyncTasks: { backgrounded: true } }) });
  } else await turn.updateTool(id, { status: "completed" });
  await turn.stream(`"${title}" goes on in the background (pretended: no shell runs).`);
}

/** A subagent with a session of its own where the client takes one, else a tool call that reports. */
export async function subagent(turn: DemoTurn): Promise<void> {
  const prompt = "Look at the greeting and report";
  const say = "The greeting is friendly.";
  if (turn.options.features.subagents) {
    const childId = randomUUID();
    const spawned = { subagentSessionId: childId, name: "Reader", task: prompt, prompt, capabilities: {} };
    await turn.extension({ sessionUpdate: "subagent_spawned", ...spawned });
    for (const text of [say.slice(0, 12), say.slice(12)]) {
      await turn.pause(STEP_MS);
      const chunk = {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text },
        messageId: `${childId}:1`,
      };
      await turn.extension(chunk, childId);
    }
    await turn.extension({ sessionUpdate: "subagent_state_update", subagentSessionId: childId, state: "completed" });
  } else {
    const mark = turn.options.features.isAir && { _meta: airMeta({ subagent: true }) };
    const id = await turn.startTool({ title: "Reader", kind: "think", rawInput: { prompt }, ...mark });
    await turn.updateTool(id, {
      status: "completed",
      content: [{ type: "content", content: { type: "text", text: say } }],
    });
  }
  await turn.stream("My subagent has reported that all is well.");
}

/** `/goal OBJECTIVE`: works on it in two rounds. Without an objective the goal is cleared. */
export async function goal(turn: DemoTurn): Promise<void> {
  const { client, session, argument, signal, features } = turn.options;
  if (!features.isAir) {
    await turn.stream("I would show you a goal, but this client has no place for one.");
    return;
  }
  const work = { client, session, signal, say: (text: string) => turn.say(text) };
  await pursueGoal(work, argument === "" ? { action: "clear" } : { action: "set", objective: argument });
  await turn.stream(argument === "" ? "There is no goal any more." : `The goal is reached: ${argument}`);
}

/** `/compact`: the context becomes small; `/compact fail` does not get there, and the turn still says `end_turn`. */
export async function compact(turn: DemoTurn): Promise<void> {
  const error = turn.options.argument === "fail" ? "The summary could not be written" : undefined;
  const sizes = {
    trigger: "manual",
    preTokens: 180_000,
    ...(error === undefined && { postTokens: 4200, durationMs: 300 }),
  };
  const mark = (contextCompaction: object) =>
    turn.options.features.isAir ? { _meta: airMeta({ contextCompaction: { version: 1, ...contextCompaction } }) } : {};
  const status = error === undefined ? "completed" : "failed";
  if (turn.options.features.compaction) {
    const compactionId = randomUUID();
    const update = { sessionUpdate: "compaction_update", compactionId };
    await turn.extension({ ...update, status: "in_progress", ...mark({}) });
    await turn.pause(STEP_MS);
    const end = error === undefined ? {} : { error };
    await turn.extension({ ...update, status, ...end, ...mark(sizes) });
    return;
  }
  const id = await turn.startTool({
    title: "Compact conversation",
    kind: "think",
    status: "in_progress",
    ...mark({}),
  });
  await turn.pause(STEP_MS);
  const said = `Compaction failed: ${error}`;
  await turn.updateTool(id, {
    status,
    ...(error !== undefined && { content: [{ type: "content", content: { type: "text", text: said } }] }),
    ...mark({ ...sizes, ...(error !== undefined && { error }) }),
  });
}
