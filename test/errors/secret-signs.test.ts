import * as fc from "fast-check";
import { expect, test } from "vitest";
import { redactByRules, TOKEN_SHAPES } from "../../src/errors/redact.ts";
import { mayHoldSecret } from "../../src/errors/secret-signs.ts";
import { TOKENS } from "./secrets.ts";
import { PIECES } from "./secret-pieces.ts";

test.each([
  "the file passes its tests after this change",
  "API key not found, and the token limit is 5",
  '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0199c8a2-8c1f","update":{"sessionUpdate":"tool_call"}}}',
  "see https://docs.example/path?page=2 and /workspace/homes/x.ts",
  "npm install -g acme",
])("holds no secret, and costs no rule: %s", (text) => {
  expect(mayHoldSecret(text)).toBe(false);
});

test.each(Object.entries(TOKENS))("a token shows itself: %s", (_, token) => {
  expect(mayHoldSecret(`word ${token}`)).toBe(true);
  expect(mayHoldSecret(JSON.stringify(JSON.stringify(`\n${token}`)))).toBe(true);
});

test.each(TOKEN_SHAPES)("every token of this shape shows itself: %s", (shape) => {
  fc.assert(
    fc.property(fc.stringMatching(new RegExp(`^(?:${shape})$`)), (token) => {
      expect(mayHoldSecret(token)).toBe(true);
    }),
  );
});

test("a text without a sign is one that no rule changes", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }), (pieces) => {
      const text = pieces.join("");
      expect(mayHoldSecret(text) || redactByRules(text) === text).toBe(true);
    }),
    { numRuns: 5000 },
  );
});
