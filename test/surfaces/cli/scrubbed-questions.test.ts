import { expect, test } from "vitest";
import { ScrubbedEvents } from "../../../src/surfaces/cli/scrubbed-events.ts";

const SECRET = "sk-ant-api03-REDACTME0123456789abcdef";

test("the words of a question are scrubbed; what goes back is as it came", () => {
  const event = new ScrubbedEvents().of({
    type: "question",
    request: {
      sessionId: "s1",
      message: `Use ${SECRET}?\u001b[2J`,
      fields: [
        {
          id: SECRET,
          label: `Key ${SECRET}`,
          description: `Of ${SECRET}`,
          kind: "choice",
          choices: [{ value: SECRET, label: `As ${SECRET}`, description: "Long" }],
          required: false,
        },
      ],
    },
    answer: { action: "accept", content: { [SECRET]: SECRET } },
  });
  expect(event).toEqual({
    type: "question",
    request: {
      sessionId: "s1",
      message: "Use [redacted]?",
      fields: [
        {
          id: SECRET,
          label: "Key [redacted]",
          description: "Of [redacted]",
          kind: "choice",
          choices: [{ value: SECRET, label: "As [redacted]", description: "Long" }],
          required: false,
        },
      ],
    },
    answer: { action: "accept", content: { [SECRET]: SECRET } },
  });
});
