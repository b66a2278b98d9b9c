import { describe, expect, it } from "vitest";
import { cheapestWayUp, throughMs, type WayUp } from "../src/way-up.ts";

const GB = 1e9;
const way = (from: string, bytesPerSecond: number, more: Partial<WayUp> = {}) => {
  return { from, waitMs: 0, constantMs: 0, bytes: 40 * GB, bytesPerSecond, ...more };
};

describe("the cheapest way up", () => {
  it("is the one over which the weights are there soonest: a peer at 20 GB/s, memory at 10, the disk at 2", () => {
    const ways = [way("disk", 2 * GB), way("host", 10 * GB), way("peer", 20 * GB)];
    expect(ways.map(throughMs)).toEqual([20_000, 4_000, 2_000]);
    expect(cheapestWayUp(ways)?.from).toBe("peer");
  });

  it("counts the wait for what is on it, and what does not depend on the bytes", () => {
    const host = way("host", 10 * GB);
    expect(cheapestWayUp([way("peer", 20 * GB, { waitMs: 3_000 }), host])?.from).toBe("host");
    expect(cheapestWayUp([way("peer", 20 * GB, { constantMs: 1_999 }), host])?.from).toBe("peer");
    expect(cheapestWayUp([way("peer", 20 * GB, { constantMs: 1_500, waitMs: 501 }), host])?.from).toBe("host");
  });

  it("is the first of equals", () => {
    expect(cheapestWayUp([way("a", GB), way("b", GB)])?.from).toBe("a");
  });

  it("is none where nothing comes: closed, or at no rate", () => {
    const closed = way("a", GB, { waitMs: Number.POSITIVE_INFINITY });
    expect(cheapestWayUp([closed, way("b", 0), way("c", 0, { bytes: 0 })])).toBeNull();
    expect(cheapestWayUp([])).toBeNull();
  });
});
