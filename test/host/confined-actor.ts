/** Stands in for an Ostler that is killed: starts a confined agent with a process of its own, and says who they are. */
import { createRuntime } from "../../src/acp/runtime.ts";
import { descendantsOf } from "../../src/acp/processes.ts";
import type { ProcessIdentity } from "../../src/acp/processes.ts";
import { backendFor } from "../../src/backends/registry.ts";
import type { CommandLine } from "../../src/acp/ports.ts";

const [order = "{}"] = process.argv.slice(2);
const { command, cwd }: { readonly command: CommandLine; readonly cwd: string } = JSON.parse(order);
const leaders: ProcessIdentity[] = [];
const runtime = await createRuntime({
  backend: backendFor("scripted"),
  command,
  cwd,
  env: { PATH: process.env["PATH"] ?? "" },
  ledger: { started: ({ pid, startedAt }) => void leaders.push({ pid, startedAt }), ended: () => {} },
});
const session = await runtime.openSession({ cwd });
for await (const event of session.prompt("hello").events) {
  if (event.type !== "text") continue;
  const [leader] = leaders;
  if (leader !== undefined) console.log(JSON.stringify([leader, ...descendantsOf(leader.pid)]));
}
