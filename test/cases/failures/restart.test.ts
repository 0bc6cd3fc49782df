import { describe, expect, test } from "vitest";
import { COUNTED_ANEW_ROWS, LATER_PROCESS_ROWS, ONE_SHOT_ROWS, SHAPE_ROWS } from "./restart-rows.ts";
import { expectedOf, seeCase } from "./see-case.ts";

describe.each([
  { what: "an agent that counts its calls anew in every process", rows: COUNTED_ANEW_ROWS },
  { what: "later processes", rows: LATER_PROCESS_ROWS },
  { what: "calls that are told in other ways", rows: SHAPE_ROWS },
  { what: "one ask without a session", rows: ONE_SHOT_ROWS },
])("$what", ({ rows }) => {
  test.concurrent.each(rows)("$name", async (row) => {
    expect(await seeCase(row)).toEqual(expectedOf(row));
  });
});
