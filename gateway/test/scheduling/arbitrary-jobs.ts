import * as fc from "fast-check";
import { byDeadline, type Job, type Machine } from "../../src/scheduling/moore-hodgson.ts";

/** Jobs in order of deadline, many of them with the same figures. */
export function arbitraryJobs(most: number): fc.Arbitrary<Job[]> {
  const job = fc.record({ processing: fc.integer({ min: 1, max: 12 }), deadline: fc.integer({ min: 0, max: 40 }) });
  return fc.array(job, { maxLength: most }).map((jobs) => jobs.sort(byDeadline));
}

export function arbitraryMachines(most: number): fc.Arbitrary<Machine[]> {
  const machine = fc.record({
    availableAt: fc.integer({ min: 0, max: 15 }),
    overhead: fc.integer({ min: 0, max: 2 }),
    slowness: fc.constantFrom(0.5, 1, 1, 2),
  });
  return fc.array(machine, { maxLength: most });
}

export const machine = (more: Partial<Machine> = {}): Machine => ({
  availableAt: 0,
  overhead: 0,
  slowness: 1,
  ...more,
});
