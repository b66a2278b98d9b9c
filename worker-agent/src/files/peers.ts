import { type Clock, formatSize } from "@farmgate/shared";
import { type Upstreams, wholeAnswer } from "@farmgate/wire";
import type { AgentConfig } from "../config.ts";
import { type FileEntry, readListing } from "./listing.ts";

export type Peer = AgentConfig["files"]["peers"][number];

const LIMITS = { ms: 10_000, bytes: 4 * 1_024 ** 2 };

/** What a peer says of one file: a sentence about it when it cannot be had there. `shared`: see `Listing`. */
export type Offer = { peer: Peer; entry: FileEntry; shared: number | null } | { peer: Peer; why: string };

/** Asks every peer for a file. Never rejects. */
export function askPeers(
  peers: readonly Peer[],
  path: string,
  upstreams: Upstreams,
  clock: Clock,
  signal: AbortSignal,
): Promise<Offer[]> {
  return Promise.all(peers.map((peer) => askPeer(peer, path, upstreams, clock, signal)));
}

async function askPeer(peer: Peer, path: string, upstreams: Upstreams, clock: Clock, signal: AbortSignal) {
  const { pool, origin, prefix } = upstreams.to(peer);
  const headers = ["accept", "application/json"];
  if (peer.apiKey !== null) headers.push("authorization", `Bearer ${peer.apiKey}`);
  const request = { origin, method: "GET", path: `${prefix}/files`, headers, body: null };
  const { head, body, cut } = await wholeAnswer(pool, clock, request, LIMITS, signal);
  if (cut === "large") return { peer, why: `its list is longer than ${formatSize(LIMITS.bytes)}` };
  if (head === null || cut !== null) return { peer, why: "it does not answer" };
  if (head.status !== 200) return { peer, why: `it answered ${head.status}` };
  const listing = readListing(body.toString("utf8"));
  if (listing === null) return { peer, why: "its answer is no list of files" };
  const entry = listing.files.find((file) => file.path === path);
  return entry?.state === "here" ? { peer, entry, shared: listing.shared } : { peer, why: "it does not have it" };
}
