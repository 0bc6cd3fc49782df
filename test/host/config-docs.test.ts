import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderConfigDocs } from "../../scripts/generate-config-docs.ts";
import { DEFAULT_CONFIG } from "../../src/host/config-defaults.ts";
import { configJsonSchema, configSchema } from "../../src/host/config-schema.ts";

const page = readFileSync(new URL("../../docs/config.md", import.meta.url), "utf8");

test("docs/config.md is what its script writes", () => {
  expect(page, "run: node scripts/generate-config-docs.ts").toBe(renderConfigDocs());
});

test("every number has its row with range and default", () => {
  expect(page).toMatch(/\| `idleS` +\| number, 0\.1 to 86400 +\| `300` +\|/);
  expect(page).toMatch(/\| `lineBytes` +\| whole number, 65536 to 268435456 +\| `67108864` +\|/);
  expect(page).toMatch(/\| `approve` +\| `all`, `reads`, `none` +\| `"reads"` +\|/);
});

test("the example of the page is a valid configuration", () => {
  const example = /```json\n(.*?)```/s.exec(page)?.[1] ?? "";
  expect(configSchema.safeParse(JSON.parse(example))).toMatchObject({ success: true });
});

test("the defaults are valid and stand in the published schema", () => {
  const { backends, ...rest } = DEFAULT_CONFIG;
  expect(configSchema.parse(rest)).toEqual(rest);
  const schema = JSON.stringify(configJsonSchema());
  expect(JSON.parse(schema)).toMatchObject({
    properties: {
      approve: { default: "reads" },
      timeouts: { properties: { turnS: { default: 7200 } }, additionalProperties: false },
      $schema: { type: "string" },
    },
    additionalProperties: false,
  });
  expect(backends).toEqual({});
});
