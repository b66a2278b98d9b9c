import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Inflight } from "../../src/state/inflight.ts";

describe("in-flight counts", () => {
  it("go up by worker, by pair and in total, and down once however often that is asked", () => {
    const inflight = new Inflight();
    const first = inflight.enter("a", "m");
    inflight.enter("a", "other");
    first();
    first();
    expect([inflight.worker("a"), inflight.pair("a", "m"), inflight.pair("a", "other"), inflight.ownTotal()]).toEqual([
      1, 0, 1, 1,
    ]);
    expect([inflight.worker("b"), inflight.pair("b", "m")]).toEqual([0, 0]);
  });

  it("do not let a late second call take away a newer request", () => {
    const inflight = new Inflight();
    const first = inflight.enter("a", "m");
    first();
    inflight.enter("a", "m");
    first();
    expect(inflight.pair("a", "m")).toBe(1);
  });

  it("remember how they stood at a worker's last poll, until the worker is gone", () => {
    const inflight = new Inflight();
    inflight.enter("a", "m");
    expect(inflight.atPoll("a")).toBeNull();
    inflight.polled("a");
    inflight.polled("b");
    inflight.enter("a", "m");
    expect([inflight.atPoll("a")?.get("m"), inflight.pairs("a").get("m"), inflight.atPoll("b")?.size]).toEqual([
      1, 2, 0,
    ]);
    inflight.keepOnly(new Set(["b"]));
    expect([inflight.atPoll("a"), inflight.atPoll("b")?.size, inflight.pair("a", "m")]).toEqual([null, 0, 2]);
  });

  it("equal what a list of the open requests says, after any run of enters and leaves", () => {
    const step = fc.oneof(
      fc.record({ worker: fc.constantFrom("a", "b"), key: fc.constantFrom("m", "n", "") }),
      fc.nat().map((leave) => ({ leave })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const inflight = new Inflight();
        const entered: { worker: string; key: string; open: boolean; leave: () => void }[] = [];
        for (const each of steps) {
          if ("leave" in each) {
            const one = entered[each.leave % Math.max(1, entered.length)];
            one?.leave();
            if (one !== undefined) one.open = false;
          } else {
            entered.push({ ...each, open: true, leave: inflight.enter(each.worker, each.key) });
          }
          const open = entered.filter((one) => one.open);
          expect(inflight.ownTotal()).toBe(open.length);
          for (const worker of ["a", "b"]) {
            const there = open.filter((one) => one.worker === worker);
            expect(inflight.worker(worker)).toBe(there.length);
            for (const key of ["m", "n", ""]) {
              expect(inflight.pair(worker, key)).toBe(there.filter((one) => one.key === key).length);
            }
          }
        }
      }),
    );
  });
});
