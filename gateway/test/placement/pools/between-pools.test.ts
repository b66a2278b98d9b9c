import { describe, expect, it } from "vitest";
import { brief, bin, hosts, idle, inPools, model, replica, rulesWith, World } from "./world.ts";

describe("promotion", () => {
  const poolOf = (world: World, id = "m") => {
    world.plan();
    return world.state.pools.get(id)?.pool;
  };

  it.each([
    [3_000, 2, "stable"],
    [3_001, 2, "elastic"],
    [3_001, 1, "stable"],
  ] as const)("of a model with %i tokens a second where %i bins are free: %s", (heat, free, pool) => {
    const bins = ["a", "b"].slice(0, free).map((id) => bin(id));
    expect(poolOf(new World(bins, [model("m", [50, 0.1, 0.1], { heat })]))).toBe(pool);
  });

  it("by share: 0.7 of the best bin is above 0.6, of one twice as fast it is not", () => {
    const rules = rulesWith({ promotion: { by: "share", share: 0.6 } });
    const busy = model("m", [50, 0.7, 0.1]);
    const fast = bin("fast", { capacity: { memory: 100, compute: 2, bandwidth: 2 } });
    expect(poolOf(new World([bin("a"), bin("b")], [busy], rules))).toBe("elastic");
    expect(poolOf(new World([bin("a"), bin("b"), fast], [busy], rules))).toBe("stable");
  });

  it("moves the replica to bins of its own where it shares, and leaves it where it is alone", () => {
    const models = [model("m", [40, 0.1, 0.1], { heat: 3_500 }), model("other", [40, 0.1, 0.1])];
    const shared = new World(hosts(1, 8), models);
    shared.replicas = [replica("r1", "m", ["h0.0"]), replica("r2", "other", ["h0.0"])];
    shared.state = inPools({ m: "stable", other: "stable" });
    expect(brief(shared.plan().actions)).toEqual(["r1 => h0.1", "m -> h0.2", "m -> h0.3", "m -> h0.4"]);
    const alone = new World(hosts(1, 8), models);
    alone.replicas = [replica("r1", "m", ["h0.0"]), replica("r2", "other", ["h0.7"])];
    alone.state = inPools({ m: "stable", other: "stable" });
    expect(brief(alone.plan().actions)).toEqual(["m -> h0.1", "m -> h0.2", "m -> h0.3"]);
  });

  it("comes no sooner than 30 s after a demotion", () => {
    const world = new World([bin("a"), bin("b")], [model("m", [50, 0.1, 0.1], { heat: 4_000 })]);
    world.state = { ...inPools({}), pools: new Map([["m", { pool: "stable", since: world.now - 29_999 }]]) };
    expect(poolOf(world)).toBe("stable");
    world.now += 1;
    expect(poolOf(world)).toBe("elastic");
  });
});

describe("demotion", () => {
  function quiet(): World {
    const world = new World([bin("a"), bin("b")], [model("m", [50, 0.1, 0.1], { heat: 500 })]);
    world.replicas = [replica("r1", "m", ["a"], { pool: "elastic" })];
    world.state = inPools({ m: "elastic" });
    return world;
  }

  it("comes when one replica was enough for 30 s, and costs no load", () => {
    const world = quiet();
    world.plan();
    world.now += 29_999;
    world.plan();
    expect(world.state.pools.get("m")?.pool).toBe("elastic");
    world.now += 1;
    expect(world.plan().actions).toEqual([]);
    expect(world.state.pools.get("m")?.pool).toBe("stable");
  });

  it("begins anew when more were needed meanwhile", () => {
    const world = quiet();
    const [calm] = world.models;
    world.plan();
    world.now += 20_000;
    world.models = [model("m", [50, 0.1, 0.1], { heat: 2_000 })];
    world.begin(world.plan().actions);
    world.finish();
    world.now += 10_000;
    if (calm !== undefined) world.models = [calm];
    world.begin(world.plan().actions);
    world.finish();
    world.plan();
    expect(world.state.pools.get("m")?.pool).toBe("elastic");
  });

  it("of the coldest, where bins are too few for one replica each", () => {
    const models = [4_000, 5_000, 6_000].map((heat, n) => model(`m${n}`, [40, 0.3, 0.3], { heat }));
    const world = new World([bin("a"), bin("b")], models);
    world.replicas = [replica("r1", "m1", ["a"]), replica("r2", "m2", ["b"])];
    world.state = inPools({ m0: "elastic", m1: "elastic", m2: "elastic" });
    const { actions, reasons } = world.plan();
    expect(reasons.some((reason) => reason.startsWith("m0 goes to the stable pool"))).toBe(true);
    // It finds room beside one of the others only, which shares from now on.
    expect(brief(actions)).toEqual(["m0 -> a"]);
    expect(world.state.pools.get("m1")?.pool).toBe("stable");
    expect(world.state.pools.get("m2")?.pool).toBe("elastic");
  });
});

