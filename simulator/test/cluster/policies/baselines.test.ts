import { describe, expect, it } from "vitest";
import { createBlitzscale } from "../../../src/cluster/policies/blitzscale.ts";
import { createPrism } from "../../../src/cluster/policies/prism.ts";
import { shareReplicas } from "../../../src/cluster/policies/share-replicas.ts";
import { createStatic } from "../../../src/cluster/policies/static.ts";
import type { ClusterAction, ClusterPolicy, ClusterView } from "../../../src/cluster/types.ts";
import {
  activations,
  application,
  clashes,
  fakeView,
  instance,
  isAligned,
  load,
  model,
  NO_LOAD,
  SHAPE,
} from "./fake-view.ts";

/** All that its loops would do now. */
function round(policy: ClusterPolicy, view: ClusterView): ClusterAction[] {
  return policy.loops.flatMap((loop) => [...loop.run(view)]);
}

describe("shareReplicas", () => {
  it("gives whole replicas, the rest to whoever is furthest below its share", () => {
    expect(shareReplicas(16, [1, 1, 1], [1, 1, 1])).toEqual([6, 5, 5]);
    expect(shareReplicas(16, [4, 1, 2], [2, 1, 1])).toEqual([2, 4, 2]);
  });

  it("gives everyone a replica, at the cost of those with most", () => {
    expect(shareReplicas(8, [1, 1, 4], [100, 1, 1])).toEqual([3, 1, 1]);
  });

  it("leaves out the widest of the least wanted when one each is too many", () => {
    expect(shareReplicas(4, [4, 2, 2], [1, 1, 1])).toEqual([0, 1, 1]);
  });

  it("never gives more than there is", () => {
    for (let devices = 0; devices < 40; devices += 1) {
      const spans = [1, 2, 4, 8, 1];
      const counts = shareReplicas(devices, spans, [5, 0, 3, 1, 1]);
      const used = counts.reduce((sum, count, i) => sum + count * (spans[i] ?? 0), 0);
      expect(used).toBeLessThanOrEqual(devices);
      expect(used).toBeGreaterThan(devices - 1);
    }
  });
});

describe("static", () => {
  it("takes all devices at the start, in aligned spans, and does nothing after", () => {
    const view = fakeView([application("a"), application("b", model(4, 64)), application("c", model(2, 60))]);
    const policy = createStatic(null);
    const actions = policy.start(view);
    expect(clashes(actions, view)).toEqual([]);
    expect(activations(actions).flatMap((it) => [...it.devices])).toHaveLength(16);
    expect(activations(actions).every((it) => isAligned(it.devices, SHAPE))).toBe(true);
    expect(policy.loops).toEqual([]);
  });

  it("shares by demand where it is known", () => {
    const actions = createStatic([3, 1]).start(fakeView([application("a"), application("b")]));
    expect(activations(actions).filter((it) => it.app === 0)).toHaveLength(12);
  });
});

