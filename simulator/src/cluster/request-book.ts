/** Where a request stands. */
export const PHASE = { unborn: 0, waiting: 1, prefill: 2, handover: 3, decode: 4, ended: 5 } as const;

/** What is known of each request of a trace, in columns by its place. */
export class RequestBook {
  readonly phase: Uint8Array;
  readonly startedAt: Float64Array;
  readonly firstTokenAt: Float64Array;
  /** Requests that came and have not ended. */
  live = 0;
  ended = 0;

  constructor(count: number) {
    this.phase = new Uint8Array(count);
    this.startedAt = new Float64Array(count).fill(Number.NaN);
    this.firstTokenAt = new Float64Array(count).fill(Number.NaN);
  }
}
