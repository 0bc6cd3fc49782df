import { expect, test } from "vitest";
import { COUNTED_ANEW_ROWS } from "./restart-rows.ts";
import { expectedOf, seeCase } from "./see-case.ts";

test.concurrent.each(COUNTED_ANEW_ROWS)("$name", async (row) => {
  expect(await seeCase(row)).toEqual(expectedOf(row));
});
