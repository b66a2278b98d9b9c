// What refused callers were told to wait, and what they had to. Pure: times in milliseconds on one clock.
import { median, percentile } from "../bench/report/median.ts";

export interface Person {
  /** When it was refused first. */
  refusedAt: number;
  /** Seconds that it was told then; NaN: nothing. */
  toldS: number;
  /** Its calls after that. */
  returns: number;
  /** When the call was sent that was answered; NaN: none was. */
  acceptedAt: number;
}

export interface Returns {
  refused: number;
  untold: number;
  /** Seconds. */
  toldMedian: number;
  toldP90: number;
  /** Of those who came back: the share that was served at the first return. */
  atFirstReturn: number;
  /** Seconds from the first refusal to the call that was answered; of those for whom there was one. */
  realMedian: number;
  realP90: number;
  /** Came back, and were not served before the load ended. */
  notYet: number;
  /** Seconds from a refusal until any call was sent that was answered. */
  anyoneMedian: number;
}

/** `acceptedAt`: when each call was sent that was answered, in order. */
export function returnsOf(people: readonly Person[], acceptedAt: readonly number[]): Returns {
  const told = people.map(({ toldS }) => toldS).filter((seconds) => !Number.isNaN(seconds));
  const back = people.filter(({ returns }) => returns > 0);
  const served = back.filter((person) => !Number.isNaN(person.acceptedAt));
  const real = served.map((person) => (person.acceptedAt - person.refusedAt) / 1_000);
  const anyone = people.map(({ refusedAt }) => (nextAfter(acceptedAt, refusedAt) - refusedAt) / 1_000);
  return {
    refused: people.length,
    untold: people.length - told.length,
    toldMedian: median(told),
    toldP90: percentile(told, 0.9),
    atFirstReturn: served.filter(({ returns }) => returns === 1).length / back.length,
    realMedian: median(real),
    realP90: percentile(real, 0.9),
    notYet: back.length - served.length,
    anyoneMedian: median(anyone.filter(Number.isFinite)),
  };
}

/** The first of sorted moments that is later than one. */
function nextAfter(sorted: readonly number[], moment: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? Infinity) > moment) high = middle;
    else low = middle + 1;
  }
  return sorted[low] ?? Infinity;
}
