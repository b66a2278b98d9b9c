import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Inflight } from "../../src/state/inflight.ts";
import type { OthersView } from "../../src/together/hub.ts";

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

  it("hold what others have as well, and tell only the own ones", () => {
    const told: string[] = [];
    const others: OthersView = {
      worker: (name) => (name === "a" ? 5 : 0),
      pair: (name, key) => (name === "a" ? ({ m: 2, n: 3 }[key] ?? 0) : 0),
      pairs: (name) => new Map(name === "a" ? [["m", 2] as const, ["n", 3] as const] : []),
      caller: () => 0,
    };
    const hub = {
      isShared: true,
      others,
      counted: (worker: string | null, key: string) => told.push(`${worker} ${key}`),
    };
    const inflight = new Inflight(hub);
    const leave = inflight.enter("a", "m");
    inflight.enter("b", "m", true);
    const answered = inflight.ask("a", "m");
    expect([inflight.worker("a"), inflight.pair("a", "m"), inflight.worker("b"), inflight.ownWorker("a")]).toEqual([
      7, 4, 1, 1,
    ]);
    expect([...inflight.pairs("a")]).toEqual([
      ["m", 4],
      ["n", 3],
    ]);
    expect([inflight.ownTotal(), inflight.counts()]).toEqual([
      2,
      new Map([
        ["a", new Map([["m", 1]])],
        ["b", new Map([["m", 1]])],
      ]),
    ]);
    answered();
    const { freed } = inflight;
    leave();
    inflight.enterCaller("bob", true)();
    expect([inflight.worker("a"), inflight.freed > freed, inflight.callers().size]).toEqual([5, true, 0]);
    // A place that was claimed is told when it is free again.
    expect(told).toEqual(["a m", "a m", "null bob"]);
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
