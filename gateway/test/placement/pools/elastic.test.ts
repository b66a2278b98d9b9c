import { describe, expect, it } from "vitest";
import { judgePlan } from "../../../src/placement/pools/judge-plan.ts";
import { smallestCount, smallestThat } from "../../../src/placement/pools/replica-count.ts";
import { DEFAULT_POOL_RULES } from "../../../src/placement/pools/rules.ts";
import type { ElasticPlan } from "../../../src/placement/pools/types.ts";
import { bin, brief, hosts, inPools, model, replica, rulesWith, World } from "./world.ts";

const always = rulesWith({ promotion: { by: "always" } });

describe("how many replicas", () => {
  const rules = DEFAULT_POOL_RULES;

  it.each([1, 3, 4, 50, 100])(
    "4 for 4,000 tokens a second at 1,000 each and a target of 0.95, searched from %i",
    (from) => {
      expect(smallestCount(model("m", [1, 1, 1], { heat: 4_000 }), 100, from, rules)).toBe(4);
    },
  );

  it("counts on mean - 1 sigma: 0.97 with sigma 0.03 is not enough, with 0.02 it is", () => {
    const onTime = (sigma: number) => (n: number) => ({ mean: n === 1 ? 0.97 : 1, variance: sigma ** 2 });
    expect(smallestCount(model("m", [1, 1, 1], { onTime: onTime(0.03) }), 8, 1, rules)).toBe(2);
    expect(smallestCount(model("m", [1, 1, 1], { onTime: onTime(0.02) }), 8, 1, rules)).toBe(1);
  });

  it("takes what comes within 0.01 of the best where 0.95 is out of reach, not every bin", () => {
    const onTime = (n: number) => ({ mean: Math.min(0.8, 0.2 * n), variance: 0 });
    expect(smallestCount(model("m", [1, 1, 1], { onTime }), 768, 1, rules)).toBe(4);
  });

  it("asks for one where nothing can be predicted", () => {
    const onTime = () => ({ mean: Number.NaN, variance: Number.NaN });
    expect(smallestCount(model("m", [1, 1, 1], { onTime }), 768, 1, rules)).toBe(1);
  });

  it("never answers with a number that it did not see hold, where more replicas may do worse", () => {
    for (let seed = 1; seed < 300; seed += 1) {
      const holds = (n: number) => (n * 2_654_435_761 * seed) % 7 > 4;
      const found = smallestThat(holds, 40, 1 + (seed % 40));
      expect(found === null || holds(found)).toBe(true);
    }
  });

  it("asks a dozen times at most of 768, and twice where the last answer still holds", () => {
    let asked = 0;
    const onTime = (n: number) => {
      asked += 1;
      return { mean: n >= 200 ? 1 : 0, variance: 0 };
    };
    smallestCount(model("m", [1, 1, 1], { onTime }), 768, 200, rules);
    expect(asked).toBe(2);
    smallestCount(model("m", [1, 1, 1], { onTime }), 768, 1, rules);
    expect(asked).toBeLessThan(2 + 20);
  });
});

describe("a line that needs many more replicas", () => {
  const bins = Array.from({ length: 64 }, (_, n) => bin(`b${n}`));
  const counts = (world: World) => world.replicas.filter(({ state }) => state !== "draining").length;
  const grow = (world: World) => {
    const { actions } = world.plan();
    world.begin(actions);
    world.finish();
    return counts(world);
  };

  it("doubles and adds one within 5 s, from what it had before they began: 1, 3, and then 7", () => {
    const world = new World(bins, [model("m", [1, 1, 1], { heat: 500 })], always);
    expect(grow(world)).toBe(1);
    world.models = [model("m", [1, 1, 1], { heat: 40_000 })];
    world.now += 500;
    expect(grow(world)).toBe(3);
    world.now += 4_900;
    expect(grow(world)).toBe(3);
    world.now += 200;
    expect(grow(world)).toBe(7);
  });

  it("begins with all that it needs, and never has more than are enough", () => {
    const needsTen = model("m", [1, 1, 1], { heat: 10_000 });
    expect(grow(new World(bins, [needsTen], always))).toBe(10);
    expect(grow(new World(bins, [{ ...needsTen, enough: 4 }], always))).toBe(4);
  });
});

