import { seededRandom } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { Crowd } from "./scheduler/crowd.ts";

describe("the crowd before the scheduler", () => {
  it.each([0, 64])("stays as large as it is while jobs arrive, leave and are served: budget %i", (budget) => {
    const crowd = new Crowd({ models: 20, budget, queued: 500 }, seededRandom(1));
    const before = crowd.waiting;
    expect(before).toBeGreaterThan(450);
    for (let turn = 0; turn < 300; turn += 1) {
      crowd.arrive();
      crowd.tick();
      crowd.leave();
      crowd.done();
      while (crowd.waiting < before) crowd.arrive();
    }
    expect(crowd.waiting).toBeLessThan(before + 5);
    expect(crowd.loads).toBeGreaterThan(3);
  });
});
