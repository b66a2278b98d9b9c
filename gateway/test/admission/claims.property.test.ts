import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Strategy } from "../../src/routing/types.ts";
import { model, worker } from "../routing/farm.ts";
import { startMembers } from "./members.ts";

const warm = (name: string, maxConcurrent: number) =>
  worker(name, { models: [model("m", "warm"), ...(name === "a" ? [model("n", "warm")] : [])], maxConcurrent });

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ ask: fc.nat(2), model: fc.constantFrom("m", "m", "n"), hasKey: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ end: fc.nat(40) }) },
  { weight: 2, arbitrary: fc.record({ wait: fc.constantFrom(0, 0, 1, 6) }) },
);

describe("gateways that act as one", () => {
  it("never have more than its cap at a worker, leave nobody waiting who could go, and count to nothing in the end", () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          count: fc.integer({ min: 2, max: 3 }),
          caps: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })),
          ofKey: fc.constantFrom(0, 2, 3),
          strategy: fc.constantFrom<Strategy>("least-connections", "round-robin"),
        }),
        fc.array(step, { maxLength: 40 }),
        async ({ count, caps, ofKey, strategy }, steps) => {
          const cap = { a: caps[0], b: caps[1] };
          const workers = [warm("a", cap.a), warm("b", cap.b)];
          const members = await startMembers({ count, workers, strategy, limits: { maxConcurrent: ofKey } });
          const { all, at, settle, farms } = members;
          const check = () => {
            expect(at("a")).toBeLessThanOrEqual(cap.a);
            expect(at("b")).toBeLessThanOrEqual(cap.b);
            const ofBob = all.filter(({ isAt, call }) => isAt && call.callerName === "bob");
            expect(ofBob.length).toBeLessThanOrEqual(ofKey === 0 ? all.length : ofKey);
          };
          for (const each of steps) {
            if ("ask" in each) members.request(each.ask, each.model, each.hasKey);
            // One that is at a worker ends; one that waits, or whose claim is under way, is left by its caller.
            else if ("end" in each) all[each.end % Math.max(1, all.length)]?.end();
            else await settle(each.wait);
            check();
          }
          const allGo = async () => {
            await settle(40);
            check();
            const waiting = all.filter(({ state }) => state === "waiting");
            // Those of `n` have `a` alone.
            const isFull = [at("a") === cap.a, at("b") === cap.b];
            expect([waiting.length === 0 || isFull[0], waiting.every((one) => one.model === "n") || isFull[1]]).toEqual(
              [true, true],
            );
            return waiting.length === 0;
          };
          // All at one worker end at once, then all at the other; it may be one each second time.
          for (let i = 0; i <= 2 * all.length && !(await allGo()); i += 1) {
            for (const one of all) if (one.state === (i % 2 === 0 ? "a" : "b")) one.end();
          }
          for (const one of all) if (one.isAt) one.end();
          for (const { state } of all) expect(["answered", "client_closed", "rate_limited"]).toContain(state);
          await settle(12);
          for (const { inflight, hub, waitingRoom } of farms) {
            expect([inflight.ownTotal(), waitingRoom.size, inflight.worker("a"), inflight.worker("b")]).toEqual([
              0, 0, 0, 0,
            ]);
            expect([inflight.callers().size, hub.others.caller("bob")]).toEqual([0, 0]);
          }
        },
      ),
      { numRuns: 60 },
    ));
});
