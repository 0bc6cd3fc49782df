/** Steering through a real child: all three answers, what becomes of the words, and turns that the agent began for them. */
import { describe, expect, test } from "vitest";
import type { Action, Scenario } from "../fixtures/agents/scenario.ts";
import { chunk, end, err, promptsIn, reply, waitFor } from "../fixtures/agents/scenario.ts";
import { recordOf, rejectionOf } from "./drive.ts";
import { advertised, heard, inShort, isTurn, opened, requestsIn, status } from "./goals.ts";

const said = (text: string, messageId = "m1"): Action => chunk(text, { messageId });
const until = (name: string): Action => ({ untilFile: name });
const INJECTED = [reply({ outcome: "injected" })];
const IDLE = [reply({ outcome: "promptRequired", reason: "noRunningTurn" })];
const steering = (...answers: readonly (readonly Action[])[]): NonNullable<Scenario["on"]> => ({
  "_session/steering": answers,
});
const isText = ({ event }: { readonly event: { readonly type: string } }): boolean => event.type === "text";

describe("into a running turn", () => {
  test("the words reach the turn, and stand where they were said", async () => {
    const open = await opened({
      ...steering(INJECTED),
      "session/prompt": [
        [said("part0 "), waitFor("_session/steering"), until("go"), said("Steered answer.", "m2"), end()],
      ],
    });
    const turn = open.session.prompt("Please do the task.");
    await heard(open, isText);
    expect(await open.session.steer("Also do this.")).toEqual({ outcome: "injected" });
    open.agent.touch("go");
    expect(await turn.outcome).toMatchObject({ kind: "completed", text: "part0 Steered answer." });
    expect(requestsIn(open, "_session/steering")).toEqual([
      {
        sessionId: "s1",
        prompt: [{ type: "text", text: "Also do this." }],
        _meta: { steering: { idleBehavior: "promptRequired" } },
      },
    ]);
    expect(inShort(open.told)).toContain("turn user Also do this.");
    expect(promptsIn(open.agent.log)).toHaveLength(1);
  });

  test.each([
    { from: "the new message repeats the old one and goes on", late: [], text: "HelloHello world" },
    { from: "the old message gets one more piece", late: [said("!")], text: "Hello!Hello! world" },
  ])("a steering lies between messages, so none of them is superseded: $from", async ({ late, text }) => {
    const again = late.length === 0 ? "Hello world" : "Hello! world";
    const open = await opened({
      ...steering(INJECTED),
      "session/prompt": [[said("Hello"), waitFor("_session/steering"), until("go"), ...late, said(again, "m2"), end()]],
    });
    const turn = open.session.prompt("hello");
    await heard(open, isText);
    await open.session.steer("Go on.");
    open.agent.touch("go");
    expect(await turn.outcome).toMatchObject({ text });
    expect(inShort(open.told)).not.toContain("turn text superseded");
  });

  test("without a steering the same messages are one answer, sent again", async () => {
    const open = await opened({ "session/prompt": [[said("Hello"), said("Hello world", "m2"), end()]] });
    expect(await open.session.prompt("hello").outcome).toMatchObject({ text: "Hello world" });
  });

  test("a notice tells the reader of the turn, who may be somebody else", async () => {
    const open = await opened({
      ...steering(INJECTED),
      "session/prompt": [[said("Hm"), waitFor("_session/steering"), until("go"), end()]],
    });
    const turn = open.session.prompt("hello");
    await heard(open, isText);
    await open.session.steer("Stop it.", { notice: "Somebody steers: Stop it." });
    open.agent.touch("go");
    await turn.outcome;
    expect(inShort(open.told)).toContain("turn notice Somebody steers: Stop it.");
  });
});

