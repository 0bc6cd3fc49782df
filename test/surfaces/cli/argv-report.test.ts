import { expect, test } from "vitest";
import { withoutPrompt } from "../../../src/surfaces/cli/argv-report.ts";

test.each([
  { argv: ["ask", "tell", "me"], shown: ["ask", "[4 chars]", "[2 chars]"] },
  { argv: ["ask", "-m", "opus", "secret"], shown: ["ask", "-m", "opus", "[6 chars]"] },
  { argv: ["ask", "--json", "secret"], shown: ["ask", "--json", "[6 chars]"] },
  { argv: ["ask", "--model=opus", "secret"], shown: ["ask", "--model=opus", "[6 chars]"] },
  { argv: ["ask", "--agent", "--x y", "secret"], shown: ["ask", "--agent", "--x y", "[6 chars]"] },
  { argv: ["ask", "--", "--json", "-m", "x"], shown: ["ask", "--", "[6 chars]", "[2 chars]", "[1 chars]"] },
  { argv: ["ask", "-f", "-", "secret"], shown: ["ask", "-f", "-", "[6 chars]"] },
  { argv: ["doctor", "--smoke"], shown: ["doctor", "--smoke"] },
  { argv: ["what is this?"], shown: ["[13 chars]"] },
  { argv: [], shown: [] },
])("$argv", ({ argv, shown }) => {
  expect(withoutPrompt(argv)).toEqual(shown);
});
