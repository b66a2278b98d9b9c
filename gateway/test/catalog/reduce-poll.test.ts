import { describe, expect, it } from "vitest";
import { broken, dead, Farm, ok, refused, report, workerConfig } from "./farm.ts";

describe("a poll as a health check", () => {
  it("is unknown before the first poll and healthy after a good one", () => {
    const farm = new Farm("a");
    expect(farm.worker("a")).toMatchObject({ health: "unknown", catalog: "unreachable", report: null });
    farm.polled("a", ok(["m"]), 1_500);
    expect(farm.worker("a")).toMatchObject({ health: "healthy", catalog: "fresh", catalogAt: 1_500, problem: null });
  });

  it.each([
    ["dead", dead],
    ["refused", refused],
  ])("is out after three %s polls in a row, not before", (_, miss) => {
    const farm = new Farm("a").polled("a", ok(["m=warm"]));
    farm.polled("a", miss).polled("a", miss);
    expect(farm.worker("a")).toMatchObject({ health: "healthy", catalog: "stale", missedPolls: 2 });
    expect(farm.state("a", "m")).toBe("warm");
    farm.polled("a", miss);
    expect(farm.worker("a")).toMatchObject({ health: "unhealthy", catalog: "unreachable", missedPolls: 3 });
  });

  it("counts misses in a row only", () => {
    const farm = new Farm("a");
    for (let round = 0; round < 5; round += 1) farm.polled("a", dead).polled("a", dead).polled("a", broken);
    expect(farm.worker("a")).toMatchObject({ health: "healthy", missedPolls: 0 });
  });

  it.each([
    ["a good poll", ok(["m"])],
    ["any status line", broken],
    ["a loading answer", { kind: "loading", engine: "llama-server" } as const],
  ])("is back with one poll: %s", (_, result) => {
    const farm = new Farm("a").polled("a", dead).polled("a", dead).polled("a", dead);
    expect(farm.worker("a").health).toBe("unhealthy");
    farm.polled("a", result);
    expect(farm.worker("a")).toMatchObject({ health: "healthy", missedPolls: 0 });
  });

  it("is back only after as many good polls in a row as are asked for, and tells how many there were", () => {
    const farm = new Farm("a")
      .polled("a", ok(["m"]))
      .polled("a", dead)
      .polled("a", dead)
      .polled("a", dead);
    farm.health.healthyAfter = 3;
    farm.polled("a", ok(["m"])).polled("a", broken);
    const problem = "answers again: 2 of 3 good polls";
    expect(farm.worker("a")).toMatchObject({ health: "unhealthy", goodPolls: 2, problem });
    farm
      .polled("a", dead)
      .polled("a", ok(["m"]))
      .polled("a", ok(["m"]));
    expect(farm.worker("a").health).toBe("unhealthy");
    farm.polled("a", ok(["m"]));
    expect(farm.worker("a")).toMatchObject({ health: "healthy", goodPolls: 0, problem: null, catalog: "fresh" });
    farm.polled("a", dead).polled("a", ok(["m"]));
    expect(farm.worker("a").health).toBe("healthy");
  });

  it("is in at once the first time, whatever is asked for", () => {
    const farm = new Farm("a");
    farm.health.healthyAfter = 3;
    expect(farm.polled("a", ok(["m"])).worker("a").health).toBe("healthy");
  });

  it("goes out without ever having answered", () => {
    const farm = new Farm("a").polled("a", dead).polled("a", dead);
    expect(farm.worker("a")).toMatchObject({ health: "unknown", catalog: "unreachable" });
    expect(farm.polled("a", dead).worker("a").health).toBe("unhealthy");
  });

  it("takes answer bytes since the poll before for a sign of life", () => {
    const farm = new Farm("a").polled("a", ok(["m"]));
    for (let round = 0; round < 5; round += 1) farm.answered("a", "m").polled("a", dead);
    expect(farm.worker("a")).toMatchObject({ health: "healthy", missedPolls: 0, catalog: "unreachable" });
    farm.polled("a", dead).polled("a", dead).polled("a", dead);
    expect(farm.worker("a").health).toBe("unhealthy");
  });

  it("ignores a poll that was started before the last one that counted", () => {
    const farm = new Farm("a").polled("a", ok(["new"]), 5_000).polled("a", ok(["old"]), 4_000);
    expect([...farm.worker("a").byKey.keys()]).toEqual(["new"]);
  });
});

