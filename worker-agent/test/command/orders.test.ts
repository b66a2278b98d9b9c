import * as fc from "fast-check";
import { readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { until } from "../../../test/harness/until.ts";
import { commandRig, isRunning, killAtOnce, never } from "./rig.ts";

type Order =
  | { kind: "load" | "unload" | "kill"; model: 0 | 1; wait: boolean }
  /** A load that is given up as soon as the order after it is done. */
  | { kind: "try"; model: 0 | 1; wait: false };

const model = fc.constantFrom(0 as const, 1 as const);
const order: fc.Arbitrary<Order> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("load" as const), model, wait: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("unload" as const), model, wait: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("kill" as const), model, wait: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("try" as const), model, wait: fc.constant(false as const) }) },
);

/** Killed, and gone: until then a load may still find it, and then sees it die. */
async function killed(pids: readonly number[]): Promise<void> {
  for (const pid of pids) killAtOnce(pid);
  for (const pid of pids) await until(async () => !(await isRunning(pid)), "it is gone");
}

it("never runs a model twice, and leaves nothing, whatever the order of loads, unloads and deaths", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(order, { minLength: 4, maxLength: 14 }), async (orders) => {
      const rig = await commandRig();
      const holder = rig.holder();
      const models = [await rig.model("a"), await rig.model("b", "child", { stopGraceMs: 100 })] as const;
      const underWay: Promise<unknown>[] = [];
      const tries: AbortController[] = [];
      for (const { kind, model, wait } of orders) {
        const asked = models[model];
        const stop = new AbortController();
        if (kind === "try") tries.push(stop);
        let done: Promise<unknown> = Promise.resolve();
        if (kind === "load" || kind === "try") done = holder.load(asked, null, stop.signal);
        if (kind === "unload") done = holder.unload(asked, never);
        if (kind === "kill") done = killed(await rig.running(asked.name));
        underWay.push(done);
        if (!wait) continue;
        await done;
        for (const one of tries.splice(0)) one.abort();
      }
      await Promise.all(underWay);
      for (const asked of models) {
        const running = await rig.running(asked.name);
        expect(running.length).toBeLessThanOrEqual(1);
        expect(await holder.load(asked, null, never)).toMatchObject({ ok: true });
        expect(await rig.running(asked.name)).toHaveLength(1);
      }
      await holder.close();
      expect(await rig.anyRunning()).toEqual([]);
      expect(await readdir(rig.notes)).toEqual([]);
      expect(await rig.clashes()).toBe("");
    }),
    { numRuns: 12 },
  );
}, 120_000);
