import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Learned } from "../../src/figures/learned.ts";
import { PageCache } from "../../src/figures/page-cache.ts";

const GB = 1e9;
const HOUR = 3_600_000;
const sizes: Record<string, number> = { a: 30 * GB, b: 20 * GB, c: 45 * GB };
/** Three quarters of it are 60 GB. */
const host = (known = sizes) => ({ bytes: 80 * GB, sizeOf: (model: string) => known[model] ?? null });

describe("the page cache", () => {
  it("has a model for as long as it and all that was read since fit into the host's memory", () => {
    const cache = new PageCache(host());
    expect(cache.has("a", 0)).toBe(false);
    cache.read("a", 0);
    cache.read("b", 1);
    expect(["a", "b"].map((model) => cache.has(model, 99 * HOUR))).toEqual([true, true]);
    cache.read("c", 2);
    expect(["a", "b", "c"].map((model) => cache.has(model, 3))).toEqual([false, false, true]);
    cache.read("a", 4);
    expect(["a", "b", "c"].map((model) => cache.has(model, 5))).toEqual([true, false, false]);
  });

  it("never has one that is larger than it", () => {
    const cache = new PageCache(host({ a: 61 * GB }));
    cache.read("a", 0);
    expect(cache.has("a", 0)).toBe(false);
  });

  it("is taken to have a model for an hour after it was loaded where a size is not known", () => {
    const cache = new PageCache(host({ a: 30 * GB }));
    cache.read("a", 0);
    cache.read("unknown", 1);
    cache.left("a", HOUR);
    expect([cache.has("a", 2 * HOUR), cache.has("a", 2 * HOUR + 1), cache.has("unknown", HOUR + 2)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("has what a cache that lets go what was not read for longest has", () => {
    const reads = fc.array(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 40 });
    fc.assert(
      fc.property(reads, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 5, maxLength: 5 }), (names, told) => {
        const sizeOf = (model: string) => GB * (told["abcde".indexOf(model)] ?? 0);
        const cache = new PageCache({ bytes: 80 * GB, sizeOf });
        /** The last read first. */
        let held: string[] = [];
        for (const [now, name] of names.entries()) {
          cache.read(name, now);
          held = [name, ...held.filter((one) => one !== name)];
          let bytes = 0;
          const end = held.findIndex((one) => (bytes += sizeOf(one)) > 60 * GB);
          if (end >= 0) held = held.slice(0, end);
          for (const one of "abcde") expect(cache.has(one, now)).toBe(held.includes(one));
        }
      }),
    );
  });
});

describe("the forecast of a load", () => {
  it("is the mean of loads from the page cache or of those from disk, by where the weights would come from", () => {
    const learned = new Learned(host());
    const load = (to: string, ms: number, at: number) => learned.loaded({ from: null, to, ms, wasReady: false }, at);
    load("a", 60_000, 60_000);
    load("b", 40_000, 100_000);
    load("a", 6_000, 110_000);
    expect([learned.loadMs("a", null, 9 * HOUR), learned.isWarm("a", 9 * HOUR)]).toEqual([6_000, true]);
    load("c", 90_000, 200_000);
    expect([learned.loadMs("a", null, 201_000), learned.isWarm("a", 201_000)]).toEqual([60_000, false]);
  });
});
