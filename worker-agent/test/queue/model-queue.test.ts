import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelQueue } from "../../src/queue/model-queue.ts";
import type { Waiting } from "../../src/queue/model-queue.ts";
import type { Job } from "../../src/queue/types.ts";
import { Drive } from "./drive.ts";
import { rulesFor } from "./workload.ts";

const MAX_WAIT = 1_000;

function waiting(id: string, arrivedAt: number, over: Partial<Job> = {}): Waiting {
  const job: Job = {
    id,
    requestId: id,
    model: "m",
    caller: "",
    priority: "interactive",
    arrivedAt,
    deadlineAt: null,
    kind: "request",
    ...over,
  };
  return { job, arrivedAt, seq: Number(id.replaceAll(/\D/g, "")), priority: job.priority };
}

function queueOf(...entries: Waiting[]): ModelQueue {
  const queue = new ModelQueue(MAX_WAIT);
  for (const entry of entries) queue.add(entry);
  return queue;
}

function takeAll(queue: ModelQueue, now: number): string {
  const ids: string[] = [];
  for (let entry = queue.take(now); entry !== undefined; entry = queue.take(now)) ids.push(entry.job.id);
  return ids.join(" ");
}

describe("R7, inside a model", () => {
  it("one caller is served in order of arrival, whatever the order of telling", () => {
    expect(takeAll(queueOf(waiting("1", 30), waiting("2", 10), waiting("3", 20), waiting("4", 30)), 40)).toBe(
      "2 3 1 4",
    );
  });

  it("interactive goes before batch", () => {
    const queue = queueOf(waiting("1", 0, { priority: "batch" }), waiting("2", 5), waiting("3", 9));
    expect(takeAll(queue, 10)).toBe("2 3 1");
  });

  it("a batch job that has waited maxWait counts as interactive", () => {
    const queue = queueOf(
      waiting("1", 0, { priority: "batch" }),
      waiting("2", 5),
      waiting("3", 9, { priority: "batch" }),
    );
    expect(takeAll(queue, MAX_WAIT)).toBe("1 2 3");
  });

  it("callers take turns", () => {
    const x = { caller: "x" };
    const y = { caller: "y" };
    const queue = queueOf(
      waiting("1", 0, x),
      waiting("2", 1, x),
      waiting("3", 2, x),
      waiting("4", 3, y),
      waiting("5", 4, y),
    );
    expect(takeAll(queue, 5)).toBe("1 4 2 5 3");
  });

  it("a caller who comes back goes to the end of the round", () => {
    const queue = queueOf(waiting("1", 0, { caller: "x" }), waiting("2", 0, { caller: "y" }));
    expect(queue.take(1)?.job.id).toBe("1");
    queue.add(waiting("3", 1, { caller: "x" }));
    expect(takeAll(queue, 2)).toBe("2 3");
  });

  it("one request beside a hundred of another caller is next but one", () => {
    const hundred = Array.from({ length: 100 }, (_, index) => ({ id: `x${index}`, at: 0, model: "m", caller: "x" }));
    const arrivals = [...hundred, { id: "y", at: 50, model: "m", caller: "y" }];
    const drive = new Drive({ rules: rulesFor({ m: 1 }), found: "m", loadMs: 1, arrivals }).run();
    expect(drive.waits.get("y")).toBeLessThanOrEqual(150);
  });

  it("the position told is the order taken, and leaving keeps it so", () => {
    const entry = fc.record({
      arrivedAt: fc.nat(2_000),
      caller: fc.constantFrom("x", "y", "z"),
      priority: fc.constantFrom("interactive" as const, "batch" as const),
      leaves: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), fc.nat(8), (list, taken) => {
        const now = 2_000;
        const entries = list.map(({ arrivedAt, ...over }, index) => waiting(String(index + 1), arrivedAt, over));
        const queue = queueOf(...entries);
        const gone = new Set<Waiting | undefined>();
        for (let count = 0; count < taken; count += 1) gone.add(queue.take(now));
        entries.forEach((each, index) => {
          if (gone.has(each) || !(list.at(index)?.leaves ?? false)) return;
          queue.remove(each);
          gone.add(each);
        });
        const left = entries.filter((each) => !gone.has(each));
        const told = left.toSorted((a, b) => queue.position(a, now) - queue.position(b, now));
        expect(left.map((each) => queue.position(each, now)).toSorted((a, b) => a - b)).toEqual(
          left.map((_, at) => at + 1),
        );
        expect(queue.size).toBe(left.length);
        expect(takeAll(queue, now)).toBe(told.map(({ job }) => job.id).join(" "));
      }),
      { numRuns: 300 },
    );
  });

  it("loads come first and in order, and count as waiting", () => {
    const queue = queueOf(waiting("1", 0), waiting("2", 5, { kind: "load" }), waiting("3", 1, { kind: "load" }));
    expect(queue.size).toBe(3);
    expect(queue.takeLoad()?.job.id).toBe("3");
    expect(queue.takeLoad()?.job.id).toBe("2");
    expect(queue.takeLoad()).toBeUndefined();
    expect(takeAll(queue, 10)).toBe("1");
  });
});