describe("a model with a prefill and a decode part", () => {
  const parts = ["m/prefill", "m/decode"].map((id) => model(id, [50, 1, 1], { heat: 500 }));
  const parted = { ...model("m", [50, 0.3, 0.3], { heat: 4_000 }), lines: parts };

  it("keeps its stable replica until both parts serve", () => {
    const world = new World(hosts(1, 4), [parted]);
    world.replicas = [replica("r1", "m", ["h0.0"])];
    world.state = inPools({ m: "stable" });
    const { actions } = world.plan();
    expect(brief(actions)).toEqual(["m/prefill -> h0.1", "m/decode -> h0.2"]);
    world.begin(actions);
    expect(world.plan().actions).toEqual([]);
    world.finish();
    expect(brief(world.plan().actions)).toEqual(["r1 gone"]);
  });

  it("keeps its parts until the stable replica serves", () => {
    const world = new World(hosts(1, 4), [{ ...parted, heat: 500 }]);
    world.replicas = parts.map(({ id }, n) => replica(id, id, [`h0.${n}`], { pool: "elastic" }));
    world.state = inPools({ m: "stable" });
    const { actions } = world.plan();
    expect(brief(actions)).toEqual(["m -> h0.2"]);
    world.begin(actions);
    expect(world.plan().actions).toEqual([]);
    world.finish();
    expect(brief(world.plan().actions)).toEqual(["m/prefill gone", "m/decode gone"]);
  });
});

describe("without global coordination", () => {
  it("each pool has its hosts, and neither takes from the other: 2 of 4 for the stable one", () => {
    const rules = rulesWith({ coordination: "split", stableShare: 0.5 });
    const models = [
      model("hot", [50, 1, 1], { heat: 9_000 }),
      ...["a", "b", "c"].map((id) => model(id, [90, 0.1, 0.1])),
    ];
    const world = new World(hosts(2, 2), models, rules);
    const { actions, reasons } = world.plan();
    expect(brief(actions)).toEqual(["a -> h0.0", "b -> h0.1", "hot -> h1.0", "hot -> h1.1"]);
    expect(reasons).toContain("c has no replica: there is no room for it in the stable pool");
  });

  it("takes from the elastic pool with it", () => {
    const models = [
      model("hot", [50, 1, 1], { heat: 9_000 }),
      ...["a", "b", "c"].map((id) => model(id, [90, 0.1, 0.1])),
    ];
    const world = new World(hosts(2, 2), models);
    world.settle();
    expect(world.replicas.map(({ model }) => model).sort()).toEqual(["a", "b", "c", "hot"]);
  });
});

it("lets an idle model with parts go from both pools", () => {
  const parts = ["m/prefill", "m/decode"].map((id) => idle(model(id, [50, 1, 1])));
  const world = new World(hosts(1, 4), [{ ...idle(model("m", [50, 0.3, 0.3])), lines: parts }]);
  world.replicas = parts.map(({ id }, n) => replica(id, id, [`h0.${n}`], { pool: "elastic" }));
  world.state = inPools({ m: "elastic" }, { idleSince: new Map([["m", world.now - 50_000]]) });
  expect(brief(world.plan().actions)).toEqual(["m/prefill gone", "m/decode gone"]);
});
