/** A proxy that lets nothing through and remembers who was asked for: proof that a run stays on 127.0.0.1. */
import { once } from "node:events";
import { createServer } from "node:http";

export interface OutboundGuard extends AsyncDisposable {
  readonly url: string;
  /** Hosts that somebody wanted to reach, in order. */
  readonly attempts: readonly string[];
}

/** Starts the proxy on a free port of 127.0.0.1. */
export async function startOutboundGuard(): Promise<OutboundGuard> {
  const attempts: string[] = [];
  const server = createServer((request, response) => {
    attempts.push(request.url ?? "");
    response.writeHead(403).end();
  });
  server.on("connect", (request, socket) => {
    attempts.push(request.url ?? "");
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy does not listen on a port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    attempts,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
