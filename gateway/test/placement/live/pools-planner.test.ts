import { expect, it } from "vitest";
import { poolsPlanner } from "../../../src/placement/live/pools-planner.ts";
import { placementSettings } from "../../../src/placement/live/settings.ts";
import { expectedShare } from "../../../src/placement/live/observed-share.ts";

/** Workers that a hot model gets further copies on, where two have `share` of it on time, and one has 60 %. */
function furtherCopies(share: number): readonly string[] {
  const planner = poolsPlanner(placementSettings.parse("auto"));
  const bins = ["a", "b", "c"].map((id) => {
    return { id, host: id, index: 0, capacity: { memory: 100, compute: 1, bandwidth: 1 }, maxModels: 5 };
  });
  const load = { requestsPerSecond: 1, inputMean: 1, inputVariance: 0, outputMean: 1, outputVariance: 0 };
  const model = {
    id: "m",
    span: 1,
    load,
    heat: 100,
    demand: { memory: 10, compute: 0.9, bandwidth: 0.1 },
    onTime: (copies: number) => ({ mean: copies === 1 ? 0.6 : share, variance: 0 }),
    allowed: null,
  };
  const replicas = [{ id: "a\nm", model: "m", pool: "stable" as const, bins: ["a"], state: "active" as const }];
  const plans = [0, 60_000, 120_000].map((now) => planner.plan({ now, bins, replicas, models: [model] }));
  const last = plans.at(-1)?.actions ?? [];
  return last.flatMap((action) => (action.kind === "activate" ? action.bins : []));
}

it("a target that is out of reach is not chased by copies that gain next to nothing", () => {
  expect(furtherCopies(0.64)).toEqual([]);
  expect(furtherCopies(0.7)).toHaveLength(1);
});

it("where next to nothing is on time a second copy is still worth it", () => {
  const none = { copies: 1, stood: true, share: 0 };
  const hopeless = () => ({ mean: 0, variance: 0 });
  const [one, two] = [1, 2].map((n) => expectedShare(hopeless, n, none, { share: 0.95, caution: 1 }).mean);
  expect((two ?? 0) - (one ?? 0)).toBeGreaterThan(0.05);
});
