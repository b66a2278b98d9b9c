import { expect, it } from "vitest";
import { RecentUse } from "../../src/placement/recent-use.ts";
import type { News } from "../../src/together/news.ts";
import { SharedUse, type SharedUseDeps } from "../../src/together/shared-use.ts";
import { steppedClock } from "../support/stepped-clock.ts";

function use(isPlacing: boolean, isShared = true) {
  const told: News[] = [];
  const seen: string[] = [];
  const clock = steppedClock();
  const recentUse = new RecentUse();
  const placement = {
    session: isPlacing ? {} : null,
    asked: (key: string) => seen.push(`asked ${key}`),
    ended: (key: string) => seen.push(`ended ${key}`),
    figuresOf: () => null,
  } as unknown as SharedUseDeps["placement"];
  const shared = new SharedUse({ clock, hub: { isShared, tell: (news) => told.push(news) }, recentUse, placement });
  return { shared, told, seen, recentUse, clock };
}

const FIGURES = { worker: "a", bytes: 10, inputMs: 1, outputMs: 2, onTime: true };

it("every request and every end is told where models are placed", () => {
  const { shared, told, seen } = use(true);
  for (let i = 0; i < 3; i += 1) shared.asked("m");
  shared.ended("m", FIGURES, { prompt: 3, completion: 4 });
  expect(told.map(({ kind }) => kind)).toEqual(["asked", "asked", "asked", "ended"]);
  expect(seen).toEqual(["asked m", "asked m", "asked m", "ended m"]);
});

it("that a model is in use is told now and then where none are placed", () => {
  const { shared, told, clock } = use(false);
  for (let i = 0; i < 120; i += 1) {
    shared.asked("m");
    clock.move(1_000);
  }
  expect(told).toHaveLength(2);
});

it("what others tell is taken and not told on, and alone nothing is told", () => {
  const { shared, told, recentUse, clock } = use(true);
  shared.takeAsked("m");
  expect([told.length, recentUse.isInUse("m", clock.now())]).toEqual([0, true]);
  const alone = use(true, false);
  alone.shared.asked("m");
  alone.shared.ended("m", FIGURES, null);
  expect([alone.told, alone.seen]).toEqual([[], ["asked m", "ended m"]]);
});
