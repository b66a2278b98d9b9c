import type { FileEntry } from "./listing.ts";
import type { Offer, Peer } from "./peers.ts";

export interface Source {
  peer: Peer;
  bytes: number;
  sha256: string;
}

export type ChosenPeer =
  | { kind: "from"; sources: readonly Source[] }
  /** Some have it, but do not know its hash yet. */
  | { kind: "later" }
  | { kind: "nobody"; why: string };

/**
 * Who is to be asked for a file, the first first:
 *
 * 1. those that have it with the hash that the owner wants; without one, with the hash of the first in the list;
 * 2. of these the ones that did not fail just now before the others, else in the order of the list;
 * 3. when there is none, but one still reads the file for its hash: later.
 */
export function choosePeer(offers: readonly Offer[], wanted: string | null, failed: ReadonlySet<string>): ChosenPeer {
  const here = offers.filter((offer): offer is { peer: Peer; entry: FileEntry } => "entry" in offer);
  const hash = wanted ?? here.find(({ entry }) => entry.sha256 !== null)?.entry.sha256 ?? null;
  // 1
  const sources = here.flatMap(({ peer, entry: { bytes, sha256 } }) =>
    bytes !== null && sha256 !== null && sha256 === hash ? [{ peer, bytes, sha256 }] : [],
  );
  // 2
  const last = (source: Source) => (failed.has(source.peer.url) ? 1 : 0);
  if (sources.length > 0) return { kind: "from", sources: sources.toSorted((a, b) => last(a) - last(b)) };
  // 3
  if (here.some(({ entry }) => entry.sha256 === null)) return { kind: "later" };
  const others = here.map(({ peer }) => `${peer.url}: its file has another SHA-256`);
  const refusals = offers.flatMap((offer) => ("why" in offer ? [`${offer.peer.url}: ${offer.why}`] : []));
  return { kind: "nobody", why: [...others, ...refusals].join("; ") };
}
