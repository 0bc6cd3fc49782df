import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CommandLine } from "../acp/ports.ts";

/** Where the demo agent lies from this module: in the bundle of the command, from the library, in the sources. */
const PLACES = ["./demo-agent.js", "../cli/demo-agent.js", "../backends/demo/agent.ts"];

/** The demo agent of this package, run by the Node that runs us. */
export function demoCommand(): CommandLine {
  const files = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return { file: process.execPath, args: [files.find((file) => existsSync(file)) ?? files[0]!] };
}
