import type { LookupFunction } from "node:net";
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

/** By address, then by trust: in one text, a long list of authorities would be gone over for each request. */
type Pools = Map<string, Map<string | null, Upstream>>;

/** One pool of connections per address and trust, made when it is first needed. */
export class Upstreams {
  /** Limit on TCP and TLS together, in milliseconds. */
  #connectMs: number;
  readonly #lookup: LookupFunction | undefined;
  #pools: Pools = new Map();

  /** `lookup` as of `createUpstream`. */
  constructor(connectMs: number, lookup?: LookupFunction) {
    this.#connectMs = connectMs;
    this.#lookup = lookup;
  }

  to(target: UpstreamTarget): Upstream {
    let upstream = this.#known(target);
    if (upstream === undefined) {
      upstream = this.#open(target);
      add(this.#pools, target, upstream);
    }
    return upstream;
  }

  /** A connection that nobody used before. The caller closes its pool. */
  fresh(target: UpstreamTarget): Upstream {
    return this.#open(target);
  }

  /** After a reload: pools that are not needed any more close once their running answers have ended. */
  configure(connectMs: number, targets: readonly UpstreamTarget[]): void {
    const kept: Pools = new Map();
    const left = new Set(this.#all());
    for (const target of connectMs === this.#connectMs ? targets : []) {
      const upstream = this.#known(target);
      if (upstream === undefined) continue;
      add(kept, target, upstream);
      left.delete(upstream);
    }
    for (const { pool } of left) void pool.close();
    this.#connectMs = connectMs;
    this.#pools = kept;
  }

  /** Ends every connection now. */
  async destroy(): Promise<void> {
    const all = this.#all();
    this.#pools = new Map();
    await Promise.all(all.map(({ pool }) => pool.destroy()));
  }

  #open({ url, ca = null }: UpstreamTarget): Upstream {
    const { origin, pathname } = new URL(url);
    const options = { connectMs: this.#connectMs, ca, ...(this.#lookup && { lookup: this.#lookup }) };
    return { pool: createUpstream(origin, options), origin, prefix: withoutLastSlashes(pathname) };
  }

  #known({ url, ca = null }: UpstreamTarget): Upstream | undefined {
    return this.#pools.get(url)?.get(ca);
  }

  #all(): Upstream[] {
    return [...this.#pools.values()].flatMap((byCa) => [...byCa.values()]);
  }
}

function add(to: Pools, { url, ca = null }: UpstreamTarget, one: Upstream): void {
  const byCa = to.get(url) ?? new Map<string | null, Upstream>();
  to.set(url, byCa.set(ca, one));
}
