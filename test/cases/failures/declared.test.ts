import { expect, test } from "vitest";
import { DECLARED_ROWS } from "./declared-rows.ts";
import { expectedOf, seeCase } from "./see-case.ts";

test.concurrent.each(DECLARED_ROWS)("failure observations, case $number: $name", async (row) => {
  expect(await seeCase(row)).toEqual(expectedOf(row));
});
