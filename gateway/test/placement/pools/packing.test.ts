import { describe, expect, it } from "vitest";
import { brief, bin, hosts, idle, inPools, model, replica, rulesWith, World } from "./world.ts";

const stable = (ids: readonly string[]) => inPools(Object.fromEntries(ids.map((id) => [id, "stable" as const])));

function world(given: ConstructorParameters<typeof World>, ...replicas: World["replicas"]): World {
  const made = new World(given[0], given[1], given[2] ?? rulesWith({ promotion: { by: "never" } }));
  made.replicas = replicas;
  made.state = stable(made.models.map(({ id }) => id));
  made.now = 1_000;
  return made;
}

describe("an arrival in the stable pool", () => {
  const computing = model("computing", [30, 0.6, 0.1]);
  const reading = model("reading", [30, 0.1, 0.6]);
  const both = [replica("r1", "computing", ["a"]), replica("r2", "reading", ["b"])];

  it("goes beside the model whose needs are least like its own: (0.3, 0.3, 0.1) to (0.3, 0.1, 0.6)", () => {
    const next = model("next", [30, 0.3, 0.1]);
    expect(
      brief(
        world(
          [
            [bin("a"), bin("b")],
            [computing, reading, next],
          ],
          ...both,
        ).plan().actions,
      ),
    ).toEqual(["next -> b"]);
  });

  it("goes beside others rather than open a bin, and opens one when none has room: 0.6 + 0.5 of compute", () => {
    const next = model("next", [30, 0.3, 0.1]);
    const much = model("much", [30, 0.5, 0.1]);
    const farm = [bin("a"), bin("c")];
    expect(brief(world([farm, [computing, next]], replica("r1", "computing", ["a"])).plan().actions)).toEqual([
      "next -> a",
    ]);
    expect(brief(world([farm, [computing, much]], replica("r1", "computing", ["a"])).plan().actions)).toEqual([
      "much -> c",
    ]);
  });

  it("opens the smallest bin that holds it: of 200, 40 and 80 bytes that of 80 for 50", () => {
    const sizes = { a: 200, b: 40, c: 80 };
    const farm = Object.entries(sizes).map(([id, memory]) =>
      bin(id, { capacity: { memory, compute: 1, bandwidth: 1 } }),
    );
    expect(brief(world([farm, [model("m", [50, 0.1, 0.1])]]).plan().actions)).toEqual(["m -> c"]);
  });

  it("is weighed by each bin's own capacity: 0.6 of compute is 0.3 of a bin twice as fast", () => {
    const fast = bin("fast", { capacity: { memory: 100, compute: 2, bandwidth: 2 } });
    const next = model("next", [30, 0.6, 0.1]);
    const there = [replica("r1", "computing", ["a"]), replica("r2", "reading", ["fast"])];
    expect(
      brief(
        world(
          [
            [bin("a"), fast],
            [computing, reading, next],
          ],
          ...there,
        ).plan().actions,
      ),
    ).toEqual(["next -> fast"]);
  });

  it("finds no place beside two where a bin holds two", () => {
    const small = ["a", "b", "c"].map((id) => model(id, [10, 0.1, 0.1]));
    const there = [replica("r1", "a", ["x"]), replica("r2", "b", ["x"])];
    const { actions, reasons } = world([[bin("x")], small], ...there).plan();
    expect(actions).toEqual([]);
    expect(reasons).toContain("c has no replica: there is no room for it in the stable pool");
  });

  it("of four bins takes four of one host from a multiple of four", () => {
    const wide = model("wide", [240, 0.4, 0.4], { span: 4 });
    const there = replica("r1", "small", ["h0.2"]);
    const farm = [world([hosts(2, 8, { maxModels: 1 }), [model("small", [10, 0.1, 0.1]), wide]], there)];
    expect(brief(farm[0]?.plan().actions ?? [])).toEqual(["wide -> h0.4+h0.5+h0.6+h0.7"]);
  });

  it("takes the room of a model that nothing is asked of, not that of one in use", () => {
    const resting = idle(model("resting", [70, 0.1, 0.1]));
    const used = model("used", [70, 0.1, 0.1]);
    const there = [replica("r1", "used", ["a"]), replica("r2", "resting", ["b"])];
    const farm = world(
      [
        [bin("a"), bin("b")],
        [used, resting, model("next", [60, 0.1, 0.1])],
      ],
      ...there,
    );
    const { actions, reasons } = farm.plan();
    expect(brief(actions)).toEqual(["r2 gone"]);
    expect(reasons).toContain("next waits: idle models go first");
    farm.begin(actions);
    expect(farm.plan().actions).toEqual([]);
    farm.finish();
    expect(brief(farm.plan().actions)).toEqual(["next -> b"]);
  });
});

