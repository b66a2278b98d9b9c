import { describe, expect, it } from "vitest";
import { AgentMetrics } from "../src/metrics.ts";
import type { SchedulerView } from "../src/queue/types.ts";

function viewOf(...models: string[]): SchedulerView {
  const states = models.map((name) => ({ name, queued: 0, running: 0 }));
  return { models: states, oldestWaitMs: 0, memoryBudget: 0, memoryUsed: 0 } as unknown as SchedulerView;
}

describe("the agent's metrics", () => {
  it("have no line of a model that is not served any more", async () => {
    const metrics = new AgentMetrics();
    metrics.swapped(null, "a", "ok", 10);
    metrics.swapped("a", "b", "ok", 10);
    metrics.evicted("a");
    for (const model of ["a", "b", null]) metrics.served(model, 200);
    expect(await metrics.text(viewOf("a", "b"))).toMatch(/swaps_total\{from="a",to="b",result="ok"\} 1/);
    const after = await metrics.text(viewOf("b"));
    expect(after).not.toMatch(/="a"/);
    expect(after).toMatch(/served_total\{model="b",status="200"\} 1\n.*served_total\{model="other",status="200"\} 1/);
    expect(after).toMatch(/swap_seconds_count\{to="b"\} 1/);
  });

  it("count the time that swaps took, failed ones too, and that requests waited", async () => {
    const metrics = new AgentMetrics();
    metrics.swapped(null, "a", "ok", 1_500);
    metrics.swapped("a", "b", "failed", 2_500);
    metrics.served("a", 200, 700);
    metrics.served("a", 499, 300);
    metrics.served("a", 200, 0);
    const text = await metrics.text(viewOf("a", "b"), new Map([["a", 60_000]]));
    expect(text).toContain('swapping_seconds_total{to="a",result="ok"} 1.5');
    expect(text).toContain('swapping_seconds_total{to="b",result="failed"} 2.5');
    expect(text).toContain('wait_seconds_total{model="a"} 1\n');
    expect(text).toContain('wait_bound_seconds{model="a"} 60');
    expect(await metrics.text(viewOf("a", "b"))).not.toContain("wait_bound_seconds{");
  });
});
