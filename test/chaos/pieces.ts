/** What an agent may do in the middle of a turn, drawn at random: each piece harmless to a client that holds. */
import type { Action } from "../fixtures/agents/scenario.ts";
import {
  call,
  chunk,
  permission,
  send,
  thought,
  tool,
  toolUpdate,
  update,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import type { Random } from "./random.ts";

/** What a piece leaves behind. */
export interface Piece {
  readonly name: string;
  readonly actions: readonly Action[];
  /** Answer text in it. */
  readonly text?: string;
  /** Something a person can see that is no text. */
  readonly output?: true;
  readonly tool?: true;
  /** Other sessions of the same process could be garbled by it. */
  readonly alone?: true;
  /** A permission request that is answered when the turn is cancelled and never before. */
  readonly holds?: string;
  /** A permission request that is answered with a no, so that a run may end with exit code 5. */
  readonly denied?: true;
}

/** Draws pieces of one turn. `tag` is in all it says, so that nothing can be taken for another turn's. */
export interface PieceBox {
  readonly random: Random;
  readonly tag: string;
  /** A new name within the process. */
  readonly newId: () => string;
}

type Draw = (box: PieceBox) => Piece;

const text: Draw = ({ random, newId }) => {
  const words = `${newId()} ${"汉😀é ".repeat(random.int(0, 20))}`;
  return { name: "text", actions: [chunk(words)], text: words };
};

const floodOfText: Draw = ({ random, newId }) => {
  const words = `${newId()} ${"x".repeat(random.int(10, 2000))} `;
  const times = random.int(50, 400);
  return { name: "flood", actions: [{ ...chunk(words), times }], text: words.repeat(times) };
};

const slowText: Draw = ({ random, newId }) => {
  const words = Array.from({ length: random.int(2, 6) }, () => `${newId()} `);
  return {
    name: "slow",
    actions: words.flatMap((word) => [chunk(word), { delayMs: random.int(1, 40) }]),
    text: words.join(""),
  };
};

const splitText: Draw = ({ random, newId }) => {
  const words = `${newId()} 汉😀é `;
  return {
    name: "split",
    actions: [{ pieces: linesOf(chunk(words)), pieceBytes: random.int(5, 60) }],
    text: words,
    alone: true,
  };
};

/** Frames as one text, for a write of one's own. */
export function linesOf(...actions: readonly Action[]): string {
  return actions.map((action) => `${JSON.stringify("send" in action ? action.send : null)}\n`).join("");
}

const wholeTool: Draw = ({ random, newId }) => {
  const id = newId();
  return {
    name: "tool",
    actions: [
      tool(id),
      toolUpdate(id, { status: "in_progress" }),
      { delayMs: random.int(0, 30) },
      toolUpdate(id, { status: random.pick(["completed", "failed"]) }),
    ],
    tool: true,
  };
};

const refusedTool: Draw = ({ newId }) => {
  const id = newId();
  return {
    name: "permission",
    actions: [tool(id), permission(id, { id, title: "no" }), waitForAnswer(id), toolUpdate(id, { status: "failed" })],
    tool: true,
    denied: true,
  };
};

const plan: Draw = () => ({
  name: "plan",
  actions: [update({ sessionUpdate: "plan", entries: [{ content: "look", status: "pending", priority: "medium" }] })],
  output: true,
});

const strangers: Draw = ({ newId }) => {
  const [request, question] = [newId(), newId()];
  return {
    name: "strangers",
    actions: [
      call("_foo/bar", {}, request),
      call("_foo/note", { sessionId: `child-${question}` }),
      permission(question, { id: question, sessionId: `child-${question}`, title: "no" }),
      waitForAnswer(request),
      waitForAnswer(question),
    ],
    denied: true,
  };
};

const odd: Draw = ({ random, tag }) => ({
  name: "odd lines",
  actions: [
    random.pick<Action>([
      { raw: "debug: not a frame\n", times: random.int(1, 3000) },
      { raw: '"a string"\n[1,2]\n42\nnull\n\n{}\n{"jsonrpc":"2.0"}\n' },
      // A frame that was torn: its beginning, and its end on a line of its own.
      { raw: `{"jsonrpc":"2.0","method":"session/upd\nate","params":{"sessionId":"$S","update":{"x":"${tag}"}}}\n` },
      { raw: '{"jsonrpc":"2.0","id":987654,"result":{"stopReason":"end_turn"}}\n' },
      { raw: '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"$S"}}\n' },
      send({ jsonrpc: "2.0", method: "session/update", params: null }),
      update({ sessionUpdate: "no_such_update", tag }),
    ]),
  ],
});

const floodOfStderr: Draw = ({ random }) => ({
  name: "stderr",
  actions: [{ stderr: `${"e".repeat(1023)}\n`, times: random.int(1, 300) }],
});

const pause: Draw = ({ random }) => ({ name: "pause", actions: [{ delayMs: random.int(1, 80) }] });

const aside: Draw = () => ({ name: "thought", actions: [thought("hm")] });

const PIECES: readonly (readonly [number, Draw])[] = [
  [6, text],
  [3, wholeTool],
  [3, slowText],
  [3, pause],
  [2, odd],
  [2, aside],
  [2, refusedTool],
  [2, strangers],
  [1, floodOfText],
  [1, floodOfStderr],
  [1, splitText],
  [1, plan],
];
/** Those that are neither output nor a tool: a prompt may be sent again after them. */
const QUIET: readonly (readonly [number, Draw])[] = [
  [2, pause],
  [2, odd],
  [1, aside],
  [1, floodOfStderr],
  [1, strangers],
];

/** Up to five pieces, or up to three that leave nothing to see. */
export function drawPieces(box: PieceBox, { quiet }: { quiet: boolean }): readonly Piece[] {
  const length = box.random.int(0, quiet ? 3 : 5);
  return Array.from({ length }, () => box.random.weighted(quiet ? QUIET : PIECES)(box));
}

/** A process of the agent's own, which outlives it unless it is ended. */
export function drawGrandchild({ random }: PieceBox): Piece {
  const grandchild = { detached: random.chance(0.6), ignoresSigterm: random.chance(0.5) };
  return { name: grandchild.detached ? "setsid grandchild" : "grandchild", actions: [{ grandchild }] };
}

/** A tool that asks, and waits for an answer that only the cancel brings. */
export function heldPermission({ newId }: PieceBox): Piece {
  const id = newId();
  return {
    name: "held permission",
    actions: [tool(id), permission(id, { id, title: "hold" }), waitForAnswer(id)],
    tool: true,
    holds: id,
  };
}
