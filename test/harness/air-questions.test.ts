/** Questions to a person and a plan that is approved, with the real claude adapter, through the library. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TurnEvent } from "../../src/acp/events.ts";
import type { QuestionAnswer, QuestionRequest } from "../../src/acp/questions.ts";
import type { PermissionRequest } from "../../src/acp/types.ts";
import { play } from "../acp/drive.ts";
import { text, toolCall } from "../model-service/steps.ts";
import type { LiveAgent, World } from "./live.ts";
import { lastRequest, openWorld } from "./live.ts";

const QUESTION = toolCall("AskUserQuestion", {
  questions: [
    {
      question: "Which colour?",
      header: "Colour",
      multiSelect: false,
      options: [
        { label: "Red", description: "Warm" },
        { label: "Blue", description: "Cold" },
      ],
    },
  ],
});

let world: World;
let agent: LiveAgent;
const questions: QuestionRequest[] = [];
const permissions: PermissionRequest[] = [];
let answer: QuestionAnswer = { action: "cancel" };

beforeAll(async () => {
  world = await openWorld("claude", {
    PLUM: [QUESTION, text("Green it is.")],
    FIG: [QUESTION, text("As you like.")],
    PEAR: [toolCall("ExitPlanMode", { plan: "1. Paint the door." }), text("Painting.")],
  });
  agent = await world.start({
    approve: "reads",
    ask: async (request) => {
      permissions.push(request);
      return request.options.find(({ optionId }) => optionId === "exit-plan-default")?.optionId;
    },
    askQuestion: async (request) => {
      questions.push(request);
      return answer;
    },
  });
});
afterAll(() => world[Symbol.asyncDispose]());

async function ask(prompt: string, mode?: string) {
  const session = await agent.runtime.openSession({ cwd: world.home.workspace, ...(mode !== undefined && { mode }) });
  const played = await play(session, { retries: 0 }, prompt);
  await session.close();
  return played;
}

const answersIn = (events: readonly TurnEvent[]) =>
  events.flatMap((event) => (event.type === "question" ? [event.answer] : []));

test("a question is answered in words of one's own", async () => {
  answer = { action: "accept", content: { question_0_custom: "Green" } };
  const { outcome, events } = await ask("PLUM");
  expect(questions.at(-1)).toMatchObject({
    message: "Which colour?",
    fields: [
      {
        id: "question_0",
        label: "Colour",
        kind: "choice",
        choices: [
          { value: "Red", label: "Red", description: "Warm" },
          { value: "Blue", label: "Blue", description: "Cold" },
        ],
        required: false,
        customId: "question_0_custom",
      },
    ],
  });
  expect(questions.at(-1)?.fields).toHaveLength(1);
  expect(answersIn(events)).toEqual([answer]);
  expect(outcome).toMatchObject({ kind: "completed", text: "Green it is.", denied: [] });
  expect(lastRequest(world)).toContain('\\"Which colour?\\"=\\"Green\\"');
});

test("a question is declined", async () => {
  answer = { action: "decline" };
  const { outcome, events } = await ask("FIG");
  expect(answersIn(events)).toEqual([answer]);
  expect(outcome).toMatchObject({ kind: "completed", text: "As you like.", denied: [] });
  expect(lastRequest(world)).toContain("The user did not answer the questions.");
});

test("a plan is approved with the option that asks about each edit", async () => {
  const { outcome } = await ask("PEAR", "plan");
  expect(permissions.at(-1)).toMatchObject({ title: "Ready to code?", kind: "switch_mode" });
  expect(permissions.at(-1)?.options.at(0)).toEqual({
    optionId: "exit-plan-default",
    name: "Yes, manually approve edits",
    kind: "allow_once",
  });
  expect(outcome).toMatchObject({ kind: "completed", text: "Painting.", denied: [] });
});
