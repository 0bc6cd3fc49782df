import { expect, test } from "vitest";
import { FlightRecorder } from "../../src/host/flight-recorder.ts";

const frame = (id: number) => ({ jsonrpc: "2.0", id, method: "m", params: { sessionId: "s1" } });

test("the last 32 frames, the oldest first", () => {
  const recorder = new FlightRecorder();
  const listen = recorder.listen("codex");
  for (let id = 1; id <= 50; id += 1) listen(id % 2 === 0 ? "in" : "out", frame(id), 60);
  const [{ backend, frames } = { backend: "", frames: [] }] = recorder.recorded();
  expect(backend).toBe("codex");
  expect(frames.map(({ id }) => id)).toEqual(Array.from({ length: 32 }, (_, at) => at + 19));
  expect(frames[0]).toMatchObject({ dir: "out", chars: 60, method: "m", sessionId: "s1", frame: frame(19) });
});

test("fewer frames than slots", () => {
  const recorder = new FlightRecorder();
  const listen = recorder.listen("codex");
  for (const id of [1, 2, 3]) listen("in", frame(id), 60);
  expect(recorder.recorded()[0]?.frames.map(({ id }) => id)).toEqual([1, 2, 3]);
});

test("a long frame is not kept, and its slot keeps nothing of the frame before", () => {
  const recorder = new FlightRecorder();
  const listen = recorder.listen("codex");
  for (let id = 1; id <= 32; id += 1) listen("in", frame(id), 60);
  listen("in", { id: 33, result: "x".repeat(5000) }, 5020);
  expect(recorder.recorded()[0]?.frames.at(-1)).toMatchObject({
    id: 33,
    chars: 5020,
    method: undefined,
    sessionId: undefined,
    frame: undefined,
  });
});

test.each([null, "text", 7, { params: null }, { params: "x" }])("a frame that is none: %j", (odd) => {
  const recorder = new FlightRecorder();
  recorder.listen("codex")("out", odd, 4);
  expect(recorder.recorded()[0]?.frames).toMatchObject([{ method: undefined, id: undefined, frame: odd }]);
});

test("of many agents the ones started last are kept", () => {
  const recorder = new FlightRecorder();
  for (let agent = 0; agent < 200; agent += 1) recorder.listen(`agent ${agent}`)("in", frame(agent), 60);
  const kept = recorder.recorded().map(({ backend }) => backend);
  expect({ count: kept.length, first: kept[0], last: kept.at(-1) }).toEqual({
    count: 16,
    first: "agent 184",
    last: "agent 199",
  });
});
