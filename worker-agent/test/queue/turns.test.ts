import { describe, expect, it } from "vitest";
import { Drive } from "./drive.ts";
import { rulesFor } from "./workload.ts";
import type { Arrival, Workload } from "./workload.ts";

const job = (id: string, at: number, model: string, over: Partial<Arrival> = {}): Arrival => ({
  id,
  at,
  model,
  ...over,
});

function run(work: Partial<Workload> & Pick<Workload, "arrivals">): Drive {
  return new Drive({ rules: rulesFor({ a: 1, b: 1, c: 1 }), loadMs: 1_000, ...work }).run();
}

/** `count` requests for a model, all there at `at`. */
const many = (prefix: string, count: number, at: number, model: string, answerMs = 100): Arrival[] =>
  Array.from({ length: count }, (_, index) => job(`${prefix}${index}`, at, model, { answerMs }));

describe("R1, waiting since", () => {
  it("puts a model that has just had its turn behind those that waited meanwhile", () => {
    // a's leftover is older than anybody's job, yet b and c come first.
    const rules = rulesFor({ a: 1, b: 1, c: 1 }, { maxBatch: 2 });
    const arrivals = [...many("a", 5, 0, "a"), job("b", 50, "b"), job("c", 60, "c")];
    expect(run({ rules, found: "a", arrivals }).swaps).toEqual(["b", "c", "a"]);
  });

  it("keeps the place of a caller who gave up and asks again", () => {
    const arrivals = [
      job("busy", 0, "a", { answerMs: 10_000 }),
      job("first", 1_000, "b", { leaveAt: 3_000 }),
      job("other", 2_000, "c"),
      job("again", 4_000, "b"),
    ];
    expect(run({ found: "a", arrivals }).swaps).toEqual(["b", "c"]);
  });

  it("lets the place lapse when nobody has asked for maxWait", () => {
    const rules = rulesFor({ a: 1, b: 1, c: 1 }, { maxWait: 1_500 });
    const arrivals = [
      job("busy", 0, "a", { answerMs: 10_000 }),
      job("first", 1_000, "b", { leaveAt: 1_500 }),
      job("other", 2_000, "c"),
      job("again", 4_000, "b"),
    ];
    expect(run({ rules, found: "a", arrivals }).swaps).toEqual(["c", "b"]);
  });

  it("serves a caller who always gives up before maxWait and asks again, beside an endless stream", () => {
    const stream = Array.from({ length: 200 }, (_, index) => job(`a${index}`, index * 1_000, "a", { answerMs: 1_000 }));
    const asks = [0, 1, 2, 3].map((index) =>
      job(`b${index}`, 500 + index * 30_000, "b", { leaveAt: 25_500 + index * 30_000 }),
    );
    const drive = run({ found: "a", arrivals: [...stream, ...asks] });
    expect(drive.ended.get("b2")?.how).toBe("done");
  });
});

describe("R1, a place", () => {
  it("starts anew after a failed load", () => {
    const arrivals = [
      job("a1", 0, "a"),
      job("b", 100, "b", { answerMs: 5_000 }),
      job("c", 500, "c"),
      job("a2", 2_500, "a", { arrivedAt: -5_000 }),
    ];
    const drive = run({ arrivals, fails: (model, attempt) => model === "a" && attempt === 1 });
    expect(drive.swaps).toEqual(["a", "b", "c", "a"]);
  });

  it("is not kept alive by requests that found the queue full", () => {
    const rules = rulesFor({ a: 1, b: 1, c: 1 }, { maxWait: 3_000, maxDepth: 2 });
    const arrivals = [
      job("busy", 0, "a", { answerMs: 12_000 }),
      job("gone", 1_000, "b", { leaveAt: 1_100 }),
      job("c1", 2_000, "c", { caller: "x" }),
      job("c2", 2_000, "c", { caller: "y", leaveAt: 2_500 }),
      job("full", 2_100, "b"),
      job("again", 9_000, "b"),
    ];
    const drive = run({ rules, found: "a", arrivals });
    expect(drive.ended.get("full")?.how).toBe("queue_full");
    expect(drive.swaps).toEqual(["c", "b"]);
  });
});

describe("R2, due", () => {
  it("makes a model due after maxBatch grants besides it", () => {
    const rules = rulesFor({ a: 1, b: 1 }, { maxBatch: 3 });
    const arrivals = [job("b", 0, "b"), ...many("a", 10, 0, "a")];
    const drive = run({ rules, found: "a", arrivals: [job("a", 0, "a"), ...arrivals] });
    expect(drive.granted.indexOf("b")).toBe(4);
  });

  it("does not count grants while nobody else waited", () => {
    const rules = rulesFor({ a: 1, b: 1 }, { maxBatch: 3 });
    const drive = run({ rules, found: "a", arrivals: [...many("a", 10, 0, "a"), job("b", 550, "b")] });
    // Six were granted alone, then three besides b.
    expect(drive.granted.indexOf("b")).toBe(9);
  });

  it("takes up the wait that a job brings along", () => {
    const stream = many("a", 100, 0, "a", 1_000);
    const drive = run({ found: "a", arrivals: [...stream, job("b", 10_500, "b", { arrivedAt: -50_000 })] });
    expect(drive.grantedAt.get("b")).toBe(12_000);
  });
});

