/** What an agent does with one prompt, drawn at random, and how the turn must end if nobody disturbs it. */
import type { FailureKind } from "../../src/errors/failure.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { call, chunk, end, err, reply, send } from "../fixtures/agents/scenario.ts";
import type { Piece, PieceBox } from "./pieces.ts";
import { drawGrandchild, drawPieces, heldPermission, linesOf } from "./pieces.ts";

/** How a turn may end: its outcome, and of a failure the kind. */
export type Ending = "completed" | "refused" | "truncated" | "empty" | "cancelled" | `failed/${FailureKind}`;

/** The n-th list is played when the prompt arrives for the n-th time. */
export interface AgentTurn {
  /** For people. */
  readonly story: string;
  readonly tries: readonly (readonly Action[])[];
  readonly endings: readonly Ending[];
  /** How often the prompt reaches the agent. */
  readonly prompts: number;
  /** The answer of each try, as far as it comes. */
  readonly texts: readonly string[];
  /** Only a deadline or a cancel ends it. */
  readonly silent: boolean;
  /** The process does not survive it: how the turns of its other sessions may end then. */
  readonly lethal: readonly Ending[];
  /** Needs a process of its own, for it garbles what others say. */
  readonly alone: boolean;
  /** The request that stays open until the cancel. */
  readonly holds?: string;
  /** A permission is asked for and denied. */
  readonly denied: boolean;
}

/** The last thing that the agent does with a prompt. */
interface Close {
  readonly name: string;
  readonly actions: readonly Action[];
  /** By what was shown before it. */
  readonly ending: (seen: Seen) => Ending;
  readonly silent?: true;
  readonly lethal?: true;
  readonly alone?: true;
}

/** `nothing`: the prompt may be sent again after a transient error. */
type Seen = "nothing" | "output";

const always = (ending: Ending) => (): Ending => ending;
const isAnswered = (seen: Seen): Ending => (seen === "output" ? "completed" : "empty");

/** HTTP statuses as JSON-RPC errors, and the kind that the contract gives them. */
const ERRORS: readonly (readonly [message: string, kind: FailureKind, transient: boolean])[] = [
  ["HTTP 503", "service_error", true],
  ["HTTP 503: overloaded", "overloaded", true],
  ["429, retry-after: 0.05", "rate_limit", true],
  ["HTTP 402", "usage_limit", false],
  ["HTTP 401", "auth", false],
  ["HTTP 413", "request_rejected", false],
  ["no row knows this", "unknown", false],
];
const TRANSIENT: ReadonlySet<Ending> = new Set(
  ERRORS.flatMap(([, kind, transient]) => (transient ? [`failed/${kind}` as const] : [])),
);

const answers = (name: string, action: Action, ending: Close["ending"]): Close => ({ name, actions: [action], ending });
const dies = (name: string, ...actions: readonly Action[]): Close => ({
  name,
  actions,
  ending: always("failed/agent_died"),
  lethal: true,
});
const isMute = (name: string, ...actions: readonly Action[]): Close => ({
  name,
  actions,
  ending: always("failed/timeout"),
  silent: true,
});

const CANCEL: Action = { wait: { method: "session/cancel", ofSession: true } };
const NEVER: Action = { wait: { responseTo: "never" } };
/** Over the bound of a line, in one write. */
const OVERSIZE_BYTES = 400_000;

