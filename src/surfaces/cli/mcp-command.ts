/**
 * `ostler mcp --socket PATH`: what an agent starts to reach the tools of its run, where it takes MCP servers on stdio
 * alone. It passes bytes and understands none of them. Not in the help: nobody types it.
 */
import { once } from "node:events";
import { connect } from "node:net";
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
  try {
    await once(socket, "connect");
  } catch (error) {
    throw new UsageError("The tools cannot be reached: the run that they belong to is over", { cause: error });
  } finally {
    address[Symbol.dispose]();
  }
  const hungUp = new Promise((resolve) => void socket.once("close", resolve));
  for (const end of [socket, stdout]) end.on("error", () => socket.destroy());
  socket.write(`${token}\n`);
  stdin.open().pipe(socket).pipe(stdout, { end: false });
  await hungUp;
  return EXIT.completed;
}