describe("a line that needs fewer replicas", () => {
  const line = (heat: number) => model("m", [1, 1, 1], { heat });
  const counts = (world: World) => world.replicas.filter(({ state }) => state !== "draining").length;
  const plan = (world: World, heat: number, afterMs: number) => {
    world.now += afterMs;
    world.models = [line(heat)];
    world.begin(world.plan().actions);
    world.finish();
    return counts(world);
  };
  const grown = (bins: number) => {
    const world = new World(
      Array.from({ length: bins }, (_, n) => bin(`b${n}`)),
      [line(10_000)],
      always,
    );
    world.settle();
    expect(counts(world)).toBe(10);
    return world;
  };

  it("gives up what was surplus for 15 s, and keeps the most that was wanted meanwhile", () => {
    const world = grown(64);
    expect(plan(world, 2_000, 500)).toBe(10);
    expect(plan(world, 4_000, 10_000)).toBe(10);
    expect(plan(world, 2_000, 4_000)).toBe(10);
    expect(plan(world, 2_000, 1_100)).toBe(4);
  });

  it("begins to count anew when all were needed again", () => {
    const world = grown(64);
    expect(plan(world, 2_000, 500)).toBe(10);
    expect(plan(world, 10_000, 14_000)).toBe(10);
    expect(plan(world, 2_000, 2_000)).toBe(10);
  });

  it("gives them up at once where that would take more than 80 % of the bins", () => {
    expect(plan(grown(12), 2_000, 500)).toBe(2);
    expect(plan(grown(13), 2_000, 500)).toBe(10);
  });
});

describe("whether a plan takes the place of the last one", () => {
  const plan = (at: number, counts: Record<string, number>, heats: Record<string, number> = { a: 1_000, b: 1_000 }) =>
    ({ at, counts: new Map(Object.entries(counts)), heats: new Map(Object.entries(heats)) }) satisfies ElasticPlan;
  const judge = (next: ElasticPlan, plans: readonly ElasticPlan[], fits = true) =>
    judgePlan(next, plans, fits, DEFAULT_POOL_RULES.oscillation).accepted;
  const last = plan(0, { a: 4, b: 4 });

  it("no, when heats moved by 20 % and counts by 1 within 5 s", () => {
    expect(judge(plan(4_900, { a: 5, b: 4 }, { a: 1_200, b: 1_000 }), [last])).toBe(false);
  });
  it.each([
    ["5 s have passed", plan(5_000, { a: 5, b: 4 })],
    ["a heat moved by 21 %", plan(500, { a: 5, b: 4 }, { a: 1_210, b: 1_000 })],
    ["a count moved by 2", plan(500, { a: 6, b: 4 })],
    ["another model is there", plan(500, { a: 4, c: 4 })],
  ])("yes, when %s", (_, next) => expect(judge(next, [last])).toBe(true));

  it("no, when it takes back within 5 s what the last plan changed: +2, then -2", () => {
    expect(judge(plan(2_000, { a: 4, b: 4 }), [plan(1_000, { a: 6, b: 4 }), plan(0, { a: 4, b: 4 })])).toBe(false);
    expect(judge(plan(5_000, { a: 4, b: 4 }), [plan(1_000, { a: 6, b: 4 }), plan(0, { a: 4, b: 4 })])).toBe(true);
  });
  it("yes all the same, when a heat moved by 51 %, or a count by 3", () => {
    const plans = [plan(1_000, { a: 7, b: 4 }), plan(0, { a: 4, b: 4 })];
    expect(judge(plan(2_000, { a: 6, b: 4 }, { a: 490, b: 1_000 }), plans)).toBe(true);
    expect(judge(plan(2_000, { a: 4, b: 4 }), plans)).toBe(true);
  });
  it("yes, when the last plan needs more bins than there are", () => {
    expect(judge(plan(500, { a: 4, b: 3 }), [last], false)).toBe(true);
  });
  it("no jump for a cold model: 1 to 60 tokens a second", () => {
    expect(judge(plan(500, { a: 5, b: 4 }, { a: 1_000, b: 60 }), [plan(0, { a: 4, b: 4 }, { a: 1_000, b: 1 })])).toBe(
      false,
    );
  });
});

