/**
 * Builds `dist`: the library as tsc writes it, and the CLI and the demo agent as bundles under `dist/cli` (one file read
 * at start instead of fifty: see docs/performance.md). Rare commands stay in chunks of their own.
 */
import { rmSync } from "node:fs";
import { execa } from "execa";
import { rolldown } from "rolldown";

const root = new URL("..", import.meta.url).pathname;

rmSync(`${root}dist`, { recursive: true, force: true });
await execa("tsc", ["-p", "tsconfig.build.json"], { cwd: root, preferLocal: true, stdio: "inherit" });

const bundle = await rolldown({
  input: { ostler: `${root}src/surfaces/cli/ostler.ts`, "demo-agent": `${root}src/backends/demo/agent.ts` },
  platform: "node",
  cwd: root,
});
await bundle.write({ dir: `${root}dist/cli`, format: "esm", minify: true, chunkFileNames: "[name]-[hash].js" });
await bundle.close();
