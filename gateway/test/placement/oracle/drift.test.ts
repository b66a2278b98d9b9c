import { seededRandom } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { DriftWatch } from "../../../src/placement/oracle/drift.ts";

function normals(seed: number): () => number {
  const random = seededRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function notedUntilDrift(watch: DriftWatch, next: () => number): number {
  for (let count = 1; count <= 1000; count += 1) if (watch.note(next()) !== null) return count;
  return Infinity;
}

describe("a drift", () => {
  it("is not seen in 20,000 residuals of a true model", () => {
    const watch = new DriftWatch();
    const normal = normals(1);
    let drifts = 0;
    for (let at = 0; at < 20_000; at += 1) if (watch.note(normal()) !== null) drifts += 1;
    expect(drifts).toBe(0);
    expect(watch.fitness).toBe("fits");
    expect(watch.inflation).toBeLessThan(1.5);
  });

  it("is not seen in one residual that is far out", () => {
    const watch = new DriftWatch();
    expect(watch.note(1e9)).toBeNull();
    expect(watch.fitness).toBe("fits");
  });

  it.each([3, -3])("is seen within ten residuals that are off by %d deviations", (off) => {
    const normal = normals(2);
    expect(notedUntilDrift(new DriftWatch(), () => normal() + off)).toBeLessThanOrEqual(10);
  });

  it("is seen in residuals that are three times as wide as they should be", () => {
    const normal = normals(3);
    expect(notedUntilDrift(new DriftWatch(), () => 3 * normal())).toBeLessThan(60);
  });

  it("tells since when: all the measurements that were off, and hardly one before", () => {
    const watch = new DriftWatch();
    for (let at = 0; at < 20; at += 1) watch.note(0);
    let since: number | null = null;
    let off = 0;
    while (since === null) {
      since = watch.note(2.5);
      off += 1;
    }
    expect(since).toBe(off);
  });

  it("makes deviations larger until it fits again", () => {
    const watch = new DriftWatch();
    notedUntilDrift(watch, () => 4);
    expect(watch.fitness).toBe("drifting");
    expect(watch.inflation).toBeGreaterThan(4);
    const normal = normals(4);
    for (let at = 0; at < 15; at += 1) watch.note(normal());
    expect(watch.fitness).toBe("fits");
    expect(watch.inflation).toBeLessThan(2);
  });

  it("that does not end makes it plainly wrong, and it comes back from there too", () => {
    const watch = new DriftWatch();
    notedUntilDrift(watch, () => 4);
    notedUntilDrift(watch, () => -4);
    expect(watch.fitness).toBe("wrong");
    for (let at = 0; at < 15; at += 1) watch.note(0.5);
    expect(watch.fitness).toBe("fits");
  });
});