describe("where elastic replicas go", () => {
  function world(models: World["models"], bins: World["bins"], replicas: World["replicas"]): World {
    const made = new World(bins, models, always);
    made.replicas = replicas.map((each) => ({ ...each, pool: "elastic" }));
    made.state = inPools(Object.fromEntries(models.map(({ id }) => [id, "elastic" as const])));
    return made;
  }

  it("takes the free bins, one each, the fastest first", () => {
    const fast = bin("fast", { capacity: { memory: 100, compute: 2, bandwidth: 2 } });
    expect(brief(world([model("m", [50, 1, 1], { heat: 2_000 })], [bin("a"), fast], []).plan().actions)).toEqual([
      "m -> fast",
      "m -> a",
    ]);
  });

  it("starts beside a replica that leaves where 40 + 45 of 100 bytes and a tenth spare fit, in the same plan", () => {
    const models = [model("up", [45, 1, 1], { heat: 2_000 }), model("down", [40, 1, 1], { heat: 500 })];
    const there = [replica("r1", "up", ["a"]), replica("r2", "down", ["b"]), replica("r3", "down", ["c"])];
    expect(brief(world(models, [bin("a"), bin("b"), bin("c")], there).plan().actions)).toEqual(["r3 gone", "up -> c"]);
  });

  it("waits for it to leave where 60 + 45 do not, and then starts", () => {
    const models = [model("up", [45, 1, 1], { heat: 2_000 }), model("down", [60, 1, 1], { heat: 500 })];
    const there = [replica("r1", "up", ["a"]), replica("r2", "down", ["b"]), replica("r3", "down", ["c"])];
    const farm = world(models, [bin("a"), bin("b"), bin("c")], there);
    const { actions, reasons } = farm.plan();
    expect(brief(actions)).toEqual(["r3 gone"]);
    expect(reasons).toContain("replica 2 of 2 of up waits for bins");
    farm.begin(actions);
    expect(farm.plan().actions).toEqual([]);
    farm.finish();
    expect(brief(farm.plan().actions)).toEqual(["up -> c"]);
  });

  it("gives the stable pool its bins first: the coldest line with more than one replica gives one back", () => {
    const models = [
      model("hot", [90, 1, 1], { heat: 9_000 }),
      model("warm", [90, 1, 1], { heat: 2_000 }),
      model("new", [50, 0.5, 0.5]),
    ];
    const there = ["a", "b", "c"].map((id) => replica(`hot.${id}`, "hot", [id]));
    there.push(replica("warm.d", "warm", ["d"]), replica("warm.e", "warm", ["e"]));
    const farm = world(
      models,
      ["a", "b", "c", "d", "e"].map((id) => bin(id)),
      there,
    );
    const promoting = new World(farm.bins, models, rulesWith());
    promoting.replicas = farm.replicas;
    promoting.state = inPools({ hot: "elastic", warm: "elastic", new: "stable" });
    const { actions } = promoting.plan();
    expect(brief(actions)).toEqual(["warm.d gone"]);
    promoting.begin(actions);
    promoting.finish();
    expect(brief(promoting.plan().actions)).toEqual(["new -> d"]);
  });

  it("starts the prefill and the decode part by their own counts: 3 and 1", () => {
    const line = (id: string, heat: number) => model(id, [50, 1, 1], { heat });
    const parted = {
      ...model("m", [50, 1, 1], { heat: 4_000 }),
      lines: [line("m/prefill", 3_000), line("m/decode", 1_000)],
    };
    const farm = new World(hosts(1, 8), [parted], rulesWith());
    expect(brief(farm.plan().actions)).toEqual([
      "m/prefill -> h0.0",
      "m/decode -> h0.1",
      "m/prefill -> h0.2",
      "m/prefill -> h0.3",
    ]);
  });
});
