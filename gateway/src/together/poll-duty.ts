import type { PollResult } from "@farmgate/engines";
import type { Hub } from "./hub.ts";

/** Who is not on duty polls a worker itself when it was told nothing of it for so many intervals. */
const OFF_DUTY = 1.5;

/** What a gateway's own last contact says of its way to a worker; doubted: a request had no luck since the last poll. */
export type OwnReach = "unknown" | "reached" | "missed" | "doubted";

/**
 * The member that polls the worker: the one with the highest hash of both names (rendezvous hashing, Thaler and
 * Ravishankar, 1998). When one goes only its own workers move, and to all others alike; when one comes it takes its
 * share of each.
 */
export function onDuty(worker: string, members: readonly string[]): string | null {
  let best: string | null = null;
  let highest = -1;
  for (const member of members) {
    const hash = hashOf(`${member}\n${worker}`);
    if (hash < highest || (hash === highest && best !== null && member > best)) continue;
    best = member;
    highest = hash;
  }
  return best;
}

/** Whether this gateway's own way to the worker is in order, as far as it knows, so that it may go by what others see. */
export function isSure(reach: OwnReach): boolean {
  return reach === "reached" || reach === "unknown";
}

/** In intervals: when this gateway's next poll of the worker is due after the last that it knows of. */
export function pace(
  hub: Pick<Hub, "id" | "isShared" | "trouble" | "members">,
  worker: string,
  reach: OwnReach,
): number {
  if (!hub.isShared || hub.trouble !== null || !isSure(reach)) return 1;
  return onDuty(worker, hub.members()) === hub.id ? 1 : OFF_DUTY;
}

/** A poll that another gateway told of, beside this one's own. Times in milliseconds of `now`. */
export interface ToldPoll {
  startedAt: number;
  /** null: the catalogue that it stands for is not known here. */
  result: PollResult | null;
}

export interface OwnPolls {
  reach: OwnReach;
  /** When the last one was started; null: none was. */
  startedAt: number | null;
  isRunning: boolean;
  intervalMs: number;
}

/**
 * What a told poll is worth here. What a worker offers is the same for all, but each gateway has a way of its own to
 * it. So good news are taken where nothing speaks against that way, and bad news are only a reason to look: nobody gives
 * up a worker that only another cannot reach, and nobody goes on asking one that it cannot reach itself. A worker of
 * which gateways disagree is polled by each of them, as if it were alone.
 *
 * A way that breaks without a request on it is not noticed before the next one: that one fails over to another worker,
 * and from then on the worker is doubted and polled from here.
 *
 * 1. This gateway's own poll is under way, or was started later: it says more.
 * 2. Good, and its own last contact was too: taken.
 * 3. Else it looks for itself, 3a. unless it has just done so.
 */
export function worthOf({ startedAt, result }: ToldPoll, own: OwnPolls, now: number): "take" | "poll" | "leave" {
  // 1
  if (own.isRunning || (own.startedAt !== null && own.startedAt >= startedAt)) return "leave";
  // 2
  if (result !== null && isReached(result) && isSure(own.reach)) return "take";
  // 3a
  if (own.startedAt !== null && now - own.startedAt < own.intervalMs / 2) return "leave";
  // 3
  return "poll";
}

/** Whether the worker answered, and not because of this gateway's own key. */
export function isReached({ kind }: PollResult): boolean {
  return kind === "ok" || kind === "loading" || kind === "no_catalog";
}

/** 32 bits: FNV-1a, whose high bits differ little between short names, and MurmurHash3's last step, which spreads them. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
