import { expect, it } from "vitest";
import { betterPlace, type BetterView } from "../../../src/placement/live/better-place.ts";
import type { ModelView } from "../../../src/placement/pools/types.ts";
import { catalogOf } from "../../routing/farm.ts";
import { roomy } from "../view.ts";

const FIRST: Record<string, number> = { here: 3_000, fast: 1_000, slow: 8_000 };

/** `m` is on `here` and late; where else it could go has room for so many models, of which one is there. */
function placeFor(rooms: Record<string, number>, more: Partial<BetterView> = {}): string | null {
  const workers = Object.entries(rooms).map(([name, fits]) => roomy(name, fits, { m: "cold", x: "warm" }));
  const model = { id: "m", allowed: null } as unknown as ModelView;
  const copy = { id: "here\nm", model: "m", name: "m", worker: "here", bins: ["here"], state: "active" as const };
  const action = betterPlace({
    catalog: catalogOf([roomy("here", 1, { m: "warm" }), ...workers]),
    replicas: [{ ...copy, pool: "stable" }],
    models: [model],
    reach: (worker) => ({ firstMs: FIRST[worker] ?? null, why: null }),
    share: 0.95,
    lastHour: () => ({ share: 0.3, requests: 40 }),
    ...more,
  });
  return action?.kind === "activate" ? (action.bins[0] ?? null) : null;
}

it("is the fastest worker with room that nobody uses, one that nobody knows after those", () => {
  expect(placeFor({ unknown: 2, fast: 2, slow: 2 })).toBe("fast");
  expect(placeFor({ unknown: 2, slow: 2 })).toBe("unknown");
});

it("is none where something would have to go, or that is slower than where it is, or helps nobody", () => {
  expect(placeFor({ fast: 1, slow: 2 })).toBe(null);
  expect(placeFor({ fast: 2 }, { reach: () => ({ firstMs: 1_000, why: "is late" }) })).toBe(null);
});

it("is looked for while the model is late by enough requests", () => {
  expect(placeFor({ fast: 2 }, { lastHour: () => ({ share: 0.96, requests: 40 }) })).toBe(null);
  expect(placeFor({ fast: 2 }, { lastHour: () => ({ share: 0.3, requests: 5 }) })).toBe(null);
  expect(placeFor({ fast: 2 }, { lastHour: () => null })).toBe(null);
});