describe("into an idle session", () => {
  test("the words are sent as a prompt", async () => {
    const open = await opened(steering(IDLE));
    const answer = await open.session.steer("Go.");
    if (answer.outcome !== "prompted") throw new Error(`It was ${answer.outcome}`);
    expect(await answer.turn.outcome).toMatchObject({ kind: "completed", text: "ok" });
    expect(promptsIn(open.agent.log).map(({ params }) => params?.["prompt"])).toEqual([
      [{ type: "text", text: "Go." }],
    ]);
  });

  test("a turn that is about to end is waited for", async () => {
    const open = await opened({
      ...steering([...IDLE, { untilFile: "go" }]),
      "session/prompt": [
        [said("One."), waitFor("_session/steering"), until("go"), end()],
        [said("Two.", "m2"), end()],
      ],
    });
    const first = open.session.prompt("one");
    await heard(open, isText);
    const steered = open.session.steer("two");
    await open.agent.until(() => requestsIn(open, "_session/steering").length === 1);
    open.agent.touch("go");
    const answer = await steered;
    expect(await first.outcome).toMatchObject({ text: "One." });
    if (answer.outcome !== "prompted") throw new Error(`It was ${answer.outcome}`);
    expect(await answer.turn.outcome).toMatchObject({ text: "Two." });
  });

  test("a caller who wants the words back gets them, and nothing is sent", async () => {
    const open = await opened(steering(IDLE));
    expect(await open.session.steer("Go.", { whenIdle: "return" })).toEqual({
      outcome: "promptRequired",
      reason: "noRunningTurn",
    });
    expect(promptsIn(open.agent.log)).toEqual([]);
  });

  test("an agent that begins a turn all the same is followed (recording codex-acp 2.6.0 air/steer-idle)", async () => {
    const open = await opened(
      steering([
        reply({ outcome: "startedNewTurn" }),
        status("active"),
        said("A turn started "),
        said("by steering."),
        status("idle"),
      ]),
    );
    const answer = await open.session.steer("Go.");
    if (answer.outcome !== "startedNewTurn") throw new Error(`It was ${answer.outcome}`);
    expect(await answer.work).toMatchObject({ kind: "completed", text: "A turn started by steering." });
    expect(inShort(open.told)).toEqual([
      "none started",
      "none session",
      "none user Go.",
      "none text A turn started ",
      "none text by steering.",
      "none ended completed",
    ]);
    expect(promptsIn(open.agent.log)).toEqual([]);
  });

  test.each([
    {
      from: "air/steer-idle-failing: no record, no words",
      words: [],
      failure: { kind: "unknown", source: "thread_status", severity: "error" },
    },
    {
      from: "plain/steer-idle-failing: the sentence without an id",
      words: [chunk('{"error":{"message":"Bad value.","type":"invalid_request_error"}}\n\n')],
      failure: { kind: "request_rejected", source: "thread_status", title: expect.stringContaining("Bad value.") },
    },
  ])("such a turn that fails is reported: $from", async ({ words, failure }) => {
    const open = await opened(
      steering([reply({ outcome: "startedNewTurn" }), status("active"), status("systemError"), ...words]),
    );
    const answer = await open.session.steer("Go.");
    if (answer.outcome !== "startedNewTurn") throw new Error(`It was ${answer.outcome}`);
    expect(await answer.work).toMatchObject({ kind: "failed", text: "", failure });
    expect(open.agent.sunk).toMatchObject([failure]);
    expect(open.told.filter(({ event }) => event.type === "failure")).toMatchObject([
      { turnId: null, event: { failure } },
    ]);
    expect(inShort(open.told).at(-1)).toBe("none ended failed");
  });

  test("the agent dies of it: reported as well", async () => {
    const open = await opened(steering([reply({ outcome: "startedNewTurn" }), status("active"), { exit: 1 }]));
    const answer = await open.session.steer("Go.");
    if (answer.outcome !== "startedNewTurn") throw new Error(`It was ${answer.outcome}`);
    expect(await answer.work).toMatchObject({ kind: "failed", failure: { kind: "agent_died" } });
    await heard(open, isTurn("ended"));
    expect(open.agent.sunk.map(({ kind }) => kind)).toEqual(["agent_died"]);
  });
});

describe("what is not taken", () => {
  test("an agent without steering is not asked", async () => {
    const open = await opened({}, { advertises: advertised([], false) });
    await expect(open.session.steer("Go.")).rejects.toMatchObject({
      kind: "request_rejected",
      message: expect.stringMatching(/takes no words while it works; wait until its turn is over and send a prompt$/),
    });
    expect(requestsIn(open, "_session/steering")).toEqual([]);
  });

  test.each([
    {
      from: "codex could not",
      answer: [reply({ outcome: "failed" })],
      says: /did not take the words: it answered "failed"$/,
    },
    { from: "an answer without a word", answer: [reply({})], says: /it answered "nothing"$/ },
    { from: "escape codes in it", answer: [reply({ outcome: "\u001b[31mred" })], says: /it answered "red"$/ },
  ])("said: $from", async ({ answer, says }) => {
    const open = await opened(steering(answer));
    await expect(open.session.steer("Go.")).rejects.toMatchObject({
      kind: "request_rejected",
      message: expect.stringMatching(says),
    });
    expect(promptsIn(open.agent.log)).toEqual([]);
  });

  test("an error of the agent is the typed one (recording codex-acp 2.6.0 steer-idle)", async () => {
    const open = await opened(steering([err(-32002, "Session nope not found", { sessionId: "nope" })]));
    const error = await rejectionOf(open.session.steer("Go."));
    expect(recordOf(error)).toMatchObject({ kind: "session_not_found" });
  });

  test("an image for an agent that takes none", async () => {
    const open = await opened({});
    const image = { type: "image", mimeType: "image/png", data: "AAAA" } as const;
    const error = await rejectionOf(open.session.steer([image]));
    expect(recordOf(error)).toMatchObject({ kind: "request_rejected", rule: "no-images" });
  });

  test("a session that was closed", async () => {
    const open = await opened({});
    await open.session.close();
    const error = await rejectionOf(open.session.steer("Go."));
    expect(recordOf(error)).toMatchObject({ kind: "session_not_found" });
  });
});
