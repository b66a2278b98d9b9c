import { describe, expect, it } from "vitest";
import { CatalogStore } from "../../src/catalog/store.ts";
import type { CatalogEvent } from "../../src/catalog/types.ts";
import type { News } from "../../src/together/news.ts";
import { readNews } from "../../src/together/read-news.ts";
import { SharedCatalog } from "../../src/together/shared-catalog.ts";
import { ok, workerConfig } from "../catalog/farm.ts";
import { steppedClock } from "../support/stepped-clock.ts";

/** Two gateways with clocks of different origins; what one tells, the other takes `lagMs` later. */
function two(lagMs = 20) {
  const told: News[] = [];
  const clock = steppedClock();
  const members = [0, 1_000_000].map((origin) => {
    const own = { ...clock, now: () => clock.now() + origin };
    const store = new CatalogStore(own, { unhealthyAfter: 3, healthyAfter: 1 });
    const polled: string[] = [];
    const poller = {
      told: (worker: string) => void polled.push(`told of ${worker}`),
      doubt: (worker: string) => polled.push(`doubts ${worker}`),
      pollNow: (worker: string) => Promise.resolve(void polled.push(`polls ${worker}`)),
      reschedule: () => {},
    };
    return { now: own.now, own, store, poller, polled };
  });
  const shared = members.map(({ own, store, poller }, i) => {
    const hub = {
      id: `g${i}`,
      trouble: null,
      members: () => ["g0", "g1"],
      onChange: () => () => {},
      tell: (news: News) => {
        told.push(news);
        const read = readNews(JSON.parse(JSON.stringify(news)));
        if (read?.kind !== "catalog") return;
        clock.after(lagMs, () => shared[1 - i]?.take(read, `g${i}`));
      },
    };
    return new SharedCatalog({ clock: own, hub, catalog: store, poller });
  });
  for (const { store, now } of members) {
    store.apply({ type: "configured", workers: [workerConfig("w")] });
    store.apply({ type: "polled", worker: "w", startedAt: now(), result: ok(["m=warm", "n"]) });
  }
  told.length = 0;
  const [here, there] = members as [(typeof members)[0], (typeof members)[0]];
  const breaker = ({ store }: typeof here) => store.current.workers[0]?.breakers.get("m");
  return { here, there, told, breaker, move: clock.move, shared };
}

const fault = (sentAt: number): CatalogEvent => ({
  type: "faulted",
  worker: "w",
  model: "m",
  sentAt,
  stalled: false,
  broke: false,
  reason: "answered 500",
});

describe("what one gateway sees of a worker", () => {
  it("counts at the other, which never tells it on", () => {
    const { here, there, told, breaker, move } = two();
    here.store.apply(fault(here.now()));
    move(100);
    there.store.apply(fault(there.now()));
    move(100);
    here.store.apply(fault(here.now()));
    move(100);
    expect([breaker(here)?.faults, breaker(there)?.faults]).toEqual([3, 3]);
    expect([breaker(here)?.openUntil, breaker(there)?.openUntil]).not.toContain(null);
    expect(told).toHaveLength(3);
  });

  it("is a trial at both, which ends at both, and after a while where its end is never told", () => {
    const { here, there, breaker, move } = two();
    for (let i = 0; i < 3; i += 1) here.store.apply(fault(here.now()));
    move(31_000);
    const at = here.now();
    here.store.apply({ type: "tried", worker: "w", model: "m", at });
    move(70);
    expect([breaker(here)?.trialAt, breaker(there)?.trialAt]).toEqual([at, there.now() - 50]);
    here.store.apply({ type: "trial_over", worker: "w", model: "m", at });
    move(100);
    expect([breaker(here)?.trialAt, breaker(there)?.trialAt]).toEqual([null, null]);
    here.store.apply({ type: "tried", worker: "w", model: "m", at: here.now() });
    move(1_000);
    expect(breaker(there)?.trialAt).not.toBeNull();
    move(30_000);
    expect(breaker(there)?.trialAt).toBeNull();
  });

  it("closes a breaker at both, however soon after another answer", () => {
    const { here, breaker, there, move } = two();
    here.store.apply({ type: "answered", worker: "w", model: "m", at: here.now() });
    for (let i = 0; i < 3; i += 1) here.store.apply(fault(here.now()));
    move(100);
    here.store.apply({ type: "answered", worker: "w", model: "m", at: here.now() });
    move(100);
    expect([breaker(here), breaker(there)]).toEqual([undefined, undefined]);
  });

  it("is told once a second where it is the same answer again, and not at all where it changed nothing", () => {
    const { here, told, move } = two();
    for (let i = 0; i < 100; i += 1) {
      here.store.apply({ type: "answered", worker: "w", model: "m", at: here.now() });
      here.store.apply({ type: "served", worker: "w", model: "m" });
      here.store.apply({ type: "drain", worker: "nobody" });
      move(50);
    }
    expect(told.length).toBeGreaterThanOrEqual(4);
    expect(told.length).toBeLessThanOrEqual(6);
  });

  it("makes the other look for itself when a connection was refused, and this one doubt what it is told", () => {
    const { here, there, told, move } = two();
    for (let i = 0; i < 3; i += 1) here.store.apply({ type: "refused", worker: "w" });
    move(100);
    expect(there.store.current.workers[0]?.refused).toBe(true);
    expect([new Set(here.polled), there.polled]).toEqual([new Set(["doubts w"]), ["polls w"]]);
    expect(told).toHaveLength(1);
  });

  it("is its own affair where no connection came about: it alone doubts", () => {
    const { here, there, told, breaker, move } = two();
    here.store.apply({ ...fault(here.now()), unreached: true } as CatalogEvent);
    move(100);
    expect([told, breaker(there), here.polled]).toEqual([[], undefined, ["doubts w"]]);
  });

  it("is nothing to a gateway that has no such worker", () => {
    const { here, there, move } = two();
    there.store.apply({ type: "configured", workers: [] });
    here.store.apply(fault(here.now()));
    here.store.apply({ type: "refused", worker: "w" });
    move(100);
    expect([there.store.current.workers, there.polled]).toEqual([[], []]);
  });

  it("keeps no poll of a worker that it does not have", () => {
    const { shared, there } = two();
    for (const worker of ["w", "x"]) {
      shared[1]?.take({ kind: "polled", worker, ageMs: 0, hash: "h", result: ok(["m"]) }, "g0");
    }
    expect(there.polled).toEqual(["told of w"]);
  });
});

it("keeps nothing of a worker that only another gateway has", () => {
  const { here, shared } = two();
  const poll = { kind: "polled", ageMs: 0, hash: "h", result: ok(["m=warm"]) } as const;
  for (const worker of ["w", "elsewhere"]) shared[0]?.take({ ...poll, worker }, "g1");
  expect(here.polled).toEqual(["told of w"]);
});
