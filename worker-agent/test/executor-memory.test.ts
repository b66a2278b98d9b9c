import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { type Decider, Executor, type Switching, type Waiter } from "../src/executor.ts";
import { Scheduler } from "../src/index.ts";
import { job } from "./support/executor-world.ts";
import { HandClock } from "./support/hand-clock.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as (options?: { type: "minor" }) => void;

const rules = { maxBatch: 1, maxWait: 1, minResident: 0, maxDepth: 1, failureLimit: 1, failureReset: 1, budget: 0 };
const view = new Scheduler({ ...rules, models: [] }).view(0);
/** Grants each job at once. */
const decider: Decider = {
  on: (event) => (event.type === "arrive" ? [{ type: "grant", id: event.job.id, model: "a", waitedMs: 0 }] : []),
  view: () => view,
};
const idle: Switching = { swap: async () => ({ ok: true }), unload: async () => ({ ok: true }), lost: () => {} };

it("a request that has ended is let go by the next small collection, not only by the next full one", () => {
  const executor = new Executor(decider, idle, new HandClock());
  const nobody: Waiter = { granted() {}, rejected() {}, cut() {} };
  const text = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => i));
  const pass = (n: number) => {
    // Parsed, since what a function makes itself is put among the old things once most of it gets old.
    executor.submit(job(`r${n}`), Object.assign(JSON.parse(text) as object, nobody));
    if (n >= 16) executor.finished(`r${n - 16}`);
  };
  const old = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
  const passMany = (from: number, to: number) => {
    for (let n = from; n < to; n += 1) {
      pass(n);
      if (n % 400 === 0) collectGarbage({ type: "minor" });
    }
  };
  // A quiet hour: what the first ones stood in gets old.
  passMany(0, 20);
  for (let i = 0; i < 4; i += 1) collectGarbage({ type: "minor" });
  const before = old();
  passMany(20, 8_020);
  // All of them together are 64 MB.
  expect(old() - before).toBeLessThan(16_000_000);
});
