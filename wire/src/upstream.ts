import { buildConnector, Pool } from "undici";

export interface UpstreamOptions {
  /** Limit on TCP and TLS together, in milliseconds. */
  connectMs: number;
  /** How long an idle connection is kept, in milliseconds; below the 5 s after which many engines close theirs. */
  keepAliveMs?: number;
}

/**
 * The connections to one upstream: as many as there are requests at once, one request on each, no time-outs of the
 * client's own but the connect one (an Exchange keeps the others). Redirects are not followed.
 */
export function createUpstream(origin: string, options: UpstreamOptions): Pool {
  const connect = buildConnector({ timeout: options.connectMs, keepAlive: true, keepAliveInitialDelay: 30_000 });
  return new Pool(origin, {
    connections: null,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: options.keepAliveMs ?? 4_000,
    connect(target, callback) {
      connect(target, (...result) => {
        const socket = result[1];
        // A plain ECONNRESET does not say whether its connection had been used; this listener runs first and does.
        socket?.on("error", (error: Error & { socket?: object }) => {
          error.socket ??= { bytesRead: socket.bytesRead };
        });
        callback(...result);
      });
    },
  });
}
