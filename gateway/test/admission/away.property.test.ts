import * as fc from "fast-check";
import { expect, it } from "vitest";
import { model, worker } from "../routing/farm.ts";
import { startMembers } from "./members.ts";

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ ask: fc.nat(2), hasKey: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ end: fc.nat(40) }) },
  // Longer than what is gathered, than the pause of one that was refused, and than an answer is waited for.
  { weight: 2, arbitrary: fc.record({ wait: fc.constantFrom(0, 0, 1, 6, 30, 1_100) }) },
  { weight: 2, arbitrary: fc.record({ away: fc.boolean() }) },
);

it("gateways that cannot hear each other at times let all go in the end, and count to nothing", () =>
  fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 40 }), async (cap, steps) => {
      const workers = [worker("w", { models: [model("m", "warm")], maxConcurrent: cap })];
      const { all, request, room, settle, farms } = await startMembers({
        count: 2,
        workers,
        limits: { maxConcurrent: 3 },
      });
      for (const each of steps) {
        if ("ask" in each) request(each.ask, "m", each.hasKey);
        else if ("end" in each) all[each.end % Math.max(1, all.length)]?.end();
        else if ("away" in each) room.away(each.away);
        else await settle(each.wait);
      }
      room.away(false);
      for (let i = 0; i <= all.length; i += 1) {
        await settle(40);
        for (const one of all) if (one.isAt) one.end();
      }
      for (const { state } of all) expect(["answered", "client_closed", "rate_limited"]).toContain(state);
      await settle(12);
      const left = farms.map(({ inflight, hub, waitingRoom }) => {
        const callers = inflight.callers().size + hub.others.caller("bob");
        return [inflight.ownTotal(), inflight.worker("w"), waitingRoom.size, callers];
      });
      expect(left.flat().every((count) => count === 0)).toBe(true);
    }),
    { numRuns: 60, examples: [[1, [{ ask: 1, hasKey: false }, { wait: 30 }, { end: 0 }, { away: true }]]] },
  ));
