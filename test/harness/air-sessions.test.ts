/** Settings, forks, lists and replays of the real adapters. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SessionEvent } from "../../src/acp/events.ts";
import type { Session } from "../../src/acp/session-link.ts";
import { play, recordOf, rejectionOf } from "../acp/drive.ts";
import { text } from "../model-service/steps.ts";
import { lastRequest, openWorld } from "./live.ts";
import type { LiveAgent, World } from "./live.ts";

const EXPECTED = {
  claude: {
    mode: "default",
    modes: [
      ["default", "standard"],
      ["acceptEdits", "standard"],
      ["plan", "plan"],
      ["auto", "auto_review"],
    ],
    recommended: "opus",
    effort: { id: "effort", recommended: "medium" },
    typo: "opsu",
    near: 'did you mean "opus"?',
    login: "api_key",
  },
  codex: {
    mode: "read-only",
    modes: [
      ["read-only", "standard"],
      ["workspace-write", "standard"],
      ["agent", "auto_review"],
      ["agent-full-access", "full_access"],
    ],
    recommended: "gpt-6.1-sol",
    effort: { id: "reasoning_effort", recommended: "medium" },
    typo: "gpt-5.55",
    near: 'did you mean "gpt-5.5"?',
    login: "gateway",
  },
} as const;

describe.each(["claude", "codex"] as const)("%s", (harness) => {
  const expected = EXPECTED[harness];
  let world: World;
  let agent: LiveAgent;
  const open = (options = {}): Promise<Session> => agent.runtime.openSession({ cwd: world.home.workspace, ...options });

  beforeAll(async () => {
    world = await openWorld(harness, {
      PLUM: [text("I will keep the plum.")],
      FIG: [text("And the fig.")],
      WHAT: [text("I know.")],
    });
    agent = await world.start();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("models, modes and options, with what is set and what is recommended", async () => {
    const session = await open();
    const { models, modes, options } = session.offers;
    expect(models).toMatchObject({ recommended: expected.recommended });
    expect(models?.choices.map(({ value }) => value)).toContain(models?.current);
    expect(models?.choices.map(({ value }) => value)).not.toContain("default");
    expect(modes?.current).toBe(expected.mode);
    expect(modes?.choices.map(({ value, kind }) => [value, kind])).toEqual(expected.modes);
    expect(options.find(({ id }) => id === expected.effort.id)).toMatchObject(expected.effort);
    expect(agent.runtime.authStatus?.kind).toBe(expected.login);
    await session.close();
  });

  test.each<{ from: string; wish: object; kind: string; title: RegExp; near: string }>([
    {
      from: "model",
      wish: { model: expected.typo },
      kind: "model_unavailable",
      title: /has no model .+: it has/,
      near: expected.near,
    },
    { from: "mode", wish: { mode: "plaan" }, kind: "configuration", title: /has no mode "plaan": it has/, near: "" },
    {
      from: "option",
      wish: { configOptions: { [expected.effort.id]: "hihg" } },
      kind: "configuration",
      title: /cannot be "hihg": it has/,
      near: 'did you mean "high"?',
    },
  ])("a wrong $from is refused with the list", async ({ wish, kind, title, near }) => {
    const failure = recordOf(await rejectionOf(open(wish)));
    expect(failure).toMatchObject({ kind, title: expect.stringMatching(title) });
    expect(failure?.title).toContain(near);
  });

  test("a fork at a message knows what came before and nothing after; list and replay know both", async () => {
    const { workspace: cwd } = world.home;
    const session = await open();
    const heard = await play(session, {}, "Keep a PLUM in mind");
    await play(session, {}, "And a FIG");
    const answer = heard.events.find((event) => event.type === "text");
    const messageId = answer?.type === "text" ? (answer.messageId ?? "") : "";
    await session.close();

    const at = { messageId, text: "I will keep the plum.", occurrence: 1 };
    const forked = await agent.runtime.forkSession({ sessionId: session.id, cwd, at });
    expect(forked.id).not.toBe(session.id);
    expect(forked.modes?.current).toBe(expected.mode);
    const { outcome } = await play(forked, {}, "WHAT do you know?");
    expect(outcome).toMatchObject({ kind: "completed", text: "I know.", warnings: [] });
    expect(lastRequest(world)).toContain("Keep a PLUM in mind");
    expect(lastRequest(world)).not.toContain("And a FIG");
    await forked.close();

    const byText = { messageId: "gone", text: "I will keep the plum.", occurrence: 1 };
    const again = await agent.runtime.forkSession({ sessionId: session.id, cwd, at: byText });
    await again.close();
    const lost = agent.runtime.forkSession({ sessionId: session.id, cwd, at: { messageId: "gone" } });
    expect(recordOf(await rejectionOf(lost))).toMatchObject({
      kind: "request_rejected",
      title: expect.stringContaining("finds no message gone in this session"),
    });

    const { sessions, isComplete } = await agent.runtime.listSessions({ cwd });
    expect(isComplete).toBe(true);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(expect.arrayContaining([session.id, forked.id]));
    const events: SessionEvent[] = [];
    const onEvent = (event: SessionEvent): unknown => events.push(event);
    const loaded = await agent.runtime.resumeSession({ sessionId: session.id, via: "load", cwd, onEvent });
    const said = events.flatMap(({ event, replayed }) =>
      replayed === true && (event.type === "user" || event.type === "text") ? [event.text] : [],
    );
    expect(said).toEqual(["Keep a PLUM in mind", "I will keep the plum.", "And a FIG", "And the fig."]);
    await loaded.close();
  });
});

test("claude offers commands to sign in with, to whoever runs them", async () => {
  await using world = await openWorld("claude", { PLUM: [text("Never asked.")] });
  const plain = await world.start();
  expect(plain.runtime.authMethods.some(({ terminal }) => terminal !== undefined)).toBe(false);
  const { runtime } = await world.start({ takesLogins: true });
  // Where no browser opens (NO_BROWSER) it is its own screen that signs in.
  expect(runtime.authMethods.map(({ id, terminal }) => [id, terminal?.label, terminal?.args.at(-1)])).toContainEqual([
    "claude-login",
    "Claude Login",
    "--cli",
  ]);
  expect(await world.end()).toEqual([]);
});
