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
const bundle = require.resolve("../dist/cli/ostler.cjs");
// The run of another command would leave a cache that does not help the next `ask`.
if (process.argv[2] === "ask" && !process.env.NODE_DISABLE_COMPILE_CACHE) require("./warm-start.js").runWarm(bundle);
else require(bundle);
