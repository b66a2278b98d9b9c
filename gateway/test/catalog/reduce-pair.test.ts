import { describe, expect, it } from "vitest";
import { catalogModel } from "@farmgate/engines";
import { Farm, ok, refused, report, workerConfig } from "./farm.ts";

describe("a model that answered", () => {
  it("is warm until the next poll says otherwise", () => {
    const farm = new Farm("a").polled("a", ok(["m", "n"])).answered("a", "m");
    expect([farm.state("a", "m"), farm.state("a", "n")]).toEqual(["warm", "cold"]);
    expect(farm.catalog.union.get("m")?.warm).toEqual(["a"]);
    farm.polled("a", ok(["m", "n"]));
    expect(farm.state("a", "m")).toBe("cold");
  });

  it("stays warm when the poll that says cold was started before the answer", () => {
    const farm = new Farm("a").polled("a", ok(["m"]));
    const startedAt = farm.now;
    farm.on({ type: "answered", worker: "a", model: "m", at: startedAt + 500 }).polled("a", ok(["m"]), startedAt);
    expect(farm.state("a", "m")).toBe("warm");
    expect(farm.polled("a", ok(["m"])).state("a", "m")).toBe("cold");
  });

  it("is meant by whichever of its names", () => {
    const models = [catalogModel("Coder:latest", "cold", { aliases: ["code"] })];
    const result = { kind: "ok", engine: "agent", report: report(models) } as const;
    for (const name of ["Coder:latest", "coder", "CODE"]) {
      const farm = new Farm("a").polled("a", result).answered("a", name);
      expect([farm.state("a", "coder"), farm.state("a", "code")]).toEqual(["warm", "warm"]);
    }
  });

  it("is news once a second at most, so that a busy worker costs nothing", () => {
    const farm = new Farm("a").polled("a", ok(["m"])).answered("a", "m", 10_000);
    const before = farm.catalog;
    expect(farm.answered("a", "m", 10_900).catalog).toBe(before);
    expect(farm.answered("a", "m", 11_000).catalog).not.toBe(before);
    expect(farm.catalog.version).toBe(before.version);
  });

  it("says nothing of a model that the worker does not list, but keeps the worker alive", () => {
    const farm = new Farm("a").polled("a", ok(["m"])).answered("a", "other");
    expect([...farm.worker("a").byKey.keys()]).toEqual(["m"]);
    expect(farm.polled("a", { kind: "dead", reason: "slow" }).worker("a").missedPolls).toBe(0);
  });
});

describe("an engine that swaps unseen", () => {
  const mlx = () =>
    new Farm(workerConfig("mac", { engine: "mlx" })).polled("mac", ok(["m=unknown", "n=unknown"], "mlx"));
  const states = (farm: Farm) => [farm.state("mac", "m"), farm.state("mac", "n")];

  it("may have any model loaded before its first answer", () => {
    expect(states(mlx())).toEqual(["unknown", "unknown"]);
  });

  it("has the model that it last answered, over as many polls as it takes", () => {
    const farm = mlx().answered("mac", "m");
    for (let round = 0; round < 3; round += 1) farm.polled("mac", ok(["m=unknown", "n=unknown"], "mlx"));
    expect(states(farm)).toEqual(["warm", "cold"]);
    expect(states(farm.answered("mac", "n"))).toEqual(["cold", "warm"]);
  });

  it("swaps back and forth without delay", () => {
    const farm = mlx().answered("mac", "m", 10_000).answered("mac", "n", 10_001).answered("mac", "m", 10_002);
    expect(states(farm)).toEqual(["warm", "cold"]);
  });

  it("has only cold models when what it answered is not in its list", () => {
    expect(states(mlx().answered("mac", "/models/single-file"))).toEqual(["cold", "cold"]);
  });

  it.each([
    ["refused a poll", (farm: Farm) => farm.polled("mac", refused)],
    ["refused a request", (farm: Farm) => farm.on({ type: "refused", worker: "mac" })],
    ["failed a load", (farm: Farm) => farm.on({ type: "load_failed", worker: "mac", model: "x" })],
  ])("may have anything loaded once it %s", (_, happens) => {
    const farm = happens(mlx().answered("mac", "m"));
    expect(states(farm)).toEqual(["unknown", "unknown"]);
  });
});

