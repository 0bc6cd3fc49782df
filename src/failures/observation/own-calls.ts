/**
 * Calls of Ostler's own MCP server. The supervisor sees them first-hand and says so in the log; what the
 * harness tells of the same calls is not counted twice (failure observations, section 5.6).
 */
import { isObject } from "../../acp/frames.ts";
import type { Attempt } from "./attempt.ts";

/** The name of the server in `session/new`. */
export const OWN_SERVER = "ostler";
/** `mcp__ostler__run` (claude), `@ostler/run` (kiro), `run`. */
const OWN_TOOL = /(?:^|__|\/)(run|failure_disposition)$/;
/** Calls that the harness has not told the end of; it never leaves so many open. */
const MAX_UNMATCHED = 1000;

export type OwnTool = "run" | "failure_disposition";

export class OwnCalls {
  readonly #unmatched: string[] = [];

  /** The supervisor served a call. */
  served(tool: OwnTool, input: unknown): void {
    this.#unmatched.push(callKey(tool, input));
    if (this.#unmatched.length > MAX_UNMATCHED) this.#unmatched.shift();
  }

  /**
   * The harness tells the end of a call of the server. True when the supervisor served it, or when it went well; a failure
   * without one is the harness's own: it did not let the call through.
   */
  isKnown(attempt: Attempt, tool: OwnTool, status: unknown): boolean {
    const at = this.#unmatched.indexOf(callKey(tool, argumentsIn(attempt.input)));
    if (at >= 0) this.#unmatched.splice(at, 1);
    return at >= 0 || status === "completed";
  }
}

/** Which tool of Ostler's own server the attempt is a call of; undefined for all others. */
export function ownToolOf({ server, harnessName, name, input }: Attempt): OwnTool | undefined {
  if (server !== OWN_SERVER) return undefined;
  const said = [harnessName, name, isObject(input) ? input["tool"] : undefined];
  for (const word of said) {
    const tool = typeof word === "string" ? OWN_TOOL.exec(word)?.[1] : undefined;
    if (tool === "run" || tool === "failure_disposition") return tool;
  }
  return undefined;
}

/** codex puts them one level down, beside the names of server and tool. */
function argumentsIn(input: unknown): unknown {
  return isObject(input) && isObject(input["arguments"]) ? input["arguments"] : input;
}

/** Calls are told apart by their command: other arguments may be filled in or left out on the way. */
function callKey(tool: OwnTool, input: unknown): string {
  return tool === "run" && isObject(input) ? `run ${String(input["command"])}` : tool;
}
