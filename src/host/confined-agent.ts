/**
 * What an agent under confinement is given besides: the tools by which it declares what it expects and says what became
 * of its failures. Only a run whose confinement was proved has them.
 */
import { realpathSync } from "node:fs";
import type { PermissionPolicy } from "../acp/ports.ts";
import { isObject } from "../acp/frames.ts";
import { AgentTools } from "./agent-tools/agent-tools.ts";
import { allowingOwnTools } from "./agent-tools/own-server-policy.ts";
import { OWN_SERVER } from "./agent-tools/tool-list.ts";
import { proveConfinement } from "./confinement.ts";
import type { Confinement, ConfinementOptions } from "./confinement.ts";
import type { Conversation } from "./conversation.ts";
import type { ConversationRun } from "./conversation-run.ts";
import type { Paths } from "./paths.ts";
import { UsageError } from "./usage-error.ts";

export type TrustedConfinement = Extract<Confinement, { trusted: true }>;

export interface ConfinedAgentOptions {
  readonly paths: Paths;
  readonly run: ConversationRun;
  readonly confinement: TrustedConfinement;
  /** Of the session, absolute. */
  readonly cwd: string;
  /** The user's own, in ACP's form. */
  readonly mcpServers: readonly unknown[];
  /** The agent's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly permissions: PermissionPolicy;
  /** Undefined before it is open. */
  readonly conversation: () => Conversation | undefined;
}

/** The tools, and the policy of whoever has them. */
export interface ConfinedTools extends Pick<AgentTools, "mcpServers" | "endCommands" | "close"> {
  /** The policy with a yes to calls of these very tools: `run` asks it about its command itself. */
  allowing(policy: PermissionPolicy): PermissionPolicy;
}

/** As `proveConfinement`; when it fails the agent runs all the same, untrusted, and `say` gets a sentence about it. */
export async function proveOrSay(
  options: ConfinementOptions,
  say: ((sentence: string) => void) | undefined,
): Promise<Confinement> {
  const confinement = await proveConfinement(options);
  if (!confinement.trusted)
    say?.(`The agent is not confined, so what it declares about its failures is not believed: ${confinement.because}`);
  return confinement;
}

/**
 * Keeps the run from now on, and gives its agent the tools. They listen from the first call of `mcpServers` on; whoever
 * opened them closes them before the run. Throws UsageError when a server of the user has their name.
 */
export async function openAgentTools(options: ConfinedAgentOptions): Promise<ConfinedTools> {
  const { run, confinement, conversation, mcpServers, ...facts } = options;
  refuseOwnName(mcpServers);
  // Before the agent starts: what says that the run is trusted must be out of its reach from the first moment on.
  await run.keep();
  const tools = new AgentTools({
    ...facts,
    cwd: realpathSync(facts.cwd),
    confine: confinement.confine,
    emit: (event) => {
      run.note(event);
      if (event.type === "call" && event.state === "started") conversation()?.ranTool();
    },
    isSpent: (attemptId) => run.isSpent(attemptId),
    dispose: (call) => run.dispose({ ...call, sessionId: conversation()?.session.id ?? "" }),
  });
  return {
    mcpServers: (capabilities) => tools.mcpServers(capabilities),
    endCommands: () => tools.endCommands(),
    close: () => tools.close(),
    allowing: allowingOwnTools,
  };
}

/** Two servers of one name: nobody could tell whose tool a call is for. */
function refuseOwnName(servers: readonly unknown[]): void {
  const isTaken = servers.some((server) => isObject(server) && server["name"] === OWN_SERVER);
  if (!isTaken) return;
  throw new UsageError(`A confined agent has an MCP server "${OWN_SERVER}" already; give yours another name`);
}
