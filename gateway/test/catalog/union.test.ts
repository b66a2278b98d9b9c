import { nameKey } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { catalogModel } from "@farmgate/engines";
import type { CatalogModel } from "@farmgate/engines";
import { broken, dead, Farm, ok, report, workerConfig } from "./farm.ts";

const models = (...list: CatalogModel[]) => ({ kind: "ok", engine: "agent", report: report(list) }) as const;

describe("the union of all catalogues", () => {
  it("joins spellings of one model and keeps others apart", () => {
    const farm = new Farm("a", "b", "c");
    farm
      .polled("a", ok(["llama3.2:latest=warm"]))
      .polled("b", ok(["LLAMA3.2"]))
      .polled("c", ok(["llama3.2:1b"]));
    expect([...farm.catalog.union.keys()]).toEqual(["llama3.2", "llama3.2:1b"]);
    expect(farm.catalog.union.get("llama3.2")).toMatchObject({ workers: ["a", "b"], warm: ["a"] });
  });

  it("shows the most common spelling without :latest, else the first worker's", () => {
    const farm = new Farm("a", "b", "c").polled("a", ok(["M:latest"])).polled("b", ok(["m"]));
    expect(farm.catalog.union.get("m")?.id).toBe("M");
    expect(farm.polled("c", ok(["m:LATEST"])).catalog.union.get("m")?.id).toBe("m");
  });

  it("shows the smallest context and the most telling kind", () => {
    const farm = new Farm("a", "b", "c");
    farm.polled("a", models(catalogModel("m", "cold", { contextLength: null, kind: "chat" })));
    farm.polled("b", models(catalogModel("m", "cold", { contextLength: 8_192, kind: "vision" })));
    farm.polled("c", models(catalogModel("m", "cold", { contextLength: 4_096, kind: "chat" })));
    expect(farm.catalog.union.get("m")).toMatchObject({ contextLength: 4_096, kind: "vision" });
  });

  it("leads an alias to its model's entry, on all workers that list the model", () => {
    const farm = new Farm("a", "b").polled("a", models(catalogModel("coder", "cold", { aliases: ["code"] })));
    farm.polled("b", ok(["coder"]));
    const { union } = farm.catalog;
    expect(union.get("code")).toBe(union.get("coder"));
    expect(union.get("code")?.workers).toEqual(["a", "b"]);
  });

  it("lets a model's own name come before another's alias", () => {
    const farm = new Farm("a", "b").polled("a", models(catalogModel("big", "cold", { aliases: ["m"] })));
    expect(farm.catalog.union.get("m")?.id).toBe("big");
    farm.polled("b", ok(["m"]));
    expect(farm.catalog.union.get("m")?.id).toBe("m");
    farm.polled("b", ok([]));
    expect(farm.catalog.union.get("m")?.id).toBe("big");
  });

  it("loses a model when every worker that lists it is unhealthy, and remembers it", () => {
    const farm = new Farm("a", "b").polled("a", ok(["m", "only-a"])).polled("b", ok(["m"]));
    farm.polled("a", dead).polled("a", dead).polled("a", dead);
    expect(farm.catalog.union.get("m")?.workers).toEqual(["b"]);
    expect(farm.catalog.union.has("only-a")).toBe(false);
    expect(farm.catalog.everListed.has("only-a")).toBe(true);
    expect(farm.catalog.allKnown).toBe(true);
    farm.polled("a", broken);
    expect(farm.catalog.union.get("only-a")?.workers).toEqual(["a"]);
  });

  it("loses it too when the worker had no usable catalogue before it went", () => {
    const farm = new Farm("a").polled("a", ok(["m"])).polled("a", broken);
    expect(farm.catalog.union.has("m")).toBe(true);
    farm.polled("a", dead).polled("a", dead).polled("a", dead);
    expect(farm.catalog.union.has("m")).toBe(false);
  });

  it("leads a name to no other model while the one that has it is away", () => {
    const farm = new Farm("a", "b").polled("a", models(catalogModel("big", "cold", { aliases: ["m"] })));
    farm
      .polled("b", ok(["m"]))
      .polled("b", dead)
      .polled("b", dead)
      .polled("b", dead);
    expect(farm.catalog.union.has("m")).toBe(false);
    expect(farm.catalog.aliases.has("m")).toBe(false);
  });

  it("leads an alias of different models to none, and remembers which", () => {
    const farm = new Farm("a", "b").polled("a", models(catalogModel("small", "cold", { aliases: ["fast"] })));
    expect(farm.catalog.union.get("fast")?.id).toBe("small");
    farm.polled("b", models(catalogModel("big", "cold", { aliases: ["FAST"] })));
    expect(farm.catalog.union.has("fast")).toBe(false);
    expect(farm.catalog.aliases.get("fast")?.map(({ id }) => id)).toEqual(["small", "big"]);
    farm.polled("b", models(catalogModel("big", "cold")));
    expect(farm.catalog.union.get("fast")?.id).toBe("small");
  });

  it("leaves out what the owner does not allow, under any of its names", () => {
    const farm = new Farm(workerConfig("a", { models: { allow: ["qwen*", "code"], deny: ["*:32b"] } }));
    farm.polled(
      "a",
      models(
        catalogModel("Qwen3:8b", "cold"),
        catalogModel("qwen3:32b", "cold"),
        catalogModel("llama", "cold"),
        catalogModel("coder", "cold", { aliases: ["code"] }),
        catalogModel("small", "cold", { aliases: ["qwen-mini", "was:32b"] }),
      ),
    );
    expect([...farm.catalog.union.keys()].sort()).toEqual(["code", "coder", "qwen3:8b"]);
  });

  it("takes names of built-in properties for what they are", () => {
    const farm = new Farm("a").polled("a", ok(["__proto__", "constructor", "toString"]));
    expect([...farm.catalog.union.keys()]).toEqual(["__proto__", "constructor", "tostring"]);
  });
});

describe("sharing", () => {
  it("makes nothing new of a poll that finds the same", () => {
    const farm = new Farm("a", "b").polled("a", ok(["m=warm", "n"])).polled("b", ok(["m"]));
    const before = farm.catalog;
    farm.polled("a", ok(["m=warm", "n"]));
    expect(farm.catalog.version).toBe(before.version);
    expect(farm.catalog.union).toBe(before.union);
    expect(farm.catalog.everListed).toBe(before.everListed);
    expect(farm.worker("a").byKey).toBe(before.workers[0]?.byKey);
    expect(farm.worker("b")).toBe(before.workers[1]);
    expect(farm.worker("a").catalogAt).not.toBe(before.workers[0]?.catalogAt);
  });

  it("keeps the union when only a queue grew, and every other model when one changed", () => {
    const queue = (queued: number) => models(catalogModel("m", "warm", { queued }), catalogModel("n", "cold"));
    const farm = new Farm("a").polled("a", queue(1));
    const before = farm.catalog;
    farm.polled("a", queue(2));
    expect(farm.catalog.version).toBe(before.version + 1);
    expect(farm.worker("a").byKey.get("m")?.queued).toBe(2);
    expect(farm.catalog.union).toBe(before.union);
    expect(farm.worker("a").byKey.get("n")).toBe(before.workers[0]?.byKey.get("n"));
  });

  it("keeps the entries of other models when one changed", () => {
    const farm = new Farm("a").polled("a", ok(["m", "n"]));
    const before = farm.catalog.union;
    farm.polled("a", ok(["m=warm", "n"]));
    expect(farm.catalog.union.get("m")).not.toBe(before.get("m"));
    expect(farm.catalog.union.get(nameKey("n"))).toBe(before.get("n"));
  });
});
