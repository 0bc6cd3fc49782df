import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import type { CommandLine } from "../acp/ports.ts";
import type { Paths } from "./paths.ts";

/** Where the demo agent lies from this module: in the bundle of the command, from the library, in the sources. */
const PLACES = ["./demo-agent.js", "../cli/demo-agent.js", "../backends/demo/agent.ts"];

/** The demo agent of this package, run by the Node that runs us; it keeps its sessions in the state folder. */
export function demoCommand(paths: Paths): CommandLine {
  const files = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const agent = files.find((file) => existsSync(file)) ?? files[0]!;
  return { file: process.execPath, args: [agent, `--sessions=${join(paths.state, "demo")}`] };
}
