import { describe, expect, it } from "vitest";
import { standingOf } from "../../src/routing/standing.ts";
import { Farm, ok } from "../catalog/farm.ts";
import { ask } from "./farm.ts";

describe("a worker that cannot serve one API with a model", () => {
  it("is out for that API alone", () => {
    const farm = new Farm("a").polled("a", ok(["m=warm"]));
    farm.on({ type: "disowned", worker: "a", model: "m", api: "embeddings", reason: "answered 501" });
    const context = {
      catalog: farm.catalog,
      inflight: { worker: () => 0, pair: () => 0 },
      turns: { pass: () => 0 },
      strategy: "least-connections",
      now: farm.now,
    } as const;
    const set = (api: "chat" | "embeddings") => standingOf(farm.worker("a"), ask("m", { api }), context).set;
    expect(set("embeddings")).toBeNull();
    expect(set("chat")).toBe("leading");
  });
});
