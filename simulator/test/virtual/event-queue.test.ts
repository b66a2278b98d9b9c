import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EventQueue } from "../../src/virtual/event-queue.ts";

test("events come in order of time, of equal times as they were put in", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9)), (times) => {
      const queue = new EventQueue<number>();
      times.forEach((at, turn) => queue.push(at, turn));
      const popped = times.map(() => queue.pop());
      const sorted = times.map((at, event) => ({ at, event })).sort((a, b) => a.at - b.at);
      expect(popped.map((next) => ({ at: next?.at, event: next?.event }))).toEqual(sorted);
      expect(queue.pop()).toBeUndefined();
      expect(queue.size).toBe(0);
    }),
  );
});
