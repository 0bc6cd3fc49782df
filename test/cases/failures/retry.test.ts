import { test } from "vitest";
import { checkCase } from "./check-case.ts";
import { RETRY_ROWS } from "./retry-rows.ts";

test.concurrent.each(RETRY_ROWS)("failure observations, case $number: $name", checkCase);
