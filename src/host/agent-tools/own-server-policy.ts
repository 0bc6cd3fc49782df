/**
 * A harness asks before it calls a tool of an MCP server, also one of ours. `run` puts its command to the policy itself
 * and `failure_disposition` only writes a record, so that question is answered here; it would be the same one twice.
 */
import type { PermissionPolicy } from "../../acp/ports.ts";
import { OWN_SERVER } from "./tool-list.ts";

/** The policy, with a yes for tools of our own server. Only for a run that was given that server. */
export function allowingOwnTools(policy: PermissionPolicy): PermissionPolicy {
  return (request, signal) => {
    const { isQuestion, mcpServer, claimed, options } = request;
    const isOwn = mcpServer === OWN_SERVER && (claimed?.mcpServer ?? OWN_SERVER) === OWN_SERVER;
    const once = options.find(({ kind }) => kind === "allow_once");
    if (!isOwn || isQuestion || once === undefined) return policy(request, signal);
    return Promise.resolve({ action: "select", optionId: once.optionId, denied: false });
  };
}
