/** A question with choices and a free answer, as claude-agent-acp asks one (recording ask-question-accept). */
import { airMeta, property } from "../client-features.ts";
import type { DemoTurn, SceneEnd } from "../turn.ts";

const COLOUR = {
  type: "string",
  title: "Colour",
  oneOf: [
    { const: "Red", title: "Red", description: "Warm" },
    { const: "Blue", title: "Blue", description: "Cold" },
  ],
};
const OTHER = { type: "string", title: "Other", description: "Type your own answer" };
const CUSTOM_ANSWER = airMeta({ customAnswer: { questionId: "question_0", isCustomAnswer: true } });

/** Asks for a colour; a client that cannot ask a person is told so. */
export async function question(turn: DemoTurn): Promise<SceneEnd> {
  const { client, session, features, signal } = turn.options;
  if (!features.forms) {
    await turn.stream("I would ask you for a colour, but nobody can answer questions here.");
    return;
  }
  const answer = await client.request<unknown, object>("elicitation/create", {
    mode: "form",
    sessionId: session.id,
    message: "Which colour?",
    requestedSchema: {
      type: "object",
      properties: {
        question_0: COLOUR,
        question_0_custom: { ...OTHER, ...(features.isAir && { _meta: CUSTOM_ANSWER }) },
      },
    },
  });
  const action = property(answer, "action");
  if (signal.aborted) return "cancelled";
  const content = property(answer, "content");
  const colour = property(content, "question_0_custom") ?? property(content, "question_0");
  if (action === "accept" && typeof colour === "string") await turn.stream(`You like ${colour}.`);
  else if (action === "decline") await turn.stream("You did not want to say which colour.");
  else await turn.stream("The question was closed, so I do not know which colour you like.");
}
