import { type CatalogModel, type CatalogReport, catalogModel } from "@farmgate/engines";
import { describe, expect, it } from "vitest";
import { Farm, report } from "./farm.ts";

function polls(...catalogues: CatalogReport[]): Farm {
  const farm = new Farm("a");
  for (const told of catalogues) farm.polled("a", { kind: "ok", engine: "agent", report: told });
  return farm;
}

describe("a newer catalogue", () => {
  it.each<[keyof CatalogModel, Partial<CatalogModel>]>(
    Object.entries({
      queued: 3,
      oldestWaitMs: 5,
      loadMs: 7,
      tokensPerSecond: 9,
      memoryBytes: 11,
      quantization: "Q4",
      digest: "abc",
      predictedWaitMs: 13,
      serviceMs: 15,
      waitBoundMs: 17,
      pinned: true,
      commands: ["load"],
      instances: ["m:2"],
      aliases: ["n"],
    }).map(([name, value]) => [name as keyof CatalogModel, { [name]: value }]),
  )("is seen when %s alone differs", (name, changed) => {
    const farm = polls(report([catalogModel("m", "warm")]), report([catalogModel("m", "warm", changed)]));
    expect(farm.worker("a").byKey.get("m")?.[name]).toEqual(changed[name]);
  });

  it("is seen when its memory or its queue alone differs", () => {
    const models = [catalogModel("m", "warm")];
    const waiting = [{ id: "r", model: "m", position: 1, waitedMs: 5, boundMs: null }];
    const memory = { budgetBytes: 10, usedBytes: 5 };
    const farm = polls(report(models), report(models, { memory }), report(models, { memory, waiting }));
    expect(farm.worker("a").report).toMatchObject({ memory, waiting });
  });

  it("that tells the same leaves everything as it was", () => {
    const told = () =>
      report([catalogModel("m", "warm", { predictedWaitMs: 5 })], {
        memory: { budgetBytes: 10, usedBytes: 5 },
        waiting: [{ id: "r", model: "m", position: 1, waitedMs: 5, boundMs: null }],
      });
    const farm = polls(told());
    const before = farm.catalog.version;
    expect(farm.polled("a", { kind: "ok", engine: "agent", report: told() }).catalog.version).toBe(before);
  });
});

describe("a catalogue in which only the queue differs", () => {
  it("leaves pairs set aside, and nothing is looked up anew", () => {
    const models = [catalogModel("m", "warm")];
    const waiting = (waitedMs: number) => [{ id: "r", model: "m", position: 1, waitedMs, boundMs: 5 }];
    const farm = polls(report(models, { waiting: waiting(1) }));
    farm.on({ type: "disowned", worker: "a", model: "m", reason: "404" });
    const { asideUntil, byKey } = farm.worker("a");
    const { union, listings } = farm.catalog;
    farm.polled("a", { kind: "ok", engine: "agent", report: report(models, { waiting: waiting(2) }) });
    const after = farm.worker("a");
    expect([...after.asideUntil]).toEqual([...asideUntil]);
    expect([...after.byKey]).toEqual([...byKey]);
    expect(farm.catalog.union).toBe(union);
    expect(farm.catalog.listings).toBe(listings);
    expect(asideUntil.size).toBe(1);
  });
});

describe("a model that answered", () => {
  it("loses the forecast that was made while it was cold", () => {
    const farm = polls(report([catalogModel("m", "cold", { predictedWaitMs: 25_000, loadMs: 20_000 })]));
    farm.answered("a", "m");
    expect(farm.worker("a").byKey.get("m")).toMatchObject({ state: "warm", predictedWaitMs: null, loadMs: 20_000 });
  });
});
