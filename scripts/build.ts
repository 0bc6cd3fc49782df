/**
 * Builds `dist`: the library as tsc writes it, and under `dist/cli` the command and the demo agent as bundles. What `ask`
 * needs is one CommonJS file, because at start a file costs more than its code and an ES module costs twice a CommonJS
 * one (docs/performance.md); rare commands stay in chunks of their own.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { execa } from "execa";
import { rolldown } from "rolldown";
import type { RolldownOutput } from "rolldown";
import { configJsonSchema } from "../src/host/config-schema.ts";

const root = new URL("..", import.meta.url).pathname;
const dist = `${root}dist`;

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
await Promise.all([buildLibrary(), buildCommand(), buildDemoAgent()]);
// What the compiler wrote may not be what was meant: a library that cannot be loaded is not built.
await import(`${dist}/index.js`);
writeFileSync(`${dist}/config.schema.json`, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);

async function buildLibrary(): Promise<void> {
  await execa("tsc", ["-p", "tsconfig.build.json"], { cwd: root, preferLocal: true, stdio: "inherit" });
}

async function buildCommand(): Promise<void> {
  await using bundle = await rolldown({
    input: { ostler: `${root}src/surfaces/cli/ostler.ts` },
    platform: "node",
    cwd: root,
    // yargs reads `import.meta` only to extend a config file, which Ostler does not do.
    transform: { define: { "import.meta.resolve": "undefined" } },
  });
  const hot = staticModules(await bundle.generate({ format: "cjs" }));
  await bundle.write({
    dir: `${dist}/cli`,
    format: "cjs",
    minify: true,
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    codeSplitting: { groups: [{ name: "hot", test: (id) => hot.has(id) }] },
  });
}

async function buildDemoAgent(): Promise<void> {
  await using bundle = await rolldown({
    input: { "demo-agent": `${root}src/backends/demo/agent.ts` },
    platform: "node",
    cwd: root,
  });
  await bundle.write({ dir: `${dist}/cli`, format: "esm", minify: true });
}

/** The modules that the entry reaches without a dynamic import. */
function staticModules({ output }: RolldownOutput): ReadonlySet<string> {
  const chunks = new Map(output.flatMap((chunk) => (chunk.type === "chunk" ? [[chunk.fileName, chunk] as const] : [])));
  const reached = [...chunks.values()].filter((chunk) => chunk.isEntry);
  for (const chunk of reached) {
    for (const name of chunk.imports) {
      const imported = chunks.get(name);
      if (imported !== undefined && !reached.includes(imported)) reached.push(imported);
    }
  }
  return new Set(reached.flatMap((chunk) => chunk.moduleIds));
}
