import { formatDuration } from "@farmgate/shared";
import type { WorkerEntry } from "../catalog/types.ts";
import type { PairSilence } from "./breaker.ts";
import type { AskedKind, FirstByteView } from "./first-bytes.ts";

/** A request at a worker, as far as its silence is judged. Times in milliseconds of `now`. */
export interface Asked extends AskedKind {
  /** As the worker spells it. */
  model: string;
  /** When it was sent, or last told to wait for its turn. */
  since: number;
  /** Of the request. */
  bytes: number;
  /** The model was loaded as far as was known. */
  foundWarm: boolean;
  /** The head of a good answer has come. */
  headCame: boolean;
  /** When bytes of the answer's body last came; null: none have. */
  lastDataAt: number | null;
}

/** A pair of which nothing comes. */
export interface SilentPair extends PairSilence {
  worker: string;
}

/**
 * The pairs that are silent now: their oldest request without a byte was sent longer ago than the pair takes, and no
 * byte of any answer of the pair has come since it was sent, so that an engine that serves others is none.
 *
 * Only the oldest is judged: those behind it may wait for it. It may wait for them too, since an engine reads prompts in
 * an order of its own: so it is given the time for the bytes of all that wait. Of a pair that is aside already that is its trial, whatever
 * still waits from before. Not judged is
 * 1. one whose pair is not known well enough, or
 * 2. that may have found the model not loaded: at first, or by a good catalogue that was asked for since. A catalogue
 *    that does not come says nothing: an engine may be too busy with a long prompt to tell.
 */
export function silentPairs(
  requests: readonly Asked[],
  workers: readonly WorkerEntry[],
  firstBytes: FirstByteView,
  now: number,
): SilentPair[] {
  const silent: SilentPair[] = [];
  for (const { oldest, waitingBytes, lastDataAt } of waitingPairs(requests, workers)) {
    const { worker, key, model, since, headCame } = oldest;
    // 1
    const enoughMs = firstBytes.enoughMs(oldest, waitingBytes);
    if (enoughMs === null || now - since <= enoughMs) continue;
    const dataAt = Math.max(lastDataAt, firstBytes.answeredAt(worker, key) ?? Number.NEGATIVE_INFINITY);
    if (dataAt >= since) continue;
    // 2
    if (!oldest.foundWarm || !isStillWarm(workers, oldest)) continue;
    const reason = `no first byte there for ${seconds(now - since)}, where ${seconds(enoughMs)} are enough`;
    silent.push({ worker, model, sentAt: since, stalled: headCame, reason });
  }
  return silent;
}

/** The requests of a pair of which at least one is without a byte. */
interface WaitingPair {
  /** Of those without a byte. */
  oldest: Asked;
  /** Of those without a byte, together. */
  waitingBytes: number;
  /** When any of the pair's last had a byte. */
  lastDataAt: number;
}

function waitingPairs(requests: readonly Asked[], workers: readonly WorkerEntry[]): WaitingPair[] {
  const pairs = new Map<string, Omit<WaitingPair, "oldest"> & { oldest: Asked | null }>();
  for (const request of requests) {
    const name = `${request.worker}\n${request.key}`;
    const pair = pairs.get(name) ?? { oldest: null, waitingBytes: 0, lastDataAt: Number.NEGATIVE_INFINITY };
    pairs.set(name, pair);
    if (request.lastDataAt !== null) {
      pair.lastDataAt = Math.max(pair.lastDataAt, request.lastDataAt);
    } else if (!isFromBefore(workers, request)) {
      pair.waitingBytes += request.bytes;
      if (pair.oldest === null || request.since < pair.oldest.since) pair.oldest = request;
    }
  }
  return [...pairs.values()].flatMap((pair) => (pair.oldest === null ? [] : [{ ...pair, oldest: pair.oldest }]));
}

/** Whether its pair is aside, and was before a trial was due that this could be. */
function isFromBefore(workers: readonly WorkerEntry[], { worker, key, since }: Asked): boolean {
  const openUntil = entryOf(workers, worker)?.breakers.get(key)?.openUntil ?? null;
  return openUntil !== null && since < openUntil;
}

function isStillWarm(workers: readonly WorkerEntry[], { worker, key, since }: Asked): boolean {
  const entry = entryOf(workers, worker);
  if (entry === undefined || entry.catalog !== "fresh" || (entry.catalogAt ?? since) < since) return false;
  return entry.byKey.get(key)?.state === "warm";
}

function entryOf(workers: readonly WorkerEntry[], name: string): WorkerEntry | undefined {
  return workers.find(({ config }) => config.name === name);
}

function seconds(ms: number): string {
  return formatDuration(1_000 * Math.round(ms / 1_000));
}
