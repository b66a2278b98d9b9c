import { catalogModel } from "@farmgate/engines";
import { describe, expect, it } from "vitest";
import { breakerNews } from "../../src/catalog/breaker-news.ts";
import type { Catalog } from "../../src/catalog/types.ts";
import { dead, Farm, ok, refused, report, workerConfig } from "./farm.ts";

function faults(farm: Farm, count: number, model = "m"): Farm {
  for (let i = 0; i < count; i += 1) {
    const fault = { worker: "a", model, sentAt: farm.now, stalled: false, broke: false, reason: "answered 500" };
    farm.on({ type: "faulted", ...fault });
  }
  return farm;
}

const open = (farm: Farm) =>
  [...farm.worker("a").breakers].filter(([, { openUntil }]) => openUntil !== null).map(([key]) => key);
const known = (names = ["m", "n"]) => new Farm("a").polled("a", ok(names));

describe("breakers of a worker", () => {
  it("open for one model after three faults, and close with its next good answer", () => {
    const farm = faults(known(), 2);
    faults(farm, 2, "n");
    expect(open(farm)).toEqual([]);
    expect(open(faults(farm, 1))).toEqual(["m"]);
    expect(open(farm.answered("a", "n"))).toEqual(["m"]);
    expect(open(farm.answered("a", "M:latest"))).toEqual([]);
    expect(farm.worker("a").breakers.size).toBe(0);
  });

  it("are one for all names of a model", () => {
    const models = [catalogModel("Coder:latest", "warm", { aliases: ["code"] })];
    const farm = new Farm("a").polled("a", { kind: "ok", engine: "agent", report: report(models) });
    faults(farm, 1, "Coder:latest");
    faults(farm, 2, "code");
    expect(open(farm)).toEqual(["coder"]);
  });

  it("last over polls, refused ones too, since a model that brings its engine down looks like that", () => {
    const farm = faults(known(), 3)
      .polled("a", ok(["m", "n", "new"]))
      .polled("a", refused)
      .polled("a", ok(["m"]));
    expect(open(farm)).toEqual(["m"]);
  });

  it("are gone once the worker is unhealthy, or is another one", () => {
    const farm = faults(known(), 3).polled("a", dead).polled("a", dead);
    expect(open(farm)).toEqual(["m"]);
    expect(open(farm.polled("a", dead))).toEqual([]);
    const moved = faults(known(), 3).on({ type: "configured", workers: [workerConfig("a", { url: "http://b.test" })] });
    expect(open(moved)).toEqual([]);
    const same = faults(known(), 3).on({ type: "configured", workers: [workerConfig("a", { weight: 3 })] });
    expect(open(same)).toEqual(["m"]);
  });

  it("are bounded in number, the oldest first to go", () => {
    const farm = known();
    for (let i = 0; i < 1_200; i += 1) faults(farm, 1, `made-up-${i}`);
    const { breakers } = farm.worker("a");
    expect([breakers.size, breakers.has("made-up-199"), breakers.has("made-up-200")]).toEqual([1_000, false, true]);
  });

  it("open where half of the last answers fail, though never three in a row", () => {
    const farm = known();
    const opened: number[] = [];
    for (let i = 1; i <= 12; i += 1) {
      if (i % 2 === 0) farm.on({ type: "served", worker: "a", model: "m" });
      else faults(farm, 1);
      if (open(farm).length > 0) opened.push(i);
    }
    // The eleventh is the sixth failure of eleven; of ten answers five failed, but the last one was good.
    expect(opened[0]).toBe(11);
    expect(farm.worker("a").outcomes.size).toBe(0);
  });

  it("say how often it failed, and are judged anew after a trial", () => {
    const farm = known();
    for (let i = 0; i < 5; i += 1) faults(farm.on({ type: "served", worker: "a", model: "m" }), 1);
    faults(farm, 0);
    // What was good before the first failure is not remembered.
    expect(open(farm)).toEqual([]);
    faults(farm.on({ type: "served", worker: "a", model: "m" }), 1);
    expect(farm.worker("a").breakers.get("m")?.told).toBe("6 of the last 11 requests failed there (answered 500)");
    farm.on({ type: "served", worker: "a", model: "m" });
    expect(open(faults(farm, 1))).toEqual([]);
  });

  it("stay closed where failures are rare, or of more than a minute ago", () => {
    const rare = known();
    for (let i = 0; i < 40; i += 1) {
      for (let j = 0; j < 2; j += 1) rare.on({ type: "served", worker: "a", model: "m" });
      expect(open(faults(rare, 1))).toEqual([]);
    }
    const slow = known();
    for (let i = 0; i < 20; i += 1) {
      slow.now += 14_000;
      expect(open(faults(slow.on({ type: "served", worker: "a", model: "m" }), 1))).toEqual([]);
    }
  });

  it("open by a silence, and close with the first byte that comes after all", () => {
    const farm = known().polled("a", ok(["m=warm", "n=warm"]));
    farm.on({ type: "silent", worker: "a", model: "m", sentAt: farm.now, stalled: false, reason: "no first byte" });
    expect(open(farm)).toEqual(["m"]);
    expect(open(farm.answered("a", "m"))).toEqual([]);
  });

  it("have their trial ended also where a catalogue that came meanwhile gave the name to another model", () => {
    const farm = faults(known(["n"]), 3);
    const at = farm.worker("a").breakers.get("m")?.openUntil ?? 0;
    farm.on({ type: "tried", worker: "a", model: "m", at });
    expect(farm.worker("a").breakers.get("m")?.trialAt).toBe(at);
    const models = [catalogModel("other", "warm", { aliases: ["m"] })];
    farm.polled("a", { kind: "ok", engine: "agent", report: report(models) });
    farm.on({ type: "trial_over", worker: "a", model: "m", at });
    expect(farm.worker("a").breakers.get("m")?.trialAt).toBeNull();
  });

  it("have one trial at a time, and another where that told nothing", () => {
    const farm = faults(known(), 3);
    const trial = { worker: "a", model: "m:latest" };
    const trialAt = () => farm.worker("a").breakers.get("m")?.trialAt;
    farm.on({ type: "tried", ...trial, at: farm.now });
    expect(trialAt()).toBeNull();
    farm.now += 40_000;
    const at = farm.now;
    farm.on({ type: "tried", ...trial, at }).on({ type: "tried", ...trial, at: at + 1 });
    expect(trialAt()).toBe(at);
    farm.on({ type: "trial_over", ...trial, at: at + 1 });
    expect(trialAt()).toBe(at);
    farm.on({ type: "trial_over", ...trial, at });
    expect(trialAt()).toBeNull();
  });

  it("are a change that whoever waits for one is told of", () => {
    const { version } = known().catalog;
    expect(faults(known(), 3).catalog.version).toBeGreaterThan(version);
  });

  it("cost a good answer nothing where there are none", () => {
    const farm = known().answered("a", "m");
    const before = farm.catalog;
    expect(farm.on({ type: "served", worker: "a", model: "m" }).catalog).toBe(before);
  });
});

describe("the news of them", () => {
  const news = (before: Catalog, after: Catalog) =>
    breakerNews(before, after).map(({ level, message }) => [level, message]);

  it("are told when one opens, when its trial fails, and when it closes", () => {
    const farm = faults(known(), 2);
    const closed = farm.catalog;
    const opened = faults(farm, 1).catalog;
    expect(news(closed, opened)).toEqual([
      ["warn", "gets no m for now: 3 requests in a row failed there (answered 500); next trial in 30 s"],
    ]);
    farm.now += 40_000;
    const again = faults(farm, 1).catalog;
    expect(news(opened, again)).toEqual([["info", "still fails with m (answered 500); next trial in 1 min"]]);
    expect(news(again, farm.answered("a", "m").catalog)).toEqual([["info", "answers with m again"]]);
  });

  it("are none of faults that open nothing, nor beside the news that the worker is out", () => {
    const farm = known();
    const before = farm.catalog;
    expect(news(before, faults(farm, 2).catalog)).toEqual([]);
    const opened = faults(farm, 1).catalog;
    expect(news(opened, farm.polled("a", dead).polled("a", dead).polled("a", dead).catalog)).toEqual([]);
  });
});
