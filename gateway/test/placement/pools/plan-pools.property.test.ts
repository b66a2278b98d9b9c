import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PoolRules } from "../../../src/placement/pools/rules.ts";
import type { Bin, ModelView, PoolAction, Replica } from "../../../src/placement/pools/types.ts";
import { bin, idle, model, rulesWith, World } from "./world.ts";

const anyBins = fc
  .array(
    fc.record({
      devices: fc.integer({ min: 1, max: 4 }),
      memory: fc.constantFrom(60, 100, 140),
      compute: fc.constantFrom(0.5, 1, 2),
      maxModels: fc.integer({ min: 1, max: 3 }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((hosts) =>
    hosts.flatMap(({ devices, memory, compute, maxModels }, h): Bin[] =>
      Array.from({ length: devices }, (_, index) =>
        bin(`h${h}.${index}`, {
          host: `h${h}`,
          index,
          maxModels,
          capacity: { memory, compute, bandwidth: compute },
        }),
      ),
    ),
  );

const anyModel = fc.record({
  memory: fc.integer({ min: 5, max: 90 }),
  compute: fc.integer({ min: 1, max: 80 }),
  bandwidth: fc.integer({ min: 1, max: 80 }),
  span: fc.constantFrom(1, 1, 1, 2),
  heat: fc.constantFrom(0, 10, 500, 2_000, 4_000, 9_000),
  parts: fc.constantFrom(false, false, true),
  near: fc.constantFrom(false, false, false, true),
});
type AnyModel = typeof anyModel extends fc.Arbitrary<infer T> ? T : never;

function viewOf({ memory, compute, bandwidth, span, heat, parts, near }: AnyModel, n: number, bins: readonly Bin[]) {
  const id = `m${n}`;
  const allowed = near ? new Set(bins.slice(0, Math.ceil(bins.length / 2)).map((each) => each.id)) : null;
  const takes = [memory * span, (compute / 100) * span, (bandwidth / 100) * span] as const;
  const whole = model(id, takes, { span, heat, allowed });
  const lines = ["prefill", "decode"].map((part) => model(`${id}/${part}`, takes, { span, heat, allowed }));
  const view = parts ? { ...whole, lines } : whole;
  return heat === 0 ? idle(view) : view;
}

const anyRules = fc.record({
  coordination: fc.constantFrom<PoolRules["coordination"]>("global", "global", "split"),
  promotion: fc.constantFrom<PoolRules["promotion"]>(
    { by: "heat", tokensPerSecond: 3_000 },
    { by: "share", share: 0.5 },
    { by: "never" },
    { by: "always" },
  ),
  shareBy: fc.constantFrom<PoolRules["shareBy"]>("wanted", "heat"),
});

const anyStep = fc.record({
  heats: fc.array(fc.constantFrom(0, 10, 500, 2_000, 4_000, 9_000), { minLength: 8, maxLength: 8 }),
  passed: fc.constantFrom(500, 500, 6_000, 31_000, 60_000),
  finish: fc.boolean(),
});

const anyWorld = fc.record({
  bins: anyBins,
  models: fc.array(anyModel, { minLength: 1, maxLength: 8 }),
  rules: anyRules,
  steps: fc.array(anyStep, { minLength: 1, maxLength: 6 }),
  foreign: fc.subarray(["h0.0", "h1.0", "h2.1"], { maxLength: 1 }),
});
type AnyWorld = typeof anyWorld extends fc.Arbitrary<infer T> ? T : never;

/** Lives through the steps; `look` sees each decision before it is begun. */
function live(
  { bins, models, rules, steps, foreign }: AnyWorld,
  look: (world: World, actions: readonly PoolAction[], views: readonly ModelView[]) => void,
): World {
  const world = new World(bins, [], rulesWith(rules));
  world.foreign = new Set(foreign);
  for (const { heats, passed, finish } of steps) {
    world.models = models.map((each, n) => viewOf({ ...each, heat: heats[n] ?? each.heat }, n, bins));
    const { actions } = world.plan();
    look(world, actions, world.models);
    world.begin(actions);
    if (finish) world.finish();
    world.now += passed;
  }
  return world;
}

const targets = (action: PoolAction) =>
  action.kind === "activate" ? action.bins : action.kind === "move" ? action.to : [];

describe("over arbitrary farms and loads", () => {
  it("puts every replica on aligned bins of one host, as many as it spans, where it may be", () => {
    fc.assert(
      fc.property(anyWorld, (given) => {
        live(given, (world, actions) => {
          const byId = new Map(world.bins.map((each) => [each.id, each]));
          for (const action of actions) {
            const ids = targets(action);
            if (ids.length === 0) continue;
            const on = ids.map((id) => byId.get(id));
            const of = action.kind === "activate" ? action.model : "";
            const id =
              action.kind === "move" ? (world.replicas.find((each) => each.id === action.replica)?.model ?? "") : of;
            const view = lineNamed(world.models, id);
            expect(ids).toHaveLength(view.span);
            expect(new Set(on.map((each) => each?.host)).size).toBe(1);
            expect((on[0]?.index ?? 0) % view.span).toBe(0);
            expect(on.map((each) => (each?.index ?? 0) - (on[0]?.index ?? 0))).toEqual([...on.keys()]);
            expect(ids.every((each) => view.allowed?.has(each) ?? true)).toBe(true);
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  it("never starts more on a bin than its memory holds, nor more than maxModels", () => {
    fc.assert(
      fc.property(anyWorld, (given) => {
        live(given, (world, actions) => {
          const touched = new Set(actions.flatMap(targets));
          const after = new World(world.bins, world.models);
          after.replicas = world.replicas;
          after.begin(actions.filter(({ kind }) => kind !== "release"));
          for (const each of world.bins) {
            if (!touched.has(each.id)) continue;
            const on = after.replicas.filter(({ bins }) => bins.includes(each.id));
            expect(on.length).toBeLessThanOrEqual(each.maxModels);
            expect(sum(on, world.models, "memory")).toBeLessThanOrEqual(each.capacity.memory + 1e-6);
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  it("never shares a bin beyond its compute and bandwidth, but for who needs more than all of it and has it alone", () => {
    fc.assert(
      fc.property(anyWorld, (given) => {
        live(given, (world, actions) => {
          const begun = new World(world.bins, world.models);
          begun.replicas = world.replicas;
          begun.begin(actions);
          begun.finish();
          const touched = new Set(actions.flatMap(targets));
          for (const each of world.bins) {
            if (!touched.has(each.id)) continue;
            const on = begun.replicas.filter(({ bins }) => bins.includes(each.id));
            if (on.length < 2 || on.some(({ model: id }) => id.includes("/"))) continue;
            for (const k of ["compute", "bandwidth"] as const) {
              expect(sum(on, world.models, k)).toBeLessThanOrEqual(each.capacity[k] + 1e-6);
            }
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  it("does nothing on a bin that something else uses", () => {
    fc.assert(
      fc.property(anyWorld, (given) => {
        const { foreign } = given;
        live(given, (world, actions) => {
          for (const action of actions) {
            expect(targets(action).some((id) => foreign.includes(id))).toBe(false);
            if (action.kind === "activate") continue;
            const from = world.replicas.find(({ id }) => id === action.replica);
            expect(from?.bins.some((id) => foreign.includes(id))).toBe(false);
          }
        });
      }),
      { numRuns: 50 },
    );
  });

  it("acts on each replica once, and only on one that is there and stays", () => {
    fc.assert(
      fc.property(anyWorld, (given) => {
        live(given, (world, actions) => {
          const ids = actions.flatMap((action) => (action.kind === "activate" ? [] : [action.replica]));
          expect(new Set(ids).size).toBe(ids.length);
          for (const id of ids) {
            const there = world.replicas.find((each) => each.id === id);
            expect(there?.state).toMatch(/active|starting/);
          }
        });
      }),
      { numRuns: 50 },
    );
  });

  it("comes to rest, and says nothing new to what it was told before", () => {
    fc.assert(
      fc.property(anyWorld, (given) => {
        const world = live(given, () => undefined);
        world.finish();
        expect(world.settle()).toBeLessThan(10);
        expect(world.plan().actions).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it("is a function of its input", () => {
    fc.assert(
      fc.property(anyWorld, (given) => {
        const seen: (readonly PoolAction[])[][] = [[], []];
        for (const each of seen) live(given, (_, actions) => each.push(actions));
        expect(seen[0]).toEqual(seen[1]);
      }),
      { numRuns: 30 },
    );
  });

  it("serves every active model once it has come to rest, where there was room", () => {
    fc.assert(
      fc.property(anyWorld, (given) => {
        // Room beyond doubt: a host of free bins for each line of each model.
        const models = given.models.map((each) => ({ ...each, near: false, memory: Math.min(each.memory, 50) }));
        const spare = Array.from({ length: 4 * models.length }, (_, n) =>
          bin(`x${Math.floor(n / 2)}.${n % 2}`, { host: `x${Math.floor(n / 2)}`, index: n % 2 }),
        );
        const rules = { ...given.rules, coordination: "global" as const };
        const world = live({ ...given, models, rules, bins: [...given.bins, ...spare] }, () => undefined);
        world.finish();
        expect(world.settle()).toBeLessThan(10);
        for (const view of world.models) {
          if (view.heat === 0) continue;
          const isElastic = world.state.pools.get(view.id)?.pool === "elastic";
          const ids = isElastic && view.lines !== undefined ? view.lines.map(({ id }) => id) : [view.id];
          for (const id of ids) expect(world.replicas.some((each) => each.model === id)).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });
});

function lineNamed(models: readonly ModelView[], id: string): ModelView {
  const found = models.flatMap((each) => [each, ...(each.lines ?? [])]).find((each) => each.id === id);
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
}

function sum(on: readonly Replica[], models: readonly ModelView[], k: "memory" | "compute" | "bandwidth"): number {
  return on.reduce((total, { model: id }) => {
    const { demand, span } = lineNamed(models, id);
    return total + demand[k] / span;
  }, 0);
}
