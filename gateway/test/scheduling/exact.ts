import { type Job, type Machine, timeAt } from "../../src/scheduling/moore-hodgson.ts";

/** The most jobs that the machines can finish in time together, by trying everything. */
export function mostOnTime(jobs: readonly Job[], machines: readonly Machine[]): number {
  const inOrder = [...jobs].sort((a, b) => a.deadline - b.deadline);
  const ends = machines.map(({ availableAt }) => availableAt);
  let best = 0;
  const tryFrom = (position: number, onTime: number) => {
    best = Math.max(best, onTime);
    const job = inOrder[position];
    if (job === undefined || onTime + inOrder.length - position <= best) return;
    for (const [at, machine] of machines.entries()) {
      const before = ends[at] ?? 0;
      const end = before + timeAt(machine, job);
      if (end > job.deadline) continue;
      ends[at] = end;
      tryFrom(position + 1, onTime + 1);
      ends[at] = before;
    }
    tryFrom(position + 1, onTime);
  };
  tryFrom(0, 0);
  return best;
}
