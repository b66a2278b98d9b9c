import { seededRandom } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import { expect, it } from "vitest";
import { CatalogStore } from "../../../src/catalog/store.ts";
import { Observations } from "../../../src/placement/live/observations.ts";
import { OracleKeeper } from "../../../src/placement/live/oracle-keeper.ts";
import { placementSettings } from "../../../src/placement/live/settings.ts";
import { spansOf } from "../../../src/placement/live/spans.ts";

it("looks once at what the farm's workers are like for a plan of many models, and again for later ones", () => {
  let now = 0;
  const clock = { now: () => now, wall: () => 0, after: () => () => {} };
  const catalog = new CatalogStore(clock, { unhealthyAfter: 3, healthyAfter: 1 });
  const observations = new Observations(spansOf(placementSettings.parse("auto")));
  let looks = 0;
  const seen = () => {
    looks += 1;
    return observations;
  };
  const keeper = new OracleKeeper(null, { clock, log: {} as Log, random: seededRandom(1), catalog, seen });
  const load = { requestsPerSecond: 1, inputMean: 100, inputVariance: 1, outputMean: 100, outputVariance: 1 };
  const plan = () => {
    for (let i = 0; i < 200; i += 1) keeper.oracle?.capacity.predict(`m${i}`, load);
  };
  plan();
  const first = looks;
  expect(first).toBeLessThan(5);
  now += 5_000;
  plan();
  expect(looks).toBe(2 * first);
});
