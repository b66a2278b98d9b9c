import { FarmError } from "@farmgate/shared";
import { createLog } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import { Metrics } from "../../src/metrics.ts";
import { Accounts } from "../../src/proxy/accounts.ts";
import { UsageTap } from "../../src/proxy/usage-tap.ts";
import { Farm } from "../catalog/farm.ts";

/** One request that has ended, as `Accounts` reads it. */
function ended(more: Record<string, unknown> = {}): Parameters<Accounts["add"]>[0] {
  const call = {
    id: "r",
    callerName: "",
    api: "chat",
    model: "m",
    worker: "a",
    warmth: "warm",
    attempts: 1,
    arrivedAt: 0,
    receivedAt: 1,
    firstSentAt: 3,
    firstByteAt: 10,
    waitedMs: 0,
    weighed: null,
    joinedAs: null,
    goneError: null,
    tap: new UsageTap(),
    ...more,
  };
  return call as unknown as Parameters<Accounts["add"]>[0];
}

function accounts(log = createLog("test", "silent")) {
  const timers: (() => void)[] = [];
  const clock = {
    now: () => 20,
    wall: () => 0,
    after(_ms: number, fn: () => void) {
      timers.push(fn);
      return () => {
        timers.splice(timers.indexOf(fn), 1);
      };
    },
  };
  const farm = new Farm("a");
  const catalog = () => farm.catalog;
  const inflight = { ownWorker: () => 0 };
  const metrics = new Metrics({
    catalog,
    inflight,
    hub: null,
    waiting: () => 0,
    bodyBytes: () => 0,
    copies: { listedWarmth: () => [], wantedWarmth: () => [] },
    replicas: () => [],
    now: clock.now,
  });
  const placement = { figuresOf: () => null, ended: () => {} };
  const books = new Accounts({ clock, log, metrics, catalog, placement });
  const counted = async () => /farmgate_requests_total\{.*\} (\d+)/.exec(await metrics.text())?.[1] ?? "0";
  return { books, metrics, timers, counted };
}

describe("the account of a request", () => {
  it("is written with the others after a moment, each once", async () => {
    const { books, timers, counted } = accounts();
    for (let i = 0; i < 3; i += 1) books.add(ended(), { status: 200, error: null });
    expect(await counted()).toBe("0");
    expect(timers).toHaveLength(1);
    timers[0]?.();
    expect(await counted()).toBe("3");
    books.settle();
    expect(await counted()).toBe("3");
    expect(timers).toHaveLength(0);
  });

  it("stands beside what the process takes", async () => {
    const text = await accounts().metrics.text();
    for (const name of ["process_resident_memory_bytes", "nodejs_heap_size_used_bytes", "process_cpu_seconds_total"]) {
      expect(text).toMatch(new RegExp(`^${name} [0-9.]*[1-9]`, "m"));
    }
  });

  it("waits for nothing when there are many", async () => {
    const { books, counted } = accounts();
    for (let i = 0; i < 320; i += 1) books.add(ended(), { status: 200, error: null });
    expect(await counted()).toBe("320");
  });

  it("says what was weighed, and nothing where nothing was", () => {
    const lines: unknown[] = [];
    const log = { info: (fields: unknown) => lines.push(fields) };
    const { books } = accounts(log as unknown as Parameters<typeof accounts>[0]);
    const weighed = { decision: "swap", waitMs: 40_000.4, swapMs: 25_000, worker: "a", reason: "" };
    books.add(ended({ weighed }), { status: 200, error: null });
    books.add(ended(), { status: 200, error: null });
    books.settle();
    expect(lines[0]).toMatchObject({ decision: "swap", waitMs: 40_000, swapMs: 25_000 });
    expect(lines[1]).toMatchObject({ decision: undefined, waitMs: undefined, swapMs: undefined });
  });

  it("says of which joint request it was part", () => {
    const lines: unknown[] = [];
    const log = { info: (fields: unknown) => lines.push(fields) };
    const { books } = accounts(log as unknown as Parameters<typeof accounts>[0]);
    books.add(ended({ joinedAs: "req_1" }), { status: 200, error: null });
    books.settle();
    expect(lines[0]).toMatchObject({ id: "r", joinedAs: "req_1" });
  });

  it("counts a stream that broke as cut short, but not one that nobody wanted any more", async () => {
    const { books, metrics } = accounts();
    const tap = new UsageTap();
    tap.streamed = true;
    const broke = new FarmError("worker_failed", "it broke");
    books.add(ended({ tap }), { status: 200, error: broke });
    books.add(ended({ tap, goneError: broke }), { status: 200, error: broke });
    books.settle();
    const text = await metrics.text();
    expect(text).toContain('farmgate_streams_truncated_total{worker="a"} 1');
    expect(text).toContain('status="502"');
  });
});