describe("Prism-like", () => {
  it("puts a model that is asked for where the pressure is least", () => {
    const view = fakeView([application("a"), application("b")], {
      instances: Array.from({ length: 15 }, (_, device) => instance(device, 0, [device])),
      loads: [load(10), load(1)],
    });
    const actions = createPrism().onCold?.(1, view) ?? [];
    expect(actions).toMatchObject([{ kind: "activate", app: 1, devices: [15], role: "both" }]);
  });

  it("shares a device, as far as weights leave room for requests", () => {
    const shape = { ...SHAPE, hosts: 1, devicesPerHost: 1 };
    const busy = [instance(1, 0, [0])];
    const fits = fakeView([application("a"), application("b")], { shape, instances: busy, loads: [load(1), load(1)] });
    expect(activations(createPrism().onCold?.(1, fits) ?? [])).toHaveLength(1);
    const tooBig = fakeView([application("a"), application("b", model(1, 32))], {
      shape,
      instances: busy,
      loads: [load(1), load(1)],
    });
    expect(createPrism().onCold?.(1, tooBig)).toEqual([]);
  });

  it("adds a replica when more than 10 % is late, and not before the last one shows", () => {
    const apps = [application("a")];
    const loads = [load(5)];
    const one = [instance(1, 0, [0])];
    expect(round(createPrism(), fakeView(apps, { loads, instances: one, onTime: [0.91] }))).toEqual([]);
    const late = fakeView(apps, { loads, instances: one, onTime: [0.89] });
    expect(activations(round(createPrism(), late))).toHaveLength(1);
    const starting = [...one, instance(2, 0, [1], { state: "starting" })];
    expect(round(createPrism(), fakeView(apps, { loads, instances: starting, onTime: [0.5] }))).toEqual([]);
  });

  it("evicts after 50 s without work, and what is idle when another needs its place", () => {
    const shape = { ...SHAPE, hosts: 1, devicesPerHost: 1 };
    const big = [application("a", model(1, 30)), application("b", model(1, 30))];
    const since = (idleSince: number) => [instance(1, 0, [0], { running: 0, idleSince })];
    expect(round(createPrism(), fakeView(big, { shape, instances: since(51_000) }))).toEqual([]);
    expect(round(createPrism(), fakeView(big, { shape, instances: since(50_000) }))).toMatchObject([
      { kind: "release", instance: 1 },
    ]);
    const asked = fakeView(big, { shape, instances: since(95_000), loads: [NO_LOAD, load(1)] });
    expect(createPrism().onCold?.(1, asked)).toMatchObject([{ kind: "release", instance: 1 }]);
  });

  it("moves an instance only when the pressure falls by enough", () => {
    const apps = [application("a"), application("b")];
    const crowded = fakeView(apps, {
      instances: [instance(1, 0, [0]), instance(2, 1, [0])],
      loads: [load(9), load(1)],
    });
    expect(round(createPrism(), crowded)).toMatchObject([{ kind: "move", instance: 1, to: [1] }]);
    const alone = fakeView(apps, { instances: [instance(1, 0, [0])], loads: [load(9), NO_LOAD] });
    expect(round(createPrism(), alone)).toEqual([]);
  });
});

describe("BlitzScale-like", () => {
  it("starts as many prefill and decode instances as the load keeps busy, live and on whole devices", () => {
    const view = fakeView([application("a"), application("b", model(4, 64))], {
      loads: [load(40), load(1)],
      instances: [instance(1, 0, [0], { role: "prefill" })],
    });
    const actions = round(createBlitzscale(), view);
    expect(clashes(actions, view)).toEqual([]);
    expect(activations(actions).every((it) => isAligned(it.devices, SHAPE) && it.live === true)).toBe(true);
    const roles = activations(actions).map((it) => `${it.app}.${it.role}`);
    // 40 prompts of 1,000 tokens at 86 ms each, at most 80 % busy: five, one of which is there.
    expect(roles.filter((it) => it === "0.prefill")).toHaveLength(4);
    expect(new Set(roles)).toEqual(new Set(["0.prefill", "0.decode", "1.prefill", "1.decode"]));
  });

  it("lets go of what was not needed for a while", () => {
    const instances = [1, 2].map((id) => instance(id, 0, [id], { role: "prefill" as const, running: 2 - id }));
    const policy = createBlitzscale();
    const at = (now: number) => round(policy, fakeView([application("a")], { now, instances, loads: [load(1)] }));
    expect(at(0).filter((it) => it.kind === "release")).toEqual([]);
    expect(at(14_999).filter((it) => it.kind === "release")).toEqual([]);
    expect(at(15_000).filter((it) => it.kind === "release")).toMatchObject([{ instance: 2 }]);
  });

  it("takes no more than there is", () => {
    const view = fakeView([application("a"), application("b")], { loads: [load(10_000), load(10_000)] });
    const actions = round(createBlitzscale(), view);
    expect(activations(actions)).toHaveLength(16);
    expect(clashes(actions, view)).toEqual([]);
  });
});
