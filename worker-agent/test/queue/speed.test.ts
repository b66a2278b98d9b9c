import { describe, expect, it } from "vitest";
import { Scheduler } from "../../src/queue/scheduler.ts";
import { modelRules, rulesFor } from "./workload.ts";

describe("a long queue", () => {
  it("costs little for each event, however many jobs wait and models are listed", () => {
    const names = Array.from({ length: 400 }, (_, index) => `m${index}`);
    const rules = { budget: 4, models: names.map((name) => modelRules(name, { memory: 1, slots: 4 })) };
    const scheduler = new Scheduler(rulesFor({}, rules));
    for (const model of names.slice(0, 4)) scheduler.on({ type: "found", model }, 0);
    const running: string[] = [];
    let now = 0;
    let jobs = 0;
    const arrive = () => {
      jobs += 1;
      const id = String(jobs);
      // Most for what is loaded, some for sixteen others.
      const model = jobs % 10 === 0 ? `m${4 + ((jobs / 10) % 16)}` : `m${jobs % 4}`;
      const job = { id, requestId: id, model, caller: `c${jobs % 7}`, priority: "interactive" as const };
      take(scheduler.on({ type: "arrive", job: { ...job, arrivedAt: now, deadlineAt: null, kind: "request" } }, now));
    };
    const take = (effects: ReturnType<Scheduler["on"]>) => {
      for (const effect of effects) if (effect.type === "grant") running.push(effect.id);
    };
    for (let count = 0; count < 10_000; count += 1) arrive();
    const events = 20_000;
    // Time of the processor, which a busy machine does not lengthen.
    const before = process.cpuUsage();
    for (let index = 0; index < events; index += 2) {
      now += 0.5;
      arrive();
      const id = running.shift();
      if (id !== undefined) take(scheduler.on({ type: "done", id }, now));
    }
    const { user, system } = process.cpuUsage(before);
    const each = (user + system) / events;
    console.log(`an event with 10,000 jobs waiting: ${each.toFixed(1)} µs`);
    expect(scheduler.view(now).depth).toBeGreaterThan(9_000);
    expect(each).toBeLessThan(200);
  });
});
