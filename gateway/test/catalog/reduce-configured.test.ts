import { describe, expect, it } from "vitest";
import { Farm, ok, workerConfig } from "./farm.ts";

const configured = (...workers: ReturnType<typeof workerConfig>[]) => ({ type: "configured", workers }) as const;

describe("a changed configuration", () => {
  it("keeps what is known of workers that stay, in the new order", () => {
    const farm = new Farm("a", "b").polled("a", ok(["m=warm"])).polled("b", ok(["m"]));
    farm.on(configured(workerConfig("b", { weight: 3 }), workerConfig("a")));
    expect(farm.catalog.workers.map((worker) => [worker.config.name, worker.health])).toEqual([
      ["b", "healthy"],
      ["a", "healthy"],
    ]);
    expect(farm.worker("b").config.weight).toBe(3);
    expect(farm.catalog.union.get("m")).toMatchObject({ workers: ["b", "a"], warm: ["a"] });
  });

  it("changes nothing when it is the same", () => {
    const farm = new Farm("a", "b").polled("a", ok(["m"]));
    const before = farm.catalog;
    expect(farm.on(configured(workerConfig("a"), workerConfig("b"))).catalog).toBe(before);
  });

  it("forgets a worker that left, with its models", () => {
    const farm = new Farm("a", "b").polled("a", ok(["m"])).polled("b", ok(["n"]));
    farm.on(configured(workerConfig("b")));
    expect([...farm.catalog.union.keys()]).toEqual(["n"]);
    expect(farm.catalog.everListed.has("m")).toBe(true);
  });

  it.each([
    ["address", { url: "http://elsewhere.test:1" }],
    ["engine", { engine: "ollama" as const }],
  ])("starts anew with another %s", (_, change) => {
    const farm = new Farm("a").polled("a", ok(["m"])).on(configured(workerConfig("a", change)));
    expect(farm.worker("a")).toMatchObject({ health: "unknown", report: null });
    expect(farm.catalog.union.size).toBe(0);
  });

  it("gives a misconfigured worker with a new key another chance at once", () => {
    const farm = new Farm("a")
      .polled("a", ok(["m"]))
      .polled("a", { kind: "unauthorized", engine: null, reason: "401" });
    farm.on(configured(workerConfig("a", { apiKey: "new" })));
    expect(farm.worker("a").health).toBe("unknown");
  });

  it("applies changed rules for models at once", () => {
    const farm = new Farm("a").polled("a", ok(["qwen:8b", "llama"]));
    farm.on(configured(workerConfig("a", { models: { allow: ["*"], deny: ["qwen*"] } })));
    expect([...farm.catalog.union.keys()]).toEqual(["llama"]);
    farm.on(configured(workerConfig("a")));
    expect([...farm.catalog.union.keys()].sort()).toEqual(["llama", "qwen:8b"]);
  });

  it("keeps an operator's drain", () => {
    const farm = new Farm("a").on({ type: "drain", worker: "a" }).on(configured(workerConfig("a", { weight: 2 })));
    expect(farm.worker("a").draining).toBe(true);
  });
});