describe("a poll without a usable catalogue", () => {
  it("leaves the worker in, its last catalogue in the union, and says unreachable", () => {
    const farm = new Farm("a").polled("a", ok(["m=warm"])).polled("a", broken);
    expect(farm.worker("a")).toMatchObject({
      health: "healthy",
      catalog: "unreachable",
      problem: "/catalog answered 500",
    });
    expect(farm.catalog.union.get("m")).toMatchObject({ workers: ["a"], warm: [] });
    expect(farm.catalog.allKnown).toBe(false);
  });

  it("stays unreachable when the next poll brings nothing at all", () => {
    const farm = new Farm("a")
      .polled("a", ok(["m"]))
      .polled("a", broken)
      .polled("a", dead);
    expect(farm.worker("a")).toMatchObject({ health: "healthy", catalog: "unreachable" });
  });

  it("is fresh again with the next good one", () => {
    const farm = new Farm("a")
      .polled("a", ok(["m=warm"]))
      .polled("a", broken)
      .polled("a", ok(["m=warm"]));
    expect(farm.worker("a").catalog).toBe("fresh");
    expect(farm.catalog.union.get("m")?.warm).toEqual(["a"]);
    expect(farm.catalog.allKnown).toBe(true);
  });

  it("keeps the engine that was found before", () => {
    const farm = new Farm(workerConfig("a", { engine: "auto" })).polled("a", ok(["m"], "ollama")).polled("a", broken);
    expect(farm.worker("a").engine).toBe("ollama");
  });
});

describe("a worker that does not accept the key", () => {
  it("is misconfigured, out of the union, and not what the farm waits to know", () => {
    const farm = new Farm("a").polled("a", ok(["m"]));
    farm.polled("a", { kind: "unauthorized", engine: "agent", reason: "/catalog answered 401: check its apiKey" });
    expect(farm.worker("a")).toMatchObject({ health: "misconfigured", problem: expect.stringContaining("401") });
    expect(farm.catalog.union.has("m")).toBe(false);
    expect(farm.catalog.everListed.has("m")).toBe(true);
    expect(farm.catalog.allKnown).toBe(true);
  });

  it("is back once the key is accepted", () => {
    const farm = new Farm("a").polled("a", { kind: "unauthorized", engine: null, reason: "401" });
    expect(farm.polled("a", ok(["m"])).worker("a").health).toBe("healthy");
  });
});

describe("a refused connection", () => {
  it("marks the worker until the next good poll", () => {
    const farm = new Farm("a").polled("a", ok(["m"])).on({ type: "refused", worker: "a" });
    expect(farm.worker("a").refused).toBe(true);
    expect(farm.polled("a", ok(["m"])).worker("a").refused).toBe(false);
  });

  it("is not undone by a poll that was started before it", () => {
    const farm = new Farm("a").polled("a", ok(["m"]));
    const startedAt = farm.now;
    farm.on({ type: "refused", worker: "a" }).polled("a", ok(["m"]), startedAt);
    expect(farm.worker("a").refused).toBe(true);
  });

  it("counts as refused when a poll meets it", () => {
    expect(new Farm("a").polled("a", refused).worker("a")).toMatchObject({ refused: true, missedPolls: 1 });
  });
});

describe("a llama-server that loads", () => {
  const loading = { kind: "loading", engine: "llama-server" } as const;

  it("is loading its last known models until a catalogue comes", () => {
    const farm = new Farm(workerConfig("a", { engine: "llama-server" })).polled("a", ok(["m=warm"], "llama-server"));
    farm.polled("a", loading);
    expect(farm.worker("a")).toMatchObject({ health: "healthy", catalog: "stale" });
    expect(farm.state("a", "m")).toBe("loading");
    expect(farm.catalog.union.get("m")).toMatchObject({ workers: ["a"], warm: [] });
    farm.polled("a", ok(["m=warm"], "llama-server"));
    expect(farm.state("a", "m")).toBe("warm");
  });

  it("has nothing to load before its first catalogue", () => {
    const farm = new Farm(workerConfig("a", { engine: "llama-server" })).polled("a", loading);
    expect(farm.worker("a")).toMatchObject({ health: "healthy", catalog: "unreachable" });
    expect(farm.catalog.allKnown).toBe(false);
  });
});

describe("a worker that drains", () => {
  it("drains by its own word or the operator's, each ending on its own", () => {
    const draining = { kind: "ok", engine: "agent", report: report([], { draining: true }) } as const;
    const farm = new Farm("a").polled("a", draining);
    expect(farm.worker("a").draining).toBe(true);
    farm.on({ type: "drain", worker: "a" }).polled("a", ok([]));
    expect(farm.worker("a").draining).toBe(true);
    expect(farm.on({ type: "resume", worker: "a" }).worker("a").draining).toBe(false);
  });
});
