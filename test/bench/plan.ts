// How long each part of the bench runs. The full plan stays below four minutes,
// the quick one below one.

export interface Plan {
  rounds: number;
  /** Rounds before those, thrown away. */
  warmups: number;
  shortAnswers: { connections: number; warmupMs: number; windowMs: number };
  /** Answers before it is measured, of each gateway and nginx, or so long at most. */
  processes: { warmupAnswers: number; warmupMostMs: number };
  streamedChunks: { streams: number; rampMs: number; warmupMs: number; windowMs: number };
  firstByte: { warmups: number; count: number; pauseMs: number };
  longPrompts: { rounds: number; perSecond: number; warmupMs: number; windowMs: number };
  largeBodies: { rounds: number; megabytes: number[]; connections: number; warmupMs: number; windowMs: number };
  openStreams: { streams: number; rampMs: number; warmupMs: number; windowMs: number; probeEveryMs: number };
  /** With so many jobs that wait, so many events of each kind in a round. */
  scheduler: { rounds: number; warmups: number; queued: number; events: number };
}

export const fullPlan: Plan = {
  rounds: 7,
  warmups: 4,
  shortAnswers: { connections: 16, warmupMs: 200, windowMs: 1_500 },
  processes: { warmupAnswers: 20_000, warmupMostMs: 15_000 },
  streamedChunks: { streams: 60, rampMs: 200, warmupMs: 300, windowMs: 2_500 },
  firstByte: { warmups: 50, count: 300, pauseMs: 3 },
  longPrompts: { rounds: 4, perSecond: 130, warmupMs: 500, windowMs: 2_000 },
  largeBodies: { rounds: 2, megabytes: [1, 64], connections: 2, warmupMs: 300, windowMs: 2_000 },
  openStreams: { streams: 2_000, rampMs: 4_000, warmupMs: 2_000, windowMs: 5_000, probeEveryMs: 50 },
  scheduler: { rounds: 9, warmups: 5, queued: 10_000, events: 300 },
};

export const quickPlan: Plan = {
  rounds: 3,
  warmups: 2,
  shortAnswers: { connections: 16, warmupMs: 150, windowMs: 600 },
  processes: { warmupAnswers: 10_000, warmupMostMs: 8_000 },
  streamedChunks: { streams: 60, rampMs: 150, warmupMs: 150, windowMs: 800 },
  firstByte: { warmups: 30, count: 100, pauseMs: 2 },
  longPrompts: { rounds: 2, perSecond: 130, warmupMs: 200, windowMs: 700 },
  largeBodies: { rounds: 1, megabytes: [1, 64], connections: 2, warmupMs: 200, windowMs: 800 },
  openStreams: { streams: 2_000, rampMs: 2_500, warmupMs: 1_000, windowMs: 2_000, probeEveryMs: 50 },
  scheduler: { rounds: 5, warmups: 3, queued: 10_000, events: 150 },
};
