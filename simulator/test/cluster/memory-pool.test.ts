import { describe, expect, test } from "vitest";
import { MemoryPool } from "../../src/cluster/memory-pool.ts";
import { ENGINE_PARAMETERS } from "../../src/cluster/parameters.ts";

const pool = () => new MemoryPool(100e6, { ...ENGINE_PARAMETERS, pageBytes: 1e6, mapUs: 1_000 });

describe("the memory of a device", () => {
  test("gives no more than it has, to weights and to state", () => {
    const memory = pool();
    expect(memory.reserveWeights(1, 60)).toBe(true);
    expect(memory.reserveWeights(2, 41)).toBe(false);
    memory.takeState(40, 0);
    expect(memory.freePages).toBe(0);
    expect(() => memory.takeState(1, 0)).toThrow("1 pages are wanted, 0 are free");
    expect(() => memory.freeState(41, 0)).toThrow("41 pages are given back, 40 were taken");
  });

  test("counts the gap that weights leave, and fills it first", () => {
    const memory = pool();
    for (const owner of [1, 2, 3]) memory.reserveWeights(owner, 20);
    memory.freeWeights(2, 0);
    expect([memory.gapPages, memory.freePages]).toEqual([20, 60]);
    memory.reserveWeights(4, 15);
    expect([memory.gapPages, memory.mostGap]).toEqual([5, 20]);
    expect(memory.remapped).toBe(0);
  });

  test("maps weights anew further down when only broken room is left", () => {
    const memory = pool();
    for (const owner of [1, 2, 3]) memory.reserveWeights(owner, 30);
    memory.freeWeights(1, 0);
    expect(memory.reserveWeights(4, 40)).toBe(true);
    expect([memory.gapPages, memory.remapped, memory.weightPages]).toEqual([0, 60, 100]);
  });

  test("keeps the place of weights while state is in it", () => {
    const memory = pool();
    memory.takeState(70, 0);
    expect(memory.reserveWeights(1, 50)).toBe(true);
    expect(memory.freePages).toBe(-20);
    memory.freeState(70, 0);
    expect(memory.freePages).toBe(50);
  });

  test("waits only for pages that were not mapped ahead", () => {
    const memory = pool();
    expect(memory.takeState(80, 0)).toBe(0);
    memory.freeState(80, 1_000);
    // Twenty were ready, one more each millisecond.
    expect(memory.takeState(50, 1_010)).toBe(20);
    expect([memory.mapped, memory.unmapped]).toEqual([130, 80]);
  });
});
