/** The person at the terminal, who is asked for permission and answers questions, one at a time. */
import type { AskQuestion } from "../../acp/questions.ts";
import type { AskPerson } from "../../host/permissions.ts";
import { createAskPerson } from "./ask-person.ts";
import { createAskQuestion } from "./ask-question.ts";
import type { Io } from "./io.ts";
import { PersonQueue } from "./person-input.ts";
import type { Terminal } from "./terminal.ts";

/** Both ways to ask share the terminal. `onNo` is called when a permission is denied, `agent` names who asks. */
export function createPerson(
  io: Pick<Io, "stdin">,
  terminal: Terminal,
  { onNo, agent }: { readonly onNo: () => void; readonly agent: () => string },
): { readonly ask: AskPerson; readonly askQuestion: AskQuestion } {
  const queue = new PersonQueue();
  return {
    ask: createAskPerson(io, terminal, { queue, onNo }),
    askQuestion: createAskQuestion(io, terminal, { queue, agent }),
  };
}
