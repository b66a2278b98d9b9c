import type { LookupFunction } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import { buildConnector, Pool } from "undici";

export interface UpstreamOptions {
  /** Limit on TCP and TLS together, in milliseconds. */
  connectMs: number;
  /** How long an idle connection is kept, in milliseconds; below the 5 s after which many engines close theirs. */
  keepAliveMs?: number;
  /** Who may have signed its certificate, or the certificate itself, as PEM; null: whom this machine trusts. */
  ca?: string | null;
  /** How a name is looked up for a connection; absent: as the system does. */
  lookup?: LookupFunction;
}

/** Options for a connection by TLS to whom `ca` answers for. A certificate is always verified, and so is its name. */
export function trusting(ca: string | null): { minVersion: "TLSv1.2"; secureContext?: SecureContext } {
  const minVersion = "TLSv1.2";
  if (ca === null) return { minVersion };
  return { minVersion, secureContext: createSecureContext({ ca, minVersion, allowPartialTrustChain: true }) };
}

/**
 * The connections to one upstream: as many as there are requests at once, one request on each, no time-outs of the
 * client's own but the connect one (an Exchange keeps the others). Redirects are not followed.
 */
export function createUpstream(origin: string, options: UpstreamOptions): Pool {
  return new Pool(origin, {
    connections: null,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: options.keepAliveMs ?? 4_000,
    connect: buildConnector({
      ...trusting(options.ca ?? null),
      ...(options.lookup && { lookup: options.lookup }),
      timeout: options.connectMs,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
    }),
  });
}
