import { describe, expect, it } from "vitest";
import { POLICIES } from "../../../src/cluster/names.ts";
import { createPolicy } from "../../../src/cluster/policies/by-name.ts";
import { busyInstances } from "../../../src/cluster/policies/speeds.ts";
import { createPools } from "../../../src/cluster/policies/pools.ts";
import type { ClusterView, InstanceView } from "../../../src/cluster/types.ts";
import { activations, application, clashes, fakeView, instance, isAligned, load, model, SHAPE } from "./fake-view.ts";

const MIXED = [application("small"), application("wide", model(4, 64)), application("pair", model(2, 30))];

describe("every policy", () => {
  it.each(POLICIES)("%s starts instances on free devices, in aligned spans, of the size that the model has", (name) => {
    const view = fakeView(MIXED, { loads: [load(3), load(2), load(1)], waiting: [2, 1, 1] });
    const policy = createPolicy(name, { seed: 1, demand: [2, 4, 2] });
    const actions = [...policy.start(view), ...(policy.onCold?.(1, view) ?? []), ...run(policy, view)];
    const started = activations(actions);
    expect(started.length).toBeGreaterThan(0);
    for (const { app, devices } of started) {
      expect(devices).toHaveLength(MIXED[app]?.model.tensorParallel ?? 0);
      expect(isAligned(devices, SHAPE)).toBe(true);
    }
  });

  it.each(POLICIES)("%s takes no device that others have for themselves", (name) => {
    // Each device holds two models, as many as may share one.
    const instances = Array.from({ length: 16 }, (_, device) => [
      instance(2 * device, 0, [device]),
      instance(2 * device + 1, 1, [device]),
    ]).flat();
    const view = fakeView(
      ["a", "b", "c"].map((one) => application(one)),
      {
        instances,
        loads: [load(50), load(50), load(50)],
        waiting: [50, 50, 50],
        onTime: [0.1, 0.1, 0.1],
      },
    );
    const policy = createPolicy(name, { seed: 1, demand: [1, 1, 1] });
    const actions = [...policy.start(view), ...(policy.onCold?.(2, view) ?? []), ...run(policy, view)];
    expect(activations(actions)).toEqual([]);
  });
});

describe("the pools in the cluster", () => {
  it("serve a small load beside others and give a large one devices of its own, prefill and decode apart", () => {
    const view = fakeView([application("large"), application("small")], { loads: [load(30), load(0.2)] });
    const actions = run(createPools({ name: "two-pools", seed: 1 }), view);
    expect(clashes(actions, view)).toEqual([]);
    const roles = (app: number) => new Set(activations(actions).flatMap((it) => (it.app === app ? [it.role] : [])));
    expect(roles(0)).toEqual(new Set(["prefill", "decode"]));
    expect(roles(1)).toEqual(new Set(["both"]));
  });

  it("remember what their instances were started as, and plan on from there", () => {
    const policy = createPools({ name: "two-pools", seed: 1 });
    const loads = [load(30)];
    const first = activations(run(policy, fakeView([application("large")], { loads })));
    const instances = first.map(({ app, role, devices }, id): InstanceView => instance(id, app, devices, { role }));
    const again = run(policy, fakeView([application("large")], { loads, instances, now: 100_500 }));
    expect(activations(again)).toEqual([]);
  });

  it("split a load over several stable replicas, and let go of those that are not needed after a while", () => {
    const policy = createPools({
      name: "stable-only",
      seed: 1,
      rules: { promotion: { by: "never" } },
      severalStable: true,
    });
    const at = (now: number, rate: number, instances: readonly InstanceView[] = []): ClusterView =>
      fakeView([application("large")], { now, loads: [load(rate)], instances });
    const first = activations(run(policy, at(100_000, 20)));
    expect(first.length).toBeGreaterThan(1);
    const instances = first.map(({ app, devices }, id) => instance(id, app, devices));
    expect(run(policy, at(100_500, 0.1, instances))).toEqual([]);
    const later = run(policy, at(130_500, 0.1, instances));
    expect(later.filter(({ kind }) => kind === "release")).toHaveLength(first.length - 1);
  });
});

describe("busyInstances", () => {
  it("is in proportion to the rate, and less on faster devices", () => {
    const one = busyInstances(SHAPE, application("a"), load(10));
    const two = busyInstances(SHAPE, application("a"), load(20));
    expect(two.prefill).toBeCloseTo(2 * one.prefill);
    expect(two.decode).toBeCloseTo(2 * one.decode);
    const faster = { ...SHAPE, deviceCompute: 2 * SHAPE.deviceCompute };
    expect(busyInstances(faster, application("a"), load(10)).prefill).toBeLessThan(one.prefill);
  });
});

/** What the first loop, which plans, would do now. */
function run(policy: ReturnType<typeof createPools>, view: ClusterView) {
  return policy.loops.slice(0, 1).flatMap((loop) => [...loop.run(view)]);
}
