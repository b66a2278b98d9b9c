import { commonPrefixBytes, tokensOfBytes } from "./tokens.ts";

export interface SlotJob {
  id: string;
  /** The whole prompt as text; what of it a slot already holds need not be read again. */
  prompt: string;
}

export interface SlotStart {
  job: string;
  slot: number;
  /** Tokens of the prompt that the slot still held. */
  cachedTokens: number;
}

interface Slot {
  id: number;
  job: string | null;
  /** Prompt and answer of the last job, as text. */
  held: string;
  lastUsed: number;
}

/** The share of a prompt that a slot must hold to be preferred (llama-server's `--slot-prompt-similarity`). */
const WORTHWHILE = 0.1;

/** One model's slots and the unbounded queue before them. Pure: `now` only orders. */
export class SlotPool {
  readonly #slots: Slot[];
  #queue: SlotJob[] = [];

  constructor(count: number) {
    this.#slots = Array.from({ length: count }, (_, id) => ({ id, job: null, held: "", lastUsed: 0 }));
  }

  get active(): number {
    return this.#slots.reduce((sum, slot) => sum + (slot.job === null ? 0 : 1), 0);
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Which job each slot serves. */
  jobs(): (string | null)[] {
    return this.#slots.map((slot) => slot.job);
  }

  /** The job starts now, or waits (null). */
  add(job: SlotJob, now: number): SlotStart | null {
    const start = this.#queue.length === 0 ? this.#start(job, now) : null;
    if (start === null) this.#queue.push(job);
    return start;
  }

  /**
   * A job is over, or its caller left. `answer` is the text it made; its slot holds it from now on.
   * Returns the job that takes its place.
   */
  release(jobId: string, answer: string, now: number): SlotStart | null {
    const slot = this.#slots.find((candidate) => candidate.job === jobId);
    if (slot === undefined) {
      this.#queue = this.#queue.filter((job) => job.id !== jobId);
      return null;
    }
    slot.job = null;
    slot.held += answer;
    slot.lastUsed = now;
    const next = this.#queue.shift();
    return next === undefined ? null : this.#start(next, now);
  }

  /** Empties the queue, in order. */
  takeQueue(): SlotJob[] {
    const taken = this.#queue;
    this.#queue = [];
    return taken;
  }

  #start(job: SlotJob, now: number): SlotStart | null {
    let best: Slot | null = null;
    let bestHeld = 0;
    for (const slot of this.#slots) {
      if (slot.job !== null) continue;
      const shared = commonPrefixBytes(slot.held, job.prompt);
      const held = shared.bytes >= WORTHWHILE * shared.ofBytes ? shared.bytes : 0;
      if (best === null || held > bestHeld || (held === bestHeld && slot.lastUsed < best.lastUsed)) {
        best = slot;
        bestHeld = held;
      }
    }
    if (best === null) return null;
    const shared = commonPrefixBytes(best.held, job.prompt);
    // At least one token is always read again: it is what the first token of the answer comes from.
    const cachedTokens = Math.max(0, Math.min(Math.floor(shared.bytes / 4), tokensOfBytes(shared.ofBytes) - 1));
    best.job = job.id;
    best.held = job.prompt;
    best.lastUsed = now;
    return { job: job.id, slot: best.id, cachedTokens };
  }
}
