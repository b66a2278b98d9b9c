import { cheapestWayUp, throughMs, type WayUp } from "@farmgate/shared";
import type { FileEntry } from "./listing.ts";
import type { Offer, Peer } from "./peers.ts";

interface Source {
  peer: Peer;
  bytes: number;
  sha256: string;
}

export type ChosenPeer =
  /** `ms`: about how long the whole file takes; null: that peer's speed is not known. */
  | { kind: "from"; source: Source; ms: number | null; others: number }
  /** Some have it, but do not know its hash yet. */
  | { kind: "later" }
  /** All that have it failed just now. */
  | { kind: "failed" }
  | { kind: "nobody"; why: string };

export interface PeerSpeeds {
  /** Bytes a second that came from a peer; null: not known. */
  of(url: string): number | null;
  /** Of all that is fetched here; 0: no limit. */
  limit: number;
}

type Way = WayUp & { source: Source; isKnown: boolean };

/**
 * From whom a file comes:
 *
 * 1. those that have it with the hash that the owner wants; without one, with the hash of the first in the list;
 * 2. of these, without the ones that failed just now, the one from which it is here soonest, by the speed that was
 *    measured, its own limit shared with who takes from it now, and the limit here. One that was not measured yet is
 *    taken to be as fast as the fastest, and goes before it, so that each is measured once; else in the order of the list;
 * 3. when there is none, but one still reads the file for its hash: later.
 */
export function choosePeer(
  offers: readonly Offer[],
  wanted: string | null,
  failed: ReadonlySet<string>,
  speeds: PeerSpeeds,
): ChosenPeer {
  const here = offers.filter((offer) => "entry" in offer);
  const hash = wanted ?? here.find(({ entry }) => entry.sha256 !== null)?.entry.sha256 ?? null;
  // 1
  const having = here.filter(({ entry: { bytes, sha256 } }) => bytes !== null && sha256 !== null && sha256 === hash);
  // 2
  const left = having.filter(({ peer }) => !failed.has(peer.url));
  if (left.length > 0) return soonest(left, speeds);
  if (having.length > 0) return { kind: "failed" };
  // 3
  if (here.some(({ entry }) => entry.sha256 === null)) return { kind: "later" };
  const others = here.map(({ peer }) => `${peer.url}: its file has another SHA-256`);
  const refusals = offers.flatMap((offer) => ("why" in offer ? [`${offer.peer.url}: ${offer.why}`] : []));
  return { kind: "nobody", why: [...others, ...refusals].join("; ") };
}

function soonest(having: readonly Extract<Offer, { entry: FileEntry }>[], speeds: PeerSpeeds): ChosenPeer {
  const here = speeds.limit === 0 ? Number.POSITIVE_INFINITY : speeds.limit;
  const measured = having.flatMap(({ peer }) => speeds.of(peer.url) ?? []);
  const fastest = measured.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...measured);
  const ways = having.map(({ peer, entry, shared }): Way => {
    const known = speeds.of(peer.url);
    const source = { peer, bytes: entry.bytes ?? 0, sha256: entry.sha256 ?? "" };
    const bytesPerSecond = Math.min(known ?? fastest, shared ?? Number.POSITIVE_INFINITY, here);
    return { source, isKnown: known !== null, waitMs: 0, constantMs: 0, bytes: source.bytes, bytesPerSecond };
  });
  const inTurn = [...ways.filter(({ isKnown }) => !isKnown), ...ways.filter(({ isKnown }) => isKnown)];
  // From none of them anything came lately: it may now.
  const way = cheapestWayUp(inTurn) ?? (inTurn[0] as Way);
  const ms = way.isKnown && way.bytesPerSecond > 0 ? throughMs(way) : null;
  return { kind: "from", source: way.source, ms, others: having.length - 1 };
}
