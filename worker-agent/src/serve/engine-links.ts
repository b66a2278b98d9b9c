import { createUpstream } from "@farmgate/wire";
import type { Pool } from "undici";

/** Limit on the connection to an engine, which is on this machine or beside it; in milliseconds. */
const CONNECT_MS = 5_000;

/** The connections to the engines, one pool per origin. */
export class EngineLinks {
  readonly #pools = new Map<string, Pool>();

  /** The origin's pool, made on first use. */
  to(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = createUpstream(origin, { connectMs: CONNECT_MS });
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  /** A pool for one request, without any connection yet. The caller closes it once the request is under way. */
  fresh(origin: string): Pool {
    return createUpstream(origin, { connectMs: CONNECT_MS });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }
}
