#!/usr/bin/env node
// CommonJS without a declaration that an old Node could stumble over: a too old one is told so in one sentence.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  process.stderr.write(
    `ostler: Node ${process.versions.node} is too old: Ostler needs Node 24 or newer. Install it and try again.\n`,
  );
  process.exit(2);
}
require("node:module").enableCompileCache();
require("../dist/cli/ostler.cjs");
