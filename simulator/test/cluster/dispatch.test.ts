import { describe, expect, test } from "vitest";
import type { DispatchOrder } from "../../src/cluster/types.ts";
import { activate, appOf, run } from "./small-cluster.ts";

const start = [activate(0, [0])];
const order = (dispatch: DispatchOrder, inputs: readonly number[], ttftMs: number) => {
  const applications = [appOf("a", { ttftMs })];
  const asks = inputs.map((input, at) => ({ at, input, output: 1 }));
  const { notes, result } = run({ applications, asks, start, dispatch });
  const onTime = notes.ends.filter(({ outcome, ttft }) => outcome === "done" && ttft <= ttftMs).length;
  return {
    arrivals: notes.ends.map(({ at }) => at),
    outcomes: notes.ends.map(({ outcome }) => outcome),
    onTime,
    result,
  };
};

describe("dispatch", () => {
  test("in order of arrival", () => {
    expect(order("first-come", [1_000, 3_000, 100, 100], 1_000).arrivals).toEqual([0, 1, 2, 3]);
  });

  test("by slack, long prompts earlier than short ones of the same time", () => {
    expect(order("least-slack", [1_000, 100, 3_000, 100], 1_000).arrivals).toEqual([0, 2, 1, 3]);
  });

  test("by Moore-Hodgson leaves out the long one that would make others late", () => {
    const inputs = [1_000, 4_000, 100, 100, 100, 100, 100];
    expect(order("first-come", inputs, 420).onTime).toBe(1);
    const { arrivals, onTime, result } = order("lst-imh", inputs, 420);
    expect(onTime).toBe(6);
    expect(arrivals.at(-1)).toBe(1);
    expect(result.counts.relaxedDeadlines).toBe(1);
  });

  test("drops what is late with its deadline relaxed twice", () => {
    // 910 ms are more than 9 x 100.
    const { outcomes, result } = order("lst-imh", [9_000, 100], 100);
    expect(outcomes).toContain("timed-out");
    expect(outcomes).toContain("done");
    expect(result.counts.relaxedDeadlines).toBe(2);
  });

  test("of an overload serves more in time with LST-IMH than by arrival or slack", () => {
    const inputs = Array.from({ length: 400 }, (_, n) => [200, 50, 1_500, 400][n % 4] ?? 0);
    const asks = inputs.map((input, n) => ({ at: 30 * n, input, output: 1 }));
    const count = (dispatch: DispatchOrder) => {
      const applications = [appOf("a", { ttftMs: 500 })];
      const { notes } = run({ applications, asks, start, dispatch });
      return notes.ends.filter(({ ttft, outcome }) => outcome === "done" && ttft <= 500).length;
    };
    const planned = count("lst-imh");
    expect(planned).toBeGreaterThan(3 * count("first-come"));
    expect(planned).toBeGreaterThan(3 * count("least-slack"));
    expect(planned).toBeGreaterThan(200);
  });

  test("goes to the instance with the smallest batch", () => {
    const asks = [0, 500].map((at) => ({ at, input: 1, output: 1_001 }));
    const { notes } = run({ asks, start: [activate(0, [0]), activate(0, [1])] });
    // Each is alone in its batch.
    for (const { tpot } of notes.ends) expect(tpot).toBeCloseTo(2.1 + 0.0502, 3);
  });
});
