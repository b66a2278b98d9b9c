import { withoutLastSlashes } from "@farmgate/shared";
import type { Pool } from "undici";
import { createUpstream } from "./upstream.ts";

/** Where a worker or an engine is reached. */
export interface Upstream {
  pool: Pool;
  origin: string;
  /** Stands before every path: the path of its own address, mostly empty. */
  prefix: string;
}

/** One pool of connections per address, made when it is first needed. */
export class Upstreams {
  /** Limit on TCP and TLS together, in milliseconds. */
  #connectMs: number;
  #byUrl = new Map<string, Upstream>();

  constructor(connectMs: number) {
    this.#connectMs = connectMs;
  }

  to(url: string): Upstream {
    let upstream = this.#byUrl.get(url);
    if (upstream === undefined) {
      upstream = openUpstream(url, this.#connectMs);
      this.#byUrl.set(url, upstream);
    }
    return upstream;
  }

  /** A connection that nobody used before. The caller closes its pool. */
  fresh(url: string): Upstream {
    return openUpstream(url, this.#connectMs);
  }

  /** After a reload: pools that are not needed any more close once their running answers have ended. */
  configure(connectMs: number, urls: readonly string[]): void {
    const kept = new Map<string, Upstream>();
    for (const [url, upstream] of this.#byUrl) {
      if (connectMs === this.#connectMs && urls.includes(url)) kept.set(url, upstream);
      else void upstream.pool.close();
    }
    this.#connectMs = connectMs;
    this.#byUrl = kept;
  }

  /** Ends every connection now. */
  async destroy(): Promise<void> {
    const all = [...this.#byUrl.values()];
    this.#byUrl = new Map();
    await Promise.all(all.map(({ pool }) => pool.destroy()));
  }
}

function openUpstream(url: string, connectMs: number): Upstream {
  const { origin, pathname } = new URL(url);
  return { pool: createUpstream(origin, { connectMs }), origin, prefix: withoutLastSlashes(pathname) };
}