function drawClose({ random, tag }: PieceBox): Close {
  const [message, kind] = random.pick(ERRORS);
  return random.weighted<Close>([
    [14, answers("ends", end(), isAnswered)],
    [2, answers("ends without a reason", reply({}), isAnswered)],
    [3, answers("ends, then talks on", { raw: linesOf(end(), chunk(`late ${tag}`)) }, isAnswered)],
    [1, answers("answers twice", { ...end(), times: 2 }, isAnswered)],
    [2, answers("refuses", end("refusal"), always("refused"))],
    [2, answers("is cut", end("max_tokens"), always("truncated"))],
    [1, answers("cancels by itself", end("cancelled"), always("cancelled"))],
    [1, answers("ends oddly", end("surprise"), always("failed/unknown"))],
    [5, answers(message, err(-32603, message), always(`failed/${kind}`))],
    [1, dies("exits 0", { exit: 0 })],
    [1, dies("exits 3", { stderr: "panic: boom\n" }, { exit: 3 })],
    [1, dies("kills itself", { kill: random.pick(["SIGKILL", "SIGSEGV"] as const) })],
    [1, dies("dies within a frame", { raw: '{"jsonrpc":"2.0","id":"$P","result":{"stopR' }, { exit: 0 })],
    [
      1,
      dies(
        "dies and leaves stdout open",
        { grandchild: { detached: random.chance(0.5), keepsStdout: true, ignoresSigterm: random.chance(0.5) } },
        { exit: random.int(1, 5) },
      ),
    ],
    [1, dies("closes stdout", { ignoreStdinEnd: true }, { closeStdout: true })],
    [1, { ...dies("oversize", { fill: OVERSIZE_BYTES }), ending: always("failed/protocol"), alone: true }],
    [1, { ...dies("echoes", call("initialize", {}, "echo")), ending: always("failed/protocol") }],
    [2, isMute("falls silent", NEVER)],
    [2, isMute("waits for the cancel", CANCEL, { delayMs: random.int(0, 30) }, end("cancelled"))],
    [1, isMute("ends in spite of the cancel", CANCEL, end())],
    [1, isMute("fails at the cancel", CANCEL, err(-32603, "HTTP 503"))],
    [1, { ...isMute("dies at the cancel", CANCEL, { kill: "SIGKILL" }), lethal: true }],
    [1, { ...isMute("closes stdin", { closeStdin: true }), lethal: true, alone: true }],
    [1, { ...isMute("stops within a frame", { raw: '{"jsonrpc":"2.0","id":"$P","resu' }), alone: true }],
    [1, isMute("answers another request", send({ jsonrpc: "2.0", id: 424242, result: { stopReason: "end_turn" } }))],
  ]);
}

/** One that is never over by itself: whatever ends it, cuts it. */
export function endlessTurn({ newId }: PieceBox): AgentTurn {
  const text = `${newId()} `;
  return {
    story: "text, falls silent",
    tries: [[chunk(text), NEVER]],
    endings: [],
    prompts: 1,
    texts: [text],
    silent: true,
    lethal: [],
    alone: false,
    denied: false,
  };
}

/** Draws until a try is the last word: `retries` more after a transient error, one of them for an empty end. */
export function drawAgentTurn(box: PieceBox, retries: number): AgentTurn {
  const tries: (readonly Action[])[] = [];
  const texts: string[] = [];
  const story: string[] = [];
  let alone = false;
  let denied = false;
  let emptyTries = 0;
  for (;;) {
    const pieces: Piece[] = [...drawPieces(box, { quiet: box.random.chance(0.3) })];
    if (box.random.chance(0.12)) pieces.push(drawGrandchild(box));
    const close = drawClose(box);
    const held = close.silent === true && box.random.chance(0.3) ? heldPermission(box) : undefined;
    if (held !== undefined) pieces.push(held);
    const text = pieces.map((piece) => piece.text ?? "").join("");
    const seen = text !== "" || pieces.some((piece) => piece.output || piece.tool) ? "output" : "nothing";
    const ending = close.ending(seen);
    tries.push([...pieces.flatMap(({ actions }) => actions), ...close.actions]);
    texts.push(text);
    story.push([...pieces, close].map(({ name }) => name).join(", "));
    alone ||= close.alone === true || pieces.some((piece) => piece.alone);
    denied ||= pieces.some((piece) => piece.denied || piece.holds !== undefined);
    const isEmpty = ending === "empty";
    const again = (isEmpty && emptyTries === 0) || (TRANSIENT.has(ending) && seen === "nothing");
    if (isEmpty) emptyTries += 1;
    if (again && tries.length <= retries) continue;
    return {
      story: story.join(" | "),
      tries,
      endings: [ending],
      prompts: tries.length,
      texts,
      silent: close.silent === true,
      lethal: close.lethal !== true ? [] : [ending === "failed/protocol" ? ending : "failed/agent_died"],
      alone,
      denied,
      ...(held?.holds !== undefined && { holds: held.holds }),
    };
  }
}
