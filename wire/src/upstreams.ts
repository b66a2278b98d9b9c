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

/** Whom a pool of connections leads to. */
export interface UpstreamTarget {
  url: string;
  /** As of `createUpstream`. */
  ca?: string | null;
}

/** One pool of connections per address and trust, made when it is first needed. */
export class Upstreams {
  /** Limit on TCP and TLS together, in milliseconds. */
  #connectMs: number;
  #byTarget = new Map<string, Upstream>();

  constructor(connectMs: number) {
    this.#connectMs = connectMs;
  }

  to(target: UpstreamTarget): Upstream {
    const key = keyOf(target);
    let upstream = this.#byTarget.get(key);
    if (upstream === undefined) {
      upstream = openUpstream(target, this.#connectMs);
      this.#byTarget.set(key, upstream);
    }
    return upstream;
  }

  /** A connection that nobody used before. The caller closes its pool. */
  fresh(target: UpstreamTarget): Upstream {
    return openUpstream(target, this.#connectMs);
  }

  /** After a reload: pools that are not needed any more close once their running answers have ended. */
  configure(connectMs: number, targets: readonly UpstreamTarget[]): void {
    const kept = new Map<string, Upstream>();
    const wanted = new Set(targets.map(keyOf));
    for (const [key, upstream] of this.#byTarget) {
      if (connectMs === this.#connectMs && wanted.has(key)) kept.set(key, upstream);
      else void upstream.pool.close();
    }
    this.#connectMs = connectMs;
    this.#byTarget = kept;
  }

  /** Ends every connection now. */
  async destroy(): Promise<void> {
    const all = [...this.#byTarget.values()];
    this.#byTarget = new Map();
    await Promise.all(all.map(({ pool }) => pool.destroy()));
  }
}

function keyOf({ url, ca = null }: UpstreamTarget): string {
  return ca === null ? url : `${url} ${ca}`;
}

function openUpstream({ url, ca = null }: UpstreamTarget, connectMs: number): Upstream {
  const { origin, pathname } = new URL(url);
  return { pool: createUpstream(origin, { connectMs, ca }), origin, prefix: withoutLastSlashes(pathname) };
}
