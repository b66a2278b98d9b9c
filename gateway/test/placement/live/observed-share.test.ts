import { expect, it } from "vitest";
import { expectedShare } from "../../../src/placement/live/observed-share.ts";

const rules = { share: 0.95, caution: 1 };
const hopeless = () => ({ mean: 0.001, variance: 0 });

it("goes by the prediction where requests are on time, or nothing is known of them", () => {
  expect(expectedShare(hopeless, 1, null, rules)).toEqual(hopeless());
  expect(expectedShare(hopeless, 1, { copies: 2, stood: true, share: 0.99 }, rules)).toEqual(hopeless());
});

it("takes no copy away while requests are late, and hopes for more from up to twice as many", () => {
  const late = { copies: 2, stood: true, share: 0.3 };
  const means = [1, 2, 3, 4, 8].map((copies) => expectedShare(hopeless, copies, late, rules).mean);
  expect(means).toEqual([0, 0.3, expect.closeTo(0.45), 0.6, 0.6]);
  const fresh = { ...late, stood: false };
  expect([1, 2, 4].map((copies) => expectedShare(hopeless, copies, fresh, rules).mean)).toEqual([0, 0.3, 0.3]);
  const sure = () => ({ mean: 0.99, variance: 0 });
  expect(expectedShare(sure, 3, late, rules)).toEqual(sure());
});
