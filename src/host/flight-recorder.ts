/**
 * The last frames of every agent, in memory, for a crash report. It listens to every frame, so it does next to nothing:
 * one slot is overwritten, and a frame itself is kept only when it is short.
 */
import type { FrameListener } from "../acp/ports.ts";

/** Frames per agent. */
const KEPT_FRAMES = 32;
/** Agents: a process that serves for months starts many. */
const KEPT_AGENTS = 16;
/** A longer frame is told by its method, ids and length alone. */
const MAX_FRAME_CHARS = 4096;

export interface RecordedFrame {
  dir: "in" | "out";
  atMs: number;
  chars: number;
  method: unknown;
  id: unknown;
  sessionId: unknown;
  /** Unredacted; absent when it was long. */
  frame: unknown;
}

interface Recording {
  readonly backend: string;
  /** A ring: the oldest stands at `count % KEPT_FRAMES` once it is full. */
  readonly slots: RecordedFrame[];
  count: number;
}

export class FlightRecorder {
  readonly #recordings: Recording[] = [];

  /** For the frames of one agent. The recordings of the agents started last are kept. */
  listen(backend: string): FrameListener {
    const recording: Recording = { backend, slots: [], count: 0 };
    this.#recordings.push(recording);
    if (this.#recordings.length > KEPT_AGENTS) this.#recordings.shift();
    return (dir, frame, chars) => {
      record(recording, dir, frame, chars);
    };
  }

  /** Per agent, the oldest frame first. */
  recorded(): { readonly backend: string; readonly frames: readonly RecordedFrame[] }[] {
    return this.#recordings.map(({ backend, slots, count }) => {
      const oldest = count % KEPT_FRAMES;
      return { backend, frames: count <= KEPT_FRAMES ? slots : [...slots.slice(oldest), ...slots.slice(0, oldest)] };
    });
  }
}

function record(recording: Recording, dir: "in" | "out", frame: unknown, chars: number): void {
  const at = recording.count++ % KEPT_FRAMES;
  const slot = (recording.slots[at] ??= emptySlot());
  slot.dir = dir;
  slot.atMs = Date.now();
  slot.chars = chars;
  slot.frame = chars <= MAX_FRAME_CHARS ? frame : undefined;
  const { method, id, params } = fieldsOf(frame);
  slot.method = method;
  slot.id = id;
  slot.sessionId = fieldsOf(params).sessionId;
}

interface FrameFields {
  readonly method?: unknown;
  readonly id?: unknown;
  readonly params?: unknown;
  readonly sessionId?: unknown;
}
const NOTHING: FrameFields = {};

function fieldsOf(value: unknown): FrameFields {
  return typeof value === "object" && value !== null ? value : NOTHING;
}

function emptySlot(): RecordedFrame {
  return {
    dir: "in",
    atMs: 0,
    chars: 0,
    method: undefined,
    id: undefined,
    sessionId: undefined,
    frame: undefined,
  };
}
