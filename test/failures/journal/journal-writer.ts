/**
 * A process that has a journal: `journal-writer.ts FOLDER`. A line on stdin is a step, a line on stdout what is known
 * after it; see `journal-process.ts`.
 */
import { createInterface } from "node:readline";
import { Journal } from "../../../src/failures/journal/journal.ts";
import type { Step } from "./journal-process.ts";
import { shownState } from "./shown-state.ts";

const [folder = ""] = process.argv.slice(2);
const journal = Journal.open(folder);

for await (const line of createInterface({ input: process.stdin })) {
  const step: Step = JSON.parse(line);
  const stored = await take(step);
  const known = { stored, pending: journal.pending, ...shownState(journal.state) };
  process.stdout.write(`${JSON.stringify(known)}\n`);
}

async function take(step: Step): Promise<"stored" | "pending" | undefined> {
  switch (step.do) {
    case "append":
      return journal.append(step.events, { durable: step.durable });
    case "refresh":
      journal.refresh();
      return undefined;
    case "close":
      return journal.close().then(() => undefined);
  }
}
