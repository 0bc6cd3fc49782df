import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { BatchedOutput } from "../../../src/surfaces/cli/output.ts";

/** A stream whose writes end when the test says so. */
class Gate extends Writable {
  readonly writes: string[] = [];
  readonly #done: ((error?: Error) => void)[] = [];
  constructor() {
    super({ decodeStrings: false, highWaterMark: 1 });
  }
  override _write(chunk: string, _encoding: string, done: (error?: Error) => void): void {
    this.writes.push(chunk);
    this.#done.push(done);
  }
  open(error?: Error): void {
    for (const done of this.#done.splice(0)) done(error);
  }
}

test("what comes in one turn of the loop is written at once", async () => {
  const gate = new Gate();
  const output = new BatchedOutput(gate);
  for (const text of ["a", "b", "c"]) output.write(text);
  expect(gate.writes).toEqual([]);
  await new Promise(setImmediate);
  expect(gate.writes).toEqual(["abc"]);
});

test("a reader that is behind is waited for, and nothing is lost or reordered", async () => {
  const gate = new Gate();
  const output = new BatchedOutput(gate);
  expect(output.drained).toBeUndefined();
  output.write("a");
  output.flush();
  output.write("b");
  output.flush();
  const { drained } = output;
  expect(drained).toBeInstanceOf(Promise);
  expect(gate.writes).toEqual(["a"]);
  gate.open();
  await new Promise(setImmediate);
  expect(gate.writes).toEqual(["a", "b"]);
  gate.open();
  await drained;
  expect(output.drained).toBeUndefined();
});

test("finish resolves when the last write has ended", async () => {
  const gate = new Gate();
  const output = new BatchedOutput(gate);
  output.write("a");
  let finished = false;
  const done = output.finish().then(() => (finished = true));
  await new Promise(setImmediate);
  expect(finished).toBe(false);
  gate.open();
  await new Promise(setImmediate);
  gate.open();
  await done;
  expect(gate.writes.join("")).toBe("a");
});

test("a reader that left is said once, and ends all waiting", async () => {
  const gate = new Gate();
  const broken: (string | undefined)[] = [];
  const output = new BatchedOutput(gate, ({ code }) => broken.push(code));
  output.write("a");
  output.flush();
  const { drained } = output;
  gate.open(Object.assign(new Error("gone"), { code: "EPIPE" }));
  await drained;
  output.write("b");
  await output.finish();
  expect(broken).toEqual(["EPIPE"]);
  expect(gate.writes).toEqual(["a"]);
});
