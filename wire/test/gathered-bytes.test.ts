import * as fc from "fast-check";
import { expect, it } from "vitest";
import { GatheredBytes } from "../src/gathered-bytes.ts";

it("is what came, in its order, however it was cut", () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.tuple(fc.nat({ max: 70_000 }), fc.nat({ max: 255 })).map(([length, byte]) => new Uint8Array(length).fill(byte)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const gathered = new GatheredBytes();
      for (const bytes of pieces) gathered.add(Buffer.from(bytes));
      const whole = Buffer.concat(pieces);
      expect(gathered.length).toBe(whole.length);
      expect(gathered.bytes().equals(whole)).toBe(true);
      expect(gathered.bytes().equals(whole)).toBe(true);
    }),
  );
});

it("does not copy a single large piece", () => {
  const gathered = new GatheredBytes();
  const piece = Buffer.alloc(10_000);
  gathered.add(piece);
  expect(gathered.bytes()).toBe(piece);
});

it("holds little more than its bytes, even of millions of tiny pieces", () => {
  const gathered = new GatheredBytes();
  const before = process.memoryUsage();
  for (let i = 0; i < 2_000_000; i += 1) gathered.add(Buffer.from([i & 255]));
  const after = process.memoryUsage();
  expect(gathered.bytes()).toHaveLength(2_000_000);
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(100_000_000);
});
