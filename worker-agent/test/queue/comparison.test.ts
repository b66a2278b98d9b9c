import { formatDuration } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { POLICIES } from "../../src/queue/policies.ts";
import { burstyHour } from "./bursty-hour.ts";
import { worstAgainstBound } from "./workloads.ts";

type PolicyName = keyof typeof POLICIES;

/** What the hour came to under one policy; times in milliseconds. */
function serveHour(name: PolicyName, seed: number) {
  const work = burstyHour(seed);
  const { drive, ratio } = worstAgainstBound({ ...work, policy: POLICIES[name] });
  const waits = [...drive.waits.values()];
  return {
    served: waits.length,
    asked: work.arrivals.length,
    loads: drive.swaps.length,
    makespan: Math.max(...Array.from(drive.ended.values(), ({ at }) => at)),
    longestWait: drive.longestWait(),
    meanWait: waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
    /** The largest wait in relation to the greedy policy's bound for that job. */
    ratio,
  };
}

function serveByAll(seed: number) {
  const [greedy, fifo, collate] = [serveHour("greedy", seed), serveHour("fifo", seed), serveHour("collate", seed)];
  const second = (ms: number) => formatDuration(Math.round(ms / 1_000) * 1_000);
  console.log(`a bursty hour, seed ${seed}: ${greedy.asked} requests for three models of 20 s, 4 slots`);
  console.log("| policy | loads | makespan | longest wait | mean wait | longest wait : bound |");
  console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
  for (const [policy, { loads, makespan, longestWait, meanWait, ratio }] of Object.entries({ greedy, fifo, collate })) {
    const times = [makespan, longestWait, meanWait].map(second).join(" | ");
    console.log(`| ${policy} | ${loads} | ${times} | ${ratio.toFixed(2)} |`);
  }
  return { greedy, fifo, collate };
}

describe("a bursty hour with a stream that never pauses", () => {
  it.each([1, 2, 3])("costs the greedy rule few loads and nobody an endless wait: seed %i", (seed) => {
    const { greedy, fifo, collate } = serveByAll(seed);
    for (const { served, asked } of [greedy, fifo, collate]) expect(served).toBe(asked);
    expect(greedy.loads).toBeLessThanOrEqual(fifo.loads);
    expect(greedy.makespan).toBeLessThanOrEqual(fifo.makespan);
    expect(greedy.longestWait).toBeLessThan(collate.longestWait);
    expect(greedy.ratio).toBeLessThanOrEqual(1);
    expect(collate.ratio).toBeGreaterThan(1);
  });
});
