import { expect, test } from "vitest";
import { RETRY_ROWS } from "./retry-rows.ts";
import { expectedOf, seeCase } from "./see-case.ts";

test.concurrent.each(RETRY_ROWS)("failure observations, case $number: $name", async (row) => {
  expect(await seeCase(row)).toEqual(expectedOf(row));
});
