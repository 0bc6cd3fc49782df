import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/harness/**", "test/chaos/**"],
          // Against a hang alone: real processes take ten times as long on a busy machine. Shorter than the clocks of tests
          // in which none may strike.
          testTimeout: 45_000,
          hookTimeout: 45_000,
        },
      },
      {
        test: {
          name: "chaos",
          include: ["test/chaos/**/*.test.ts"],
          globalSetup: ["test/chaos/global-setup.ts"],
          // Each file watches what its process holds, and keeps both cores busy.
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "harness",
          include: ["test/harness/**/*.test.ts"],
          globalSetup: ["test/harness/global-setup.ts"],
          // One file per harness: two runs at a time, so that the adapters get a core each.
          maxWorkers: 2,
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
