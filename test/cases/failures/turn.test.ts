import { expect, test } from "vitest";
import { TURN_ROWS } from "./turn-rows.ts";
import { expectedOf, seeCase } from "./see-case.ts";

test.concurrent.each(TURN_ROWS)("failure observations, case $number: $name", async (row) => {
  expect(await seeCase(row)).toEqual(expectedOf(row));
});
