/** What became of a request. */
export const OUTCOME = {
  open: 0,
  served: 1,
  /** No worker took it, or it found no room. */
  refused: 2,
  /** It waited at the gateway, or its caller did, for longer than is allowed. */
  timedOut: 3,
  /** Nothing in the farm has the model. */
  unknown: 4,
} as const;
export type Outcome = (typeof OUTCOME)[keyof typeof OUTCOME];

/** What happened to each request, in columns by its place in the trace. Virtual milliseconds; NaN: it never did. */
export class Ledger {
  readonly outcome: Uint8Array;
  /** The last worker that it was sent to, by its place in the farm; -1: none. */
  readonly worker: Int16Array;
  /** When an engine began with it. */
  readonly startedAt: Float64Array;
  readonly firstTokenAt: Float64Array;
  readonly endedAt: Float64Array;
  /** How long it waited in an agent's queue, and how long it was promised to wait there at most. */
  readonly queuedMs: Float64Array;
  readonly promisedMs: Float64Array;
  /** How often each ended: must be one. */
  readonly ends: Uint8Array;

  constructor(requests: number) {
    const times = () => new Float64Array(requests).fill(Number.NaN);
    this.outcome = new Uint8Array(requests);
    this.worker = new Int16Array(requests).fill(-1);
    this.startedAt = times();
    this.firstTokenAt = times();
    this.endedAt = times();
    this.queuedMs = times();
    this.promisedMs = times();
    this.ends = new Uint8Array(requests);
  }

  isOpen(request: number): boolean {
    return this.outcome[request] === OUTCOME.open;
  }

  isUnknown(request: number): boolean {
    return this.outcome[request] === OUTCOME.unknown;
  }

  started(request: number, now: number, firstTokenAt: number): void {
    this.startedAt[request] = now;
    this.firstTokenAt[request] = firstTokenAt;
  }

  ended(request: number, outcome: Outcome, now: number): void {
    this.outcome[request] = outcome;
    this.endedAt[request] = now;
    this.ends[request] = (this.ends[request] ?? 0) + 1;
  }
}
