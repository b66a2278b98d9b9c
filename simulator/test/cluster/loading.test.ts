import { describe, expect, test } from "vitest";
import { HostStore } from "../../src/cluster/host-store.ts";
import type { ClusterView } from "../../src/cluster/types.ts";
import { activate, appOf, run } from "./small-cluster.ts";

const late = (at: number, devices: readonly number[], live = false) => ({
  at,
  act: () => [activate(0, devices, "both", live)],
});
const first = (view: ClusterView) => view.instances[0]?.id ?? -1;

describe("a load", () => {
  test("comes from disk when no host has a copy, and loads of one host read one after the other", () => {
    const applications = [appOf("a"), appOf("b")];
    const both = { at: 100, act: () => [activate(0, [0]), activate(1, [1])] };
    const { notes } = run({
      applications,
      asks: [
        { at: 0, output: 1 },
        { at: 0, app: 1, output: 1 },
      ],
      later: [both],
    });
    expect(notes.loads).toEqual([
      { source: "disk", bytes: 1e9, ms: 5_300 },
      { source: "disk", bytes: 1e9, ms: 10_300 },
    ]);
    expect(notes.ends.map(({ ttft }) => ttft)).toEqual([5_510, 10_510]);
  });

  test("comes from host memory when there is a copy", () => {
    const { notes } = run({ asks: [{ at: 0, output: 1 }], later: [late(50, [0])], shape: { hostMemory: 2e9 } });
    expect(notes.loads).toEqual([{ source: "host", bytes: 1e9, ms: 700 }]);
    expect(notes.ends[0]?.ttft).toBe(50 + 700 + 110);
  });

  test("comes from another host's memory where the own has no copy", () => {
    // Each host has room for one of the two.
    const applications = [appOf("a"), appOf("b")];
    const later = [{ at: 50, act: () => [activate(0, [0]), activate(1, [1])] }];
    const asks = [
      { at: 0, output: 1 },
      { at: 0, app: 1, output: 1 },
    ];
    const { notes } = run({ applications, asks, later, shape: { hostMemory: 1e9 } });
    expect(notes.loads.map(({ source, ms }) => `${source} ${ms}`).sort()).toEqual(["host 700", "peer 1200"]);
  });

  test("comes from a peer before all others, one after the other from the same", () => {
    const asks = [
      { at: 0, output: 1 },
      { at: 2_000, output: 1 },
    ];
    const later = [{ at: 100, act: () => [activate(0, [1]), activate(0, [2])] }];
    const { notes } = run({ asks, start: [activate(0, [0])], later, shape: { hostMemory: 2e9 } });
    expect(notes.loads).toEqual([
      { source: "fork", bytes: 1e9, ms: 200 },
      { source: "fork", bytes: 1e9, ms: 300 },
    ]);
  });

  test("comes from the peer whose links are free first", () => {
    const start = [activate(0, [0]), activate(0, [1])];
    const later = [{ at: 100, act: () => [activate(0, [2]), activate(0, [3])] }];
    const { notes } = run({ asks: [{ at: 2_000, output: 1 }], start, later });
    expect(notes.loads.map(({ ms }) => ms)).toEqual([200, 200]);
  });

  test("takes the copy in host memory when the peer is busy for longer", () => {
    const asks = [{ at: 3_000, output: 1 }];
    const start = [activate(0, [0])];
    const later = [{ at: 100, act: () => [activate(0, [1]), activate(0, [2])] }];
    const { notes } = run({ asks, start, later, shape: { hostMemory: 2e9, peerRate: 1.7e9 } });
    expect(notes.loads.map(({ source }) => source).sort()).toEqual(["fork", "host"]);
  });

  test("tells a policy beforehand what it will take", () => {
    const seen: number[] = [];
    const look = { at: 10, act: (view: ClusterView) => (seen.push(view.loadMs(0, [1]), view.loadMs(1, [1])), []) };
    const applications = [appOf("a"), appOf("b")];
    run({ applications, asks: [{ at: 20, output: 1 }], start: [activate(0, [0])], later: [look] });
    expect(seen).toEqual([200, 5_300]);
  });

  test("serves from its half on at half the pace when it is live", () => {
    const asks = [{ at: 0, output: 1 }];
    const { notes } = run({ asks, later: [late(50, [0], true)], shape: { hostMemory: 2e9 } });
    // From 400 ms on; the whole prompt at half the pace.
    expect(notes.ends[0]?.ttft).toBe(400 + 220);
  });

  test("waits until requests of another model have left room for it", () => {
    const applications = [appOf("a"), appOf("b")];
    const asks = [
      { at: 0, input: 15_000, output: 101 },
      { at: 5_000, app: 1, output: 1 },
    ];
    const later = [{ at: 1_600, act: () => [activate(1, [0])] }];
    const { notes } = run({ applications, asks, start: [activate(0, [0])], later, shape: { hostMemory: 2e9 } });
    const [one, other] = notes.ends;
    expect(one?.outcome).toBe("done");
    expect(notes.loads).toHaveLength(1);
    expect(other?.ttft).toBe(110);
  });
});

describe("an instance", () => {
  test("that is released ends what it works at, and then leaves", () => {
    const asks = [
      { at: 0, output: 1_001 },
      { at: 600, output: 1 },
    ];
    const release = {
      at: 500,
      act: (view: ClusterView) => [{ kind: "release" as const, instance: first(view), reason: "" }],
    };
    const { notes } = run({ asks, start: [activate(0, [0])], later: [release] });
    expect(notes.ends.map(({ outcome }) => outcome)).toEqual(["done", "timed-out"]);
    expect(notes.evictions).toBe(1);
    expect(notes.used).toContainEqual([notes.ends[0]?.endedAt, 0]);
  });

  test("that moves serves until the new one is ready", () => {
    const asks = Array.from({ length: 50 }, (_, n) => ({ at: 20 * n, input: 10, output: 1 }));
    const move = {
      at: 100,
      act: (view: ClusterView) => [{ kind: "move" as const, instance: first(view), to: [3], reason: "" }],
    };
    const { notes } = run({ asks, start: [activate(0, [0])], later: [move] });
    expect(notes.ends.every(({ ttft, outcome }) => outcome === "done" && ttft < 15)).toBe(true);
    expect([notes.moves, notes.evictions, notes.loads.length]).toEqual([1, 1, 1]);
    expect(notes.used.map(([, used]) => used)).toEqual([0, 1, 2, 1, 1]);
  });

  test("of a cold application is started by the policy's answer to its first request", () => {
    const onCold = () => [activate(0, [2])];
    const { notes, result } = run({
      asks: [
        { at: 7, output: 1 },
        { at: 8, output: 1 },
      ],
      onCold,
    });
    expect(notes.ends.map(({ ttft }) => ttft)).toEqual([5_410, 5_519]);
    expect(result.counts.activations).toBe(1);
  });
});

test("the memory of a host lets go what was not used for the longest", () => {
  const store = new HostStore(10);
  store.keep(1, 4);
  store.keep(2, 4);
  store.keep(1, 4);
  store.keep(3, 6);
  expect([1, 2, 3].map((app) => store.has(app))).toEqual([true, false, true]);
  store.keep(4, 11);
  expect(store.heldBytes).toBe(10);
});
