/**
 * `ostler mcp --socket PATH`: what an agent starts to reach the tools of its run, where it takes MCP servers on stdio
 * alone. It passes bytes and understands none of them. Not in the help: nobody types it.
 */
import { connect } from "node:net";
import { pipeline } from "node:stream/promises";
import { EXIT } from "../../errors/kinds.ts";
import { connectAddress } from "../../host/owner-socket.ts";
import { UsageError } from "../../host/usage-error.ts";
import type { Io } from "./io.ts";

const TOKEN_VARIABLE = "OSTLER_MCP_TOKEN";

/** Ends when the run hangs up, which it also does when the agent has nothing more to say. */
export async function mcp(argv: readonly string[], { stdin, stdout, env }: Io): Promise<number> {
  const [flag, path, ...more] = argv;
  const token = env[TOKEN_VARIABLE];
  if (flag !== "--socket" || path === undefined || more.length > 0 || token === undefined)
    throw new UsageError("ostler mcp is started by agents alone, with the socket and the token of their run");
  const address = connectAddress(path);
  const socket = connect(address.path);
  socket.write(`${token}\n`);
  try {
    // What is wrong with the socket is told by the other way.
    void pipeline(stdin.open(), socket).catch(() => {});
    await pipeline(socket, stdout);
    return EXIT.completed;
  } catch (error) {
    throw new UsageError("The tools cannot be reached: the run that they belong to is over", { cause: error });
  } finally {
    socket.destroy();
    address[Symbol.dispose]();
  }
}