describe("a pair that was disowned", () => {
  const disowned = { type: "disowned", worker: "a", model: "m", reason: "answered 404" } as const;

  it("is set aside for a minute", () => {
    const farm = new Farm("a").polled("a", ok(["m"])).on(disowned);
    expect(farm.worker("a").asideUntil.get("m")).toEqual({ until: farm.now + 60_000, reason: "answered 404" });
    const { now } = farm;
    farm.now = now + 50_000;
    expect(farm.polled("a", ok(["m"])).worker("a").asideUntil.size).toBe(1);
    farm.now = now + 60_000;
    expect(farm.polled("a", ok(["m"])).worker("a").asideUntil.size).toBe(0);
  });

  it("is set aside under all its names", () => {
    const models = [catalogModel("m", "cold", { aliases: ["alias"] })];
    const farm = new Farm("a").polled("a", { kind: "ok", engine: "agent", report: report(models) }).on(disowned);
    expect([...farm.worker("a").asideUntil.keys()]).toEqual(["m", "alias"]);
  });

  it("is back when the worker's catalogue changes, not when only a state or the order does", () => {
    const farm = new Farm("a").polled("a", ok(["m", "n"])).on(disowned);
    expect(farm.polled("a", ok(["n=warm", "m"])).worker("a").asideUntil.size).toBe(1);
    expect(farm.polled("a", ok(["m", "n", "new"])).worker("a").asideUntil.size).toBe(0);
  });

  it("is back when another engine stands there", () => {
    const farm = new Farm(workerConfig("a", { engine: "auto" })).polled("a", ok(["m"], "openai")).on(disowned);
    expect(farm.polled("a", ok(["m"], "ollama")).worker("a").asideUntil.size).toBe(0);
  });

  it("is set aside for the APIs that it disowned, where they are told", () => {
    const farm = new Farm("a").polled("a", ok(["m"])).on({ ...disowned, api: "embeddings" });
    expect(farm.worker("a").asideUntil.get("m")?.apis).toEqual(["embeddings"]);
    farm.on({ ...disowned, api: "rerank" });
    expect(farm.worker("a").asideUntil.get("m")?.apis).toEqual(["embeddings", "rerank"]);
    farm.on(disowned);
    expect(farm.worker("a").asideUntil.get("m")?.apis).toBeUndefined();
    farm.on({ ...disowned, api: "chat" });
    expect(farm.worker("a").asideUntil.get("m")?.apis).toBeUndefined();
    farm.now += 60_000;
    expect(
      farm
        .on({ ...disowned, api: "chat" })
        .worker("a")
        .asideUntil.get("m")?.apis,
    ).toEqual(["chat"]);
  });

  it("does not let names that callers make up pile up", () => {
    const farm = new Farm("a");
    for (let at = 0; at < 1_500; at += 1) {
      farm.now -= 1_000;
      farm.on({ ...disowned, model: `made-up-${at}` });
    }
    expect(farm.worker("a").asideUntil.size).toBe(1_000);
    expect(farm.worker("a").asideUntil.has("made-up-1499")).toBe(true);
  });
});

describe("a load that failed", () => {
  const failed = { type: "load_failed", worker: "a", model: "m" } as const;
  const engine = () => new Farm(workerConfig("a", { engine: "ollama" }));
  const listed = (name: string) => ok([name], "ollama");

  it("leaves the model failed for a minute, whatever the catalogue says of cold", () => {
    const farm = engine().polled("a", listed("m")).on(failed);
    expect(farm.state("a", "m")).toBe("failed");
    expect(farm.worker("a").retryAt.get("m")).toBe(farm.now + 60_000);
    const { now } = farm;
    expect(farm.polled("a", listed("m")).state("a", "m")).toBe("failed");
    farm.now = now + 60_000;
    expect(farm.polled("a", listed("m")).state("a", "m")).toBe("cold");
    expect(farm.worker("a").retryAt.size).toBe(0);
  });

  it.each(["warm", "loading"])("is over once a later catalogue says %s", (state) => {
    const farm = engine()
      .polled("a", listed("m"))
      .on(failed)
      .polled("a", listed(`m=${state}`));
    expect(farm.state("a", "m")).toBe(state);
    expect(farm.worker("a").retryAt.size).toBe(0);
  });

  it("is over once the model answers", () => {
    const farm = engine().polled("a", listed("m")).answered("a", "m").on(failed);
    expect(farm.state("a", "m")).toBe("failed");
    expect(farm.answered("a", "m").state("a", "m")).toBe("warm");
    expect(farm.worker("a").retryAt.size).toBe(0);
  });

  it("is not undone by a poll that was started before it", () => {
    const farm = engine().polled("a", listed("m"));
    const startedAt = farm.now;
    farm.on(failed);
    farm.now += 70_000;
    farm.polled("a", listed("m=warm"), startedAt);
    expect(farm.worker("a").retryAt.size).toBe(1);
  });

  it("is the agent's own to count, where one stands there", () => {
    const farm = new Farm("a")
      .polled("a", ok(["m"]))
      .answered("a", "m")
      .on(failed);
    expect(farm.state("a", "m")).toBe("cold");
    expect(farm.worker("a").retryAt.size).toBe(0);
  });

  it("has a next try also where the engine itself tells of it", () => {
    const farm = engine().polled("a", listed("m=failed"));
    const due = farm.now + 60_000;
    expect(farm.worker("a").retryAt.get("m")).toBe(due);
    farm.now = due + 5_000;
    farm.polled("a", listed("m=failed"));
    expect(farm.worker("a").retryAt.get("m")).toBe(due);
    expect(farm.state("a", "m")).toBe("failed");
  });
});

describe("events of a worker that is not there", () => {
  it("change nothing", () => {
    const farm = new Farm("a");
    const before = farm.catalog;
    farm
      .polled("b", ok(["m"]))
      .answered("b", "m")
      .on({ type: "drain", worker: "b" });
    expect(farm.catalog).toBe(before);
  });
});
