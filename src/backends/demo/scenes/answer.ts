/** Scenes that end well: the plain answer and what else a good turn can hold. */
import type { DemoTurn } from "../turn.ts";

const MAX_ECHO_CHARS = 200;
const DEFAULT_CHUNKS = 100;
const MAX_CHUNKS = 1_000_000;
const DEFAULT_SLOW_SECONDS = 5;
const MAX_SLOW_SECONDS = 3600;
const PIECES_PER_SECOND = 4;

/** A prompt without a command: a friendly answer that says what was asked. */
export async function answer(turn: DemoTurn): Promise<void> {
  const { prompt, attachments, session } = turn.options;
  await turn.think("There is no model behind me, so I answer with what I was asked.");
  if (prompt.startsWith("/")) {
    await turn.stream(`I do not know the command ${prompt.split(/\s/, 1)[0]}. Ask for /help to see what I can show.`);
    return;
  }
  const attached = attachments === 0 ? "" : ` and attached ${attachments === 1 ? "one item" : `${attachments} items`}`;
  const earlier = session.history.findLast(({ from }) => from === "user")?.text;
  const before = earlier === undefined ? "" : `, and before that "${quoted(earlier)}"`;
  await turn.stream(
    `Hello${earlier === undefined ? "" : " again"}! You asked: "${quoted(prompt)}"${attached}${before}. I am the demo agent: no model thinks here, ` +
      "but every step between you and me is real. Ask for /help to see what I can show.",
  );
}

/** Thoughts in several pieces, then the answer. */
export async function think(turn: DemoTurn): Promise<void> {
  for (const thought of ["First I look at the question. ", "Then I weigh two answers. ", "The short one is better."])
    await turn.think(thought);
  await turn.stream("I have thought about it: the short answer is yes.");
}

/** A plan whose steps get done one after the other. */
export async function planSteps(turn: DemoTurn): Promise<void> {
  const steps = ["Read the question", "Make a plan", "Follow the plan"];
  for (let done = 0; done <= steps.length; done += 1) {
    const entries = steps.map((content, at) => ({
      content,
      priority: "medium" as const,
      status: at < done ? ("completed" as const) : at === done ? ("in_progress" as const) : ("pending" as const),
    }));
    await turn.update({ sessionUpdate: "plan", entries });
  }
  await turn.stream("All three steps of the plan are done.");
}

/** The messages at which this session can be forked. */
export async function fork(turn: DemoTurn): Promise<void> {
  const messages = turn.options.session.history.filter(({ from }) => from === "agent");
  if (messages.length === 0) {
    await turn.stream("I have not said anything yet that a fork could begin at.");
    return;
  }
  await turn.say("A fork of this session can begin after any of my messages:\n");
  for (const { id, text } of messages) await turn.say(`${id}  ${quoted(text)}\n`);
}

/** `/long N`: N chunks, as fast as the pipe takes them. */
export async function long(turn: DemoTurn): Promise<void> {
  const chunks = readNumber(turn.options.argument, DEFAULT_CHUNKS, MAX_CHUNKS);
  for (let n = 1; n <= chunks; n += 1) await turn.say(`${n}\n`);
}

/** `/slow SECONDS`: a few words at a time. */
export async function slow(turn: DemoTurn): Promise<void> {
  const seconds = readNumber(turn.options.argument, DEFAULT_SLOW_SECONDS, MAX_SLOW_SECONDS);
  for (let n = 1; n <= seconds * PIECES_PER_SECOND; n += 1) {
    await turn.say(n % PIECES_PER_SECOND === 0 ? `${n / PIECES_PER_SECOND} s\n` : ".");
    await turn.pause(1000 / PIECES_PER_SECOND);
  }
}

/** The answer breaks off and starts again as a new message: the first one stands no more. */
export async function retry(turn: DemoTurn): Promise<void> {
  await turn.stream("This answer breaks");
  await turn.warn({ category: "connection", title: "Connection to the model lost, attempt 1 of 3" });
  turn.startAgain();
  await turn.stream("This answer breaks off once and starts again, and now it is whole.");
}

/** A warning beside a good answer: it never fails the turn. */
export async function warn(turn: DemoTurn): Promise<void> {
  await turn.notice({ category: "unknown", title: "The demo agent warns that nothing is wrong" });
  await turn.stream("There was a warning beside this answer, and the answer is complete all the same.");
}

function quoted(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > MAX_ECHO_CHARS ? `${line.slice(0, MAX_ECHO_CHARS)}…` : line;
}

function readNumber(text: string, fallback: number, max: number): number {
  const value = Number.parseInt(text, 10);
  return Number.isNaN(value) || value < 0 ? fallback : Math.min(value, max);
}