describe("an idle model", () => {
  it("keeps its replica for 50 s, or for twice its reload time", () => {
    const farm = world([[bin("a")], [idle(model("m", [10, 0.1, 0.1]))]], replica("r1", "m", ["a"]));
    const slow = world(
      [[bin("a")], [idle(model("m", [10, 0.1, 0.1], { reloadMs: 40_000 }))]],
      replica("r1", "m", ["a"]),
    );
    for (const each of [farm, slow]) expect(each.plan().actions).toEqual([]);
    for (const each of [farm, slow]) each.now += 50_000;
    expect(brief(farm.plan().actions)).toEqual(["r1 gone"]);
    expect(slow.plan().actions).toEqual([]);
    slow.now += 30_001;
    expect(brief(slow.plan().actions)).toEqual(["r1 gone"]);
  });
});

describe("repacking", () => {
  it("empties a bin left one-sided (0.1 of 0.3) into another when a replica goes, where R < 0.5", () => {
    const gone = idle(model("gone", [10, 0.3, 0.3]));
    const models = [gone, model("left", [30, 0.1, 0.1]), model("other", [30, 0.5, 0.5])];
    const there = [replica("r1", "gone", ["a"]), replica("r2", "left", ["a"]), replica("r3", "other", ["b"])];
    const farm = world([[bin("a"), bin("b")], models], ...there);
    farm.state = { ...farm.state, idleSince: new Map([["gone", -60_000]]) };
    expect(brief(farm.plan().actions)).toEqual(["r1 gone", "r2 => b"]);
  });

  it("leaves a bin alone whose loads are alike: R = 0.3 / 0.3", () => {
    const gone = idle(model("gone", [10, 0.3, 0.3]));
    const models = [gone, model("left", [30, 0.3, 0.3]), model("other", [30, 0.5, 0.5])];
    const there = [replica("r1", "gone", ["a"]), replica("r2", "left", ["a"]), replica("r3", "other", ["b"])];
    const farm = world([[bin("a"), bin("b")], models], ...there);
    farm.state = { ...farm.state, idleSince: new Map([["gone", -60_000]]) };
    expect(brief(farm.plan().actions)).toEqual(["r1 gone"]);
  });

  const apart = [model("x", [30, 0.5, 0.1]), model("y", [30, 0.1, 0.5])];
  const onTwo = [replica("r1", "x", ["a"]), replica("r2", "y", ["b"])];

  it("is done after 30 s, and brings two bins to one: 2 -> 1 + 0.5 x 30 / 100", () => {
    const farm = world([[bin("a"), bin("b")], apart], ...onTwo);
    expect(farm.plan().actions).toEqual([]);
    farm.now = 30_000;
    const { actions, reasons } = farm.plan();
    expect(brief(actions)).toEqual(["r1 => b"]);
    expect(reasons).toContain("1 move in the stable pool: the potential falls from 2.00 to 1.15");
    expect(farm.plan().actions).toEqual([]);
  });

  it("is not done where moving costs more than the bin: weight 4 x 30 / 100 > 1", () => {
    const potential = { usedBin: 1, moved: 4, overload: 10 };
    const farm = world([[bin("a"), bin("b")], apart, rulesWith({ promotion: { by: "never" }, potential })], ...onTwo);
    farm.now = 30_000;
    expect(farm.plan().actions).toEqual([]);
  });

  it("moves what a bin carries above its capacity: 0.7 + 0.6 of compute", () => {
    const grown = [model("x", [30, 0.7, 0.1]), model("y", [20, 0.6, 0.1])];
    const farm = world([[bin("a"), bin("b")], grown], replica("r1", "x", ["a"]), replica("r2", "y", ["a"]));
    farm.now = 30_000;
    expect(brief(farm.plan().actions)).toEqual(["r2 => b"]);
  });
});

it("leaves a replica alone whose bin something else uses by now, even an idle one, and one of a model that it does not know", () => {
  const models = [idle(model("m", [10, 0.1, 0.1])), model("next", [10, 0.1, 0.1])];
  const there = [replica("r1", "m", ["a"]), replica("r2", "unknown", ["b"])];
  const farm = world([[bin("a"), bin("b"), bin("c")], models], ...there);
  farm.state = { ...farm.state, idleSince: new Map([["m", -60_000]]) };
  farm.foreign = new Set(["a"]);
  expect(brief(farm.plan().actions)).toEqual(["next -> c"]);
});
