import { BodyBytes } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BatchLimits } from "../../src/batching/batch-limits.ts";
import { commonHeaders } from "../../src/batching/join-inputs.ts";
import { mayJoin, type Joining } from "../../src/batching/may-join.ts";
import { type Batch, OpenBatches, type Size } from "../../src/batching/open-batches.ts";

const rules = { inputs: 8, bytes: 1_000 };

describe("requests that gather", () => {
  it("are each in one batch of their key, in order, and no batch is too large", () => {
    const member = fc.record({
      key: fc.constantFrom("a", "b"),
      inputs: fc.integer({ min: 1, max: 7 }),
      bytes: fc.integer({ min: 1, max: 999 }),
    });
    fc.assert(
      fc.property(fc.array(member), (members) => {
        const batches = new OpenBatches<Size>();
        const closed: Batch<Size>[] = [];
        const open = new Set<Batch<Size>>();
        for (const one of members) {
          const { batch, isNew, full } = batches.add(one.key, one, rules);
          expect(batch.key).toBe(one.key);
          expect(isNew).toBe(!open.has(batch));
          open.add(batch);
          for (const each of full) {
            open.delete(each);
            closed.push(each);
            expect(batches.close(each)).toBe(false);
          }
        }
        for (const batch of open) {
          expect(batches.close(batch)).toBe(true);
          closed.push(batch);
        }
        for (const key of ["a", "b"]) {
          const served = closed.filter((batch) => batch.key === key).flatMap((batch) => [...batch.members]);
          expect(served).toEqual(members.filter((one) => one.key === key));
        }
        for (const { members: together } of closed) {
          const sum = (of: keyof Size) => [...together].reduce((all, one) => all + one[of], 0);
          expect(sum("inputs")).toBeLessThanOrEqual(rules.inputs);
          expect(sum("bytes")).toBeLessThanOrEqual(rules.bytes);
        }
      }),
    );
  });

  it("do not wait for what has no room any more", () => {
    const batches = new OpenBatches<Size>();
    const add = (inputs: number, bytes = 1) => batches.add("a", { inputs, bytes }, rules);
    const first = add(5);
    expect(add(3).full).toEqual([first.batch]);
    const second = add(5);
    expect(second.isNew).toBe(true);
    const third = add(4);
    expect(third.full).toEqual([second.batch]);
    expect(third.isNew).toBe(true);
    expect(add(1, 1_000).full).toEqual([third.batch]);
  });
});

const bodyOf = (text: string) => new BodyBytes([Buffer.from(text)]);

describe("a request that may be joined", () => {
  const asked: Joining = {
    api: "embeddings",
    body: bodyOf('{"model":"m","input":"a"}'),
    target: "/v1/embeddings",
    caller: "alice",
    priority: null,
    hasDeadline: false,
    hops: 0,
    via: undefined,
  };
  const keyOf = (change: Partial<Joining>) => mayJoin({ ...asked, ...change }, rules)?.key ?? null;

  it("is a small one for embeddings, without a deadline", () => {
    expect(keyOf({})).not.toBeNull();
    expect(keyOf({ api: "chat" })).toBeNull();
    expect(keyOf({ hasDeadline: true })).toBeNull();
    expect(keyOf({ body: bodyOf(`{"model":"m","input":"${"a".repeat(1_000)}"}`) })).toBeNull();
    expect(keyOf({ body: bodyOf(JSON.stringify({ input: Array(8).fill("a") })) })).toBeNull();
  });

  it("goes with those alone that are the same to the farm", () => {
    expect(keyOf({ body: bodyOf('{"input":["b","c"],"model":"m"}') })).toBe(keyOf({}));
    const others: Partial<Joining>[] = [
      { target: "/v1/embeddings?x=1" },
      { caller: "bob" },
      { priority: "batch" },
      { hops: 1 },
      { via: "1.1 other" },
      { body: bodyOf('{"model":"m","input":[1]}') },
      { body: bodyOf('{"model":"n","input":"a"}') },
      { body: bodyOf('{"model":"m","input":"a","encoding_format":"base64"}') },
    ];
    const keys = new Set([{}, ...others].map(keyOf));
    expect(keys.size).toBe(others.length + 1);
  });
});

describe("headers of a joint request", () => {
  it("are what all have alike", () => {
    const one = ["User-Agent", "sdk", "traceparent", "1", "accept", "a"];
    expect(commonHeaders([one, ["traceparent", "2", "user-agent", "sdk", "Accept", "a"]])).toEqual([
      "User-Agent",
      "sdk",
      "accept",
      "a",
    ]);
    expect(commonHeaders([one])).toEqual(one);
    expect(commonHeaders([one, []])).toEqual([]);
  });
});

describe("a model that takes no batch of some size", () => {
  it("gets smaller ones for ten minutes", () => {
    const limits = new BatchLimits();
    expect(limits.most("m", 0)).toBe(Number.POSITIVE_INFINITY);
    limits.refused("m", 5, 1_000);
    expect(limits.most("m", 1_000)).toBe(2);
    limits.refused("m", 2, 2_000);
    expect(limits.most("m", 601_999)).toBe(1);
    expect(limits.most("n", 3_000)).toBe(Number.POSITIVE_INFINITY);
    expect(limits.most("m", 602_000)).toBe(Number.POSITIVE_INFINITY);
  });

  it("is one of a thousand at most", () => {
    const limits = new BatchLimits();
    for (let i = 0; i <= 1_000; i += 1) limits.refused(`m${i}`, 4, 0);
    expect(limits.most("m0", 0)).toBe(Number.POSITIVE_INFINITY);
    expect(limits.most("m1", 0)).toBe(2);
    expect(limits.most("m1000", 0)).toBe(2);
  });
});
