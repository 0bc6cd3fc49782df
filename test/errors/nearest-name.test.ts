import { expect, test } from "vitest";
import { nearestName } from "../../src/errors/nearest-name.ts";

const names = ["approve", "backends", "command", "env", "idleS", "defaultBackend"];

test.each([
  { from: "a dropped letter", word: "aprove", near: "approve" },
  { from: "two swapped letters", word: "idelS", near: "idleS" },
  { from: "another case", word: "DEFAULTBACKEND", near: "defaultBackend" },
  { from: "the singular", word: "backend", near: "backends" },
  { from: "a word of its own that looks like a setting", word: "comment", near: undefined },
  { from: "a short word that shares two letters", word: "end", near: "env" },
  { from: "nothing in common", word: "colour", near: undefined },
  { from: "an empty key", word: "", near: undefined },
  { from: "a very long key", word: "approve".repeat(10_000), near: undefined },
])("$from: $near", ({ word, near }) => {
  expect(nearestName(word, names)).toBe(near);
});
