import { Cluster, Redis, type RedisOptions } from "ioredis";
import type { RedisAddress } from "./redis-address.ts";

export type Connection = Redis | Cluster;

export interface ConnectionOptions {
  address: RedisAddress;
  /** Who may have signed its certificate, as PEM; null: whom this machine trusts. */
  ca: string | null;
  /** In `CLIENT LIST`. */
  name: string;
  /** Until it is connected, in milliseconds. */
  connectMs: number;
}

/** Between two tries to connect, in milliseconds: the first, and the longest. All are back well within `settleMs`. */
const SOONEST_MS = 50;
const LATEST_MS = 400;

/**
 * A connection that comes back by itself, for ever. Commands fail at once while it is away, and those under way fail
 * with it: whoever sent them knows best what is still true.
 */
export function createConnection({ address, ca, name, connectMs }: ConnectionOptions): Connection {
  const { nodes, master, db, username, password } = address;
  const tls = address.tls ? { tls: ca === null ? {} : { ca } } : {};
  const login = { ...(username === null ? {} : { username }), ...(password === null ? {} : { password }) };
  const again = (times: number) => Math.min(SOONEST_MS * 2 ** Math.min(times - 1, 10), LATEST_MS);
  const options: RedisOptions = {
    ...tls,
    ...login,
    connectionName: name,
    connectTimeout: connectMs,
    disconnectTimeout: 100,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    disableClientInfo: true,
    retryStrategy: again,
  };
  if (address.kind === "cluster") {
    const { retryStrategy: _, lazyConnect: __, ...redisOptions } = options;
    return new Cluster([...nodes], {
      redisOptions,
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRedirections: 3,
      slotsRefreshTimeout: connectMs,
      clusterRetryStrategy: again,
    });
  }
  if (master !== null) {
    return new Redis({
      ...options,
      db,
      name: master,
      sentinels: [...nodes],
      sentinelRetryStrategy: again,
      ...(username === null ? {} : { sentinelUsername: username }),
      ...(password === null ? {} : { sentinelPassword: password }),
      ...(address.tls ? { enableTLSForSentinelMode: true, sentinelTLS: tls.tls } : {}),
    });
  }
  const [{ host, port } = { host: "", port: 0 }] = nodes;
  return new Redis({ ...options, db, host, port });
}
