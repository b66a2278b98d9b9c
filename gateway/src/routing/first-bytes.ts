import { LRUCache } from "lru-cache";

/** Ranges that are remembered. One that is forgotten is learned anew. */
const RANGES = 10_000;

/** So many answers must have been seen before anything is said of the next. */
const SAMPLES = 8;

/** How much the newest answer counts in the mean and in the deviation: those of TCP's clock (RFC 6298). */
const MEAN_WEIGHT = 1 / 8;
const DEVIATION_WEIGHT = 1 / 4;

/**
 * What is added to what was learned, in milliseconds. A stream begins once the prompt is read; a whole answer comes when
 * all of it is written, and how long it will be nobody knows before.
 */
const FLOOR_MS = { streamed: 10_000, whole: 120_000 };

/**
 * A prompt may be read anew that was in the engine's cache the last times. So its length counts by the speed of a slow
 * machine, about a hundred tokens a second, whatever was learned.
 */
const MS_PER_BYTE = 2.5;

/** By how much a time beyond mean and deviations may be exceeded: engines read several prompts at a time. */
const FACTOR = 4;

/** One kind of request to one pair. */
export interface AskedKind {
  worker: string;
  /** `nameKey` of the worker's own name for the model. */
  key: string;
  api: string;
  streamed: boolean;
}

interface Range {
  samples: number;
  meanMs: number;
  deviationMs: number;
}

export interface FirstByteView {
  enoughMs(kind: AskedKind, bytes: number): number | null;
  /** When bytes of a good answer of the pair were last seen among those that have ended; null: never. */
  answeredAt(worker: string, key: string): number | null;
}

/**
 * How long workers take to the first byte of an answer's body: mean and mean deviation as in RFC 6298, for each pair,
 * API, and for streams and whole answers apart. Only of requests that found the model loaded, from when their turn came.
 */
export class FirstBytes implements FirstByteView {
  readonly #ranges = new LRUCache<string, Range>({ max: RANGES });
  readonly #answered = new LRUCache<string, number>({ max: RANGES });

  /** A good answer has ended. `ms`: to its first byte; null where that says nothing of the next (the model was not loaded). */
  answered(kind: AskedKind, ms: number | null, lastByteAt: number): void {
    const pair = pairOf(kind.worker, kind.key);
    this.#answered.set(pair, Math.max(lastByteAt, this.#answered.peek(pair) ?? lastByteAt));
    if (ms === null) return;
    const name = nameOf(kind);
    const last = this.#ranges.get(name);
    if (last === undefined) {
      this.#ranges.set(name, { samples: 1, meanMs: ms, deviationMs: ms / 2 });
      return;
    }
    last.samples += 1;
    last.deviationMs += DEVIATION_WEIGHT * (Math.abs(ms - last.meanMs) - last.deviationMs);
    last.meanMs += MEAN_WEIGHT * (ms - last.meanMs);
  }

  /** Within how many milliseconds a request of so many bytes has had its first byte, if all is well; null: not known. */
  enoughMs(kind: AskedKind, bytes: number): number | null {
    const range = this.#ranges.peek(nameOf(kind));
    if (range === undefined || range.samples < SAMPLES) return null;
    const floor = kind.streamed ? FLOOR_MS.streamed : FLOOR_MS.whole;
    return floor + MS_PER_BYTE * bytes + FACTOR * (range.meanMs + 4 * range.deviationMs);
  }

  answeredAt(worker: string, key: string): number | null {
    return this.#answered.peek(pairOf(worker, key)) ?? null;
  }
}

function pairOf(worker: string, key: string): string {
  return `${worker}\n${key}`;
}

function nameOf({ worker, key, api, streamed }: AskedKind): string {
  return `${pairOf(worker, key)}\n${api}\n${streamed}`;
}
