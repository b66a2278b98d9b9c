import { expect, it } from "vitest";
import { seededRandom } from "../src/random.ts";

it("repeats itself for a seed, differs for another, and fills [0, 1) evenly", () => {
  const draw = (seed: number, count: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: count }, random);
  };
  expect(draw(7, 5)).toEqual(draw(7, 5));
  expect(draw(7, 5)).not.toEqual(draw(8, 5));
  const many = draw(1, 10_000);
  expect(many.every((value) => value >= 0 && value < 1)).toBe(true);
  for (let tenth = 0; tenth < 10; tenth += 1) {
    const inside = many.filter((value) => Math.floor(value * 10) === tenth).length;
    expect(inside).toBeGreaterThan(900);
    expect(inside).toBeLessThan(1_100);
  }
});
