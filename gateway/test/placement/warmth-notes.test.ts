import { describe, expect, it } from "vitest";
import type { WorkerEntry } from "../../src/catalog/types.ts";
import { type OrderBook, orderFailed, ordered } from "../../src/placement/orders.ts";
import { warmthOf } from "../../src/placement/warmth-notes.ts";
import { machine, pending, viewOf, want } from "./view.ts";

interface Told {
  workers: readonly WorkerEntry[];
  wanted?: Record<string, number>;
  orders?: OrderBook;
  inUse?: boolean;
}

function told({ workers, wanted = {}, orders, inUse = false }: Told) {
  const view = viewOf(workers, orders);
  if (inUse) view.recentUse.asked("m", 900);
  const { copies, trouble, note } = warmthOf({ key: "m", name: "m" }, want(wanted), view);
  return { copies, trouble, note };
}

const warm = (name: string) => machine(name, { m: "warm" });
const cold = (name: string) => machine(name, { m: "cold" });

describe("one warm copy of a model in use", () => {
  it("is said where two workers or more list the model", () => {
    const note = "in use and warm on a alone, though 2 workers have it";
    expect(told({ workers: [warm("a"), cold("b")], inUse: true })).toEqual({ copies: 1, trouble: "single", note });
  });

  it.each<[string, Told]>([
    ["the model is not in use", { workers: [warm("a"), cold("b")] }],
    ["no other worker lists it", { workers: [warm("a"), machine("b", { n: "cold" })], inUse: true }],
    ["another is warm", { workers: [warm("a"), warm("b")], inUse: true }],
    ["none is warm", { workers: [cold("a"), cold("b")], inUse: true }],
  ])("is nothing to say where %s", (_, farm) => {
    expect(told(farm)).toMatchObject({ trouble: null, note: null });
  });

  it("is what remains when the other's worker refuses connections or drains", () => {
    for (const out of [{ refused: true }, { draining: true }]) {
      const workers = [warm("a"), machine("b", { m: "warm" }, out)];
      expect(told({ workers, inUse: true })).toMatchObject({ copies: 1, trouble: "single" });
    }
  });
});

describe("wanted copies that are missing", () => {
  it("are no trouble while they are on their way or about to be ordered", () => {
    const note = "1 of 2 warm copies, more on the way";
    for (const workers of [
      [warm("a"), machine("b", { m: "loading" })],
      [warm("a"), cold("b")],
    ]) {
      expect(told({ workers, wanted: { m: 2 } })).toEqual({ copies: 1, trouble: null, note });
    }
    const busyElsewhere = { workers: [warm("a"), machine("b", { m: "cold", n: "cold" })], orders: pending(["b:n"]) };
    expect(told({ ...busyElsewhere, wanted: { m: 2 } })).toMatchObject({ trouble: null });
  });

  it.each<[string, WorkerEntry[], string]>([
    ["no worker lists it", [], "0 of 2 warm copies: no worker lists it"],
    ["too few list it", [warm("a")], "1 of 2 warm copies: 1 worker lists it"],
    [
      "others are out",
      [warm("a"), machine("b", { m: "cold" }, { health: "unhealthy" })],
      "1 of 2 warm copies: b is unhealthy",
    ],
    [
      "another wanted model has the place",
      [warm("a"), machine("b", { m: "cold", n: "warm" })],
      "1 of 2 warm copies: b would have to take out n, which is to stay warm too",
    ],
  ])("are said with the reason: %s", (_, workers, note) => {
    expect(told({ workers, wanted: { m: 2, n: 1 } })).toMatchObject({ trouble: "unmet", note });
  });

  it("are trouble from the first failed order to a load that is done, whatever is tried between", () => {
    const workers = [warm("a"), cold("b")];
    const failed = orderFailed(pending(["b:m"]), "b", "m", "it answered 503", 1_000);
    const note = "1 of 2 warm copies: b did not load it (it answered 503)";
    expect(told({ workers, wanted: { m: 2 }, orders: failed })).toEqual({ copies: 1, trouble: "unmet", note });
    const again = ordered(failed, { worker: "b", key: "m", model: "m", wasFailed: false }, 1_000);
    expect(told({ workers, wanted: { m: 2 }, orders: again })).toEqual({ copies: 1, trouble: "unmet", note });
    const workersThen = [warm("a"), warm("b")];
    expect(told({ workers: workersThen, wanted: { m: 2 }, orders: again })).toMatchObject({
      trouble: null,
      note: null,
    });
  });
});