describe("R3, a turn earns its load", () => {
  it("serves what waited when the model became ready, although another is overdue", () => {
    const rules = rulesFor({ a: 1, b: 1 }, { maxWait: 500 });
    const overdue = many("b", 3, 10, "b", 10);
    const arrivals = [job("a", 0, "a"), ...overdue, job("a2", 900, "a"), job("a3", 901, "a")];
    expect(run({ rules, arrivals, loadMs: 5_000 }).granted).toEqual(["a", "a2", "a3", "b0", "b1", "b2"]);
  });

  it("closes after maxWait or its load time with one grant, when the quota takes too long", () => {
    const rules = rulesFor({ a: 1, b: 1 }, { maxWait: 2_000 });
    const arrivals = [...many("a", 10, 0, "a", 1_000), job("b", 100, "b")];
    const drive = run({ rules, arrivals, loadMs: 3_000 });
    // Ready at 3 s with a quota of ten; may close at 6 s, when the fourth of a has been granted.
    expect(drive.granted.slice(0, 5)).toEqual(["a0", "a1", "a2", "b", "a3"]);
  });

  it("does not close for an overdue newcomer before it has served anybody", () => {
    const rules = rulesFor({ a: 1, b: 1 }, { gather: 20 });
    const arrivals = [job("b", 200_000, "b", { arrivedAt: 100_000 }), job("a", 200_005, "a")];
    expect(run({ rules, found: "a", arrivals }).granted).toEqual(["a", "b"]);
  });

  it("never closes before minResident", () => {
    const rules = rulesFor({ a: 1, b: 1 }, { minResident: 30_000, maxWait: 100 });
    const drive = run({ rules, arrivals: [...many("a", 60, 0, "a", 1_000), job("b", 1, "b")] });
    expect(drive.granted.indexOf("b")).toBe(30);
  });
});

describe("R4, closing", () => {
  it("leaves free slots empty and waits for the running answers", () => {
    const rules = rulesFor({ a: 2, b: 1 }, { maxWait: 1_000 });
    const arrivals = [
      job("long", 0, "a", { answerMs: 5_000 }),
      job("b", 10, "b"),
      job("early", 900, "a"),
      job("late", 2_000, "a"),
    ];
    const drive = run({ rules, found: "a", arrivals });
    expect(drive.granted).toEqual(["long", "early", "b", "late"]);
    expect(drive.grantedAt.get("b")).toBe(6_000);
  });

  it("reopens when nothing is due any more", () => {
    const rules = rulesFor({ a: 2, b: 1 }, { maxWait: 1_000 });
    const arrivals = [
      job("long", 0, "a", { answerMs: 5_000 }),
      job("b", 10, "b", { leaveAt: 2_500 }),
      job("late", 2_000, "a"),
    ];
    const drive = run({ rules, found: "a", arrivals });
    expect(drive.grantedAt.get("late")).toBe(2_500);
    expect(drive.swaps).toEqual([]);
  });

  it("loads the due model that has waited longest", () => {
    const rules = rulesFor({ a: 1, b: 1, c: 1 }, { maxWait: 1_000 });
    const arrivals = [...many("a", 5, 0, "a", 2_000), job("c", 10, "c"), job("b", 20, "b")];
    expect(run({ rules, found: "a", arrivals }).swaps).toEqual(["c", "b", "a"]);
  });
});

describe("R5, idle", () => {
  it("swaps at once to the model that has waited longest", () => {
    const drive = run({ found: "a", arrivals: [job("a", 0, "a"), job("c", 10, "c"), job("b", 20, "b")] });
    expect(drive.swaps).toEqual(["c", "b"]);
    expect(drive.grantedAt.get("c")).toBe(1_100);
  });

  it("waits for minResident, and is woken for it", () => {
    const rules = rulesFor({ a: 1, b: 1 }, { minResident: 10_000 });
    const drive = run({ rules, found: "a", arrivals: [job("b", 2_000, "b")] });
    expect(drive.grantedAt.get("b")).toBe(11_000);
  });

  it("keeps an idle model a moment for the rest of a burst", () => {
    const rules = rulesFor({ a: 1, b: 1 }, { gather: 20 });
    const drive = run({ rules, found: "a", arrivals: [job("b", 0, "b"), job("a", 5, "a")] });
    expect(drive.granted).toEqual(["a", "b"]);
    expect(drive.grantedAt.get("b")).toBe(5 + 100 + 20 + 1_000);
  });
});
