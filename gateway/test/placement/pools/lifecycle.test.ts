import { describe, expect, it } from "vitest";
import { cheapestWayUp, idleHold, type Link, restingPlace } from "../../../src/placement/pools/lifecycle.ts";

const link = (bytesPerSecond: number, waitMs = 0): Link => ({ bytesPerSecond, waitMs });
const GB = 1e9;

describe("the cheapest way up", () => {
  const links = { host: link(10 * GB), disk: link(2 * GB), peers: new Map([["p", link(20 * GB)]]) };
  const up = (copies: Parameters<typeof cheapestWayUp>[2], given: Parameters<typeof cheapestWayUp>[3] = links) =>
    cheapestWayUp(40 * GB, "w", copies, given);

  it("is a peer's copy at 20 GB/s (2 s) before the host's memory at 10 (4 s) and the disk at 2 (20 s)", () => {
    const warm = { worker: "w", temperature: "warm" } as const;
    expect(up([warm, { worker: "p", temperature: "active" }])).toEqual({ kind: "peer", from: "p", ms: 2_000 });
    expect(up([warm, { worker: "p", temperature: "cold" }])).toEqual({ kind: "host", from: "w", ms: 4_000 });
    expect(up([{ worker: "w", temperature: "cold" }])).toEqual({ kind: "disk", from: "w", ms: 20_000 });
  });

  it("counts the wait for what is on the link: 2 s and a queue of 3 s are more than 4 s", () => {
    const busy = { ...links, peers: new Map([["p", link(20 * GB, 3_000)]]) };
    const copies = [{ worker: "w", temperature: "warm" } as const, { worker: "p", temperature: "warm" } as const];
    expect(up(copies, busy)).toEqual({ kind: "host", from: "w", ms: 4_000 });
  });

  it("lays the least on others where two are equally fast", () => {
    const equal = { host: link(GB), disk: link(GB), peers: new Map([["p", link(GB)]]) };
    const copies = [{ worker: "p", temperature: "warm" } as const, { worker: "w", temperature: "warm" } as const];
    expect(up(copies, equal)?.kind).toBe("host");
  });

  it("is null where no copy can come: over no link that is known, or of nobody", () => {
    expect(up([])).toBeNull();
    expect(up([{ worker: "q", temperature: "active" }])).toBeNull();
    expect(up([{ worker: "w", temperature: "cold" }], { disk: link(0), peers: new Map() })).toBeNull();
  });
});

describe("going down", () => {
  const rules = { holdMs: 30_000, reloads: 2 };
  const reload = { fromHostMs: 4_000, fromDiskMs: 40_000 };

  it("takes longer than coming up again, whatever the rules say", () => {
    expect(idleHold(4_000, rules)).toBe(30_000);
    expect(idleHold(40_000, rules)).toBeGreaterThan(80_000);
    expect(idleHold(40_000, { holdMs: 0, reloads: 0 })).toBeGreaterThan(40_000);
  });

  it.each([
    ["active", 29_999, "active"],
    ["active", 30_000, "warm"],
    ["warm", 110_000, "warm"],
    ["warm", 110_001, "cold"],
    ["cold", 1e9, "cold"],
    ["absent", 1e9, "absent"],
  ] as const)("%s, idle for %i ms: %s", (now, idleMs, then) => {
    expect(restingPlace(now, idleMs, reload, true, rules)).toBe(then);
  });

  it("skips the host's memory where that is full, after the longer hold: 2 x 40 s", () => {
    expect(restingPlace("active", 79_999, reload, false, rules)).toBe("active");
    expect(restingPlace("active", 80_001, reload, false, rules)).toBe("cold");
  });
});
