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
    const start = this.#start(job, now);
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
    const free = this.#slots.filter((slot) => slot.job === null);
    let best = free[0];
    if (best === undefined) return null;
    const bytes = Buffer.byteLength(job.prompt);
    let bestHeld = 0;
    for (const slot of free) {
      const shared = commonPrefixBytes(slot.held, job.prompt);
      const held = shared >= WORTHWHILE * bytes ? shared : 0;
      if (held > bestHeld || (held === bestHeld && slot.lastUsed < best.lastUsed)) {
        best = slot;
        bestHeld = held;
      }
    }
    const shared = commonPrefixBytes(best.held, job.prompt);
    best.job = job.id;
    best.held = job.prompt;
    best.lastUsed = now;
    // At least one token is always read again: it is what the first token of the answer comes from.
    const cachedTokens = Math.min(Math.floor(shared / 4), tokensOfBytes(bytes) - 1);
    return { job: job.id, slot: best.id, cachedTokens };
  }
}
