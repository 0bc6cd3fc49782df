#!/usr/bin/env node
// Runs under any Node, so that a too old one is told so in one sentence instead of a syntax error: no static import.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  process.stderr.write(
    `ostler: Node ${process.versions.node} is too old: Ostler needs Node 24 or newer. Install it and try again.\n`,
  );
  process.exit(2);
}
const { enableCompileCache } = await import("node:module");
enableCompileCache();
await import("../dist/cli/ostler.js");
