import { formatDuration } from "@farmgate/shared";

/** Requests that were judged, and the share of them that was on time. */
export interface JudgedShare {
  share: number;
  requests: number;
}

/** A further copy that was added, until it is known what it brought. */
interface Trial {
  key: string;
  worker: string;
  at: number;
  reloadMs: number;
  before: JudgedShare | null;
  /** What had been judged of the model, and was on time, when it was added. */
  from: Judged;
  /** It was seen to be there. */
  isThere: boolean;
  isJudged: boolean;
  /** What had been judged of the model by the time that it last changed. */
  last: { requests: number; at: number };
}

/** Since the model is known. */
export interface Judged {
  requests: number;
  onTime: number;
}

export interface RegretView {
  now: number;
  /** A copy has to stand for as long, in milliseconds, before it is judged. */
  windowMs: number;
  /** The share that is to be on time. */
  share: number;
  judged(key: string): Judged;
  /** Whether the copy is loaded, or on its way. */
  isThere(worker: string, key: string): boolean;
}

/** Of the first regret, in milliseconds; each further one doubles it up to the last. */
const FIRST_MS = 600_000;
const LAST_MS = 86_400_000;
/** A copy that goes within so many times its load was not worth it. */
const RELOADS = 30;
/** A copy whose model nobody asks for within so many times its load is not being tried any more. */
const QUIET_RELOADS = 10;
/** A load that was never seen is given up after so long, in milliseconds. */
const LOADING_MS = 600_000;
/** Requests that a copy is judged by. */
const FEWEST = 20;

/**
 * What further copies brought, so that what brings nothing is not done again and again:
 *
 * 1. A copy that went within a few times its load, whoever let it go: regretted.
 * 2. One that stood for a window and for enough requests: 2a. the model is on time: kept in good memory, all before is
 *    forgotten; 2b. its share is better than before by more than chance moves it: the same; 2c. else regretted. Where nothing is asked of it any more, there is no verdict.
 * 3. While a regret lasts no further copy of the model is added: 10 minutes, twice as long each time, a day at most.
 */
export class Regrets {
  #trials: readonly Trial[] = [];
  readonly #pauses = new Map<string, { ms: number; until: number; why: string }>();

  /** A further copy is being loaded. */
  added(
    pair: { worker: string; key: string },
    reloadMs: number,
    { before, judged }: { before: JudgedShare | null; judged: Judged },
    now: number,
  ): void {
    const { worker, key } = pair;
    if (this.#trials.some((trial) => trial.worker === worker && trial.key === key)) return;
    const last = { requests: judged.requests, at: now };
    const trial = { worker, key, at: now, reloadMs, before, from: judged, isThere: false, isJudged: false, last };
    this.#trials = [...this.#trials, trial];
  }

  look(view: RegretView): void {
    this.#trials = this.#trials.flatMap((trial) => this.#next(trial, view) ?? []);
  }

  /** In words that follow a worker's name. */
  whyNotAgain(key: string, now: number): string | null {
    const pause = this.#pauses.get(key);
    if (pause === undefined || pause.until <= now) return null;
    return `gets no further copy of it for ${formatDuration(roundUp(pause.until - now))}: ${pause.why}`;
  }

  /** A further copy of it was added, and is not judged yet. */
  isTrying(key: string): boolean {
    return this.#trials.some((trial) => trial.key === key && !trial.isJudged);
  }

  #next(trial: Trial, view: RegretView): Trial | null {
    const { worker, key, at, reloadMs, before, from } = trial;
    const age = view.now - at;
    if (!view.isThere(worker, key)) {
      if (!trial.isThere) return age > LOADING_MS ? null : trial;
      // 1
      if (age < RELOADS * reloadMs) this.#regret(key, "the last one went again soon after its load", view.now);
      return null;
    }
    const all = view.judged(key);
    const last = all.requests === trial.last.requests ? trial.last : { requests: all.requests, at: view.now };
    if (!trial.isJudged && age >= view.windowMs) {
      const requests = all.requests - from.requests;
      if (requests >= FEWEST) {
        const share = (all.onTime - from.onTime) / requests;
        const isBetter = before === null || share - before.share > chance(before.share, before.requests, requests);
        // 2a, 2b
        if (share >= view.share || isBetter) this.#pauses.delete(key);
        // 2c
        else this.#regret(key, `the last one left its share on time at ${Math.round(100 * share)} %`, view.now);
        return { ...trial, isThere: true, isJudged: true, last };
      }
    }
    const isQuiet = view.now - last.at >= Math.max(view.windowMs, QUIET_RELOADS * reloadMs);
    if (isQuiet && !trial.isJudged) return { ...trial, isThere: true, isJudged: true, last };
    const isOver = (trial.isJudged && age >= RELOADS * reloadMs) || age >= LAST_MS;
    return isOver ? null : { ...trial, isThere: true, last };
  }

  // 3
  #regret(key: string, why: string, now: number): void {
    const last = this.#pauses.get(key);
    const ms = last === undefined ? FIRST_MS : Math.min(LAST_MS, 2 * last.ms);
    this.#pauses.set(key, { ms, until: now + ms, why });
  }
}

/** By how much the share of so many requests moves by chance. */
function chance(share: number, before: number, after: number): number {
  return Math.sqrt(share * (1 - share) * (1 / Math.max(1, before) + 1 / after));
}

/** To the minute, so that what is said of it does not change with each plan. */
function roundUp(ms: number): number {
  return Math.ceil(ms / 60_000) * 60_000;
}
