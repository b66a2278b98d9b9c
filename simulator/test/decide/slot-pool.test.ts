import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SlotPool } from "../../src/decide/slot-pool.ts";

test("never more than its slots are busy, nobody is lost, and the queue is in order", () => {
  const steps = fc.array(fc.oneof(fc.constant("add"), fc.nat(30)), { maxLength: 120 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), steps, (slots, script) => {
      const pool = new SlotPool(slots);
      const inside = new Set<string>();
      const started: number[] = [];
      let added = 0;
      for (const step of script) {
        if (step === "add") {
          const start = pool.add({ id: String(added), prompt: `p${added}` }, added);
          inside.add(String(added));
          added += 1;
          if (start) started.push(Number(start.job));
        } else if (inside.delete(String(step))) {
          const start = pool.release(String(step), "", added);
          if (start) started.push(Number(start.job));
        }
        expect(pool.active).toBeLessThanOrEqual(slots);
        expect(pool.active + pool.queued).toBe(inside.size);
        // A slot is idle only when nobody waits.
        expect(pool.active === slots || pool.queued === 0).toBe(true);
      }
      expect(started).toEqual([...started].sort((a, b) => a - b));
      expect(new Set(started).size).toBe(started.length);
    }),
  );
});

test("a conversation that comes back finds its prefix, in whichever slot it was", () => {
  const pool = new SlotPool(3);
  const prompts = ["aaaa".repeat(100), "bbbb".repeat(100), "cccc".repeat(100)];
  for (const [i, prompt] of prompts.entries()) pool.add({ id: `${i}`, prompt }, i);
  for (const [i] of prompts.entries()) pool.release(`${i}`, "ANSWER..", 10 - i);
  const again = pool.add({ id: "again", prompt: `${prompts[1]}ANSWER..and more` }, 20);
  expect(again).toEqual({ job: "again", slot: 1, cachedTokens: 102 });
});

test("an unknown prompt takes the slot that was used longest ago", () => {
  const pool = new SlotPool(3);
  for (const id of ["a", "b", "c"]) pool.add({ id, prompt: id.repeat(100) }, 0);
  pool.release("a", "", 5);
  pool.release("b", "", 3);
  pool.release("c", "", 4);
  expect(pool.add({ id: "d", prompt: "something else" }, 6)).toMatchObject({ slot: 1, cachedTokens: 0 });
});

test("one token is always read again", () => {
  const pool = new SlotPool(1);
  pool.add({ id: "a", prompt: "x".repeat(40) }, 0);
  pool.release("a", "", 1);
  expect(pool.add({ id: "b", prompt: "x".repeat(40) }, 2)).toMatchObject({ cachedTokens: 9 });
});
