import { describe, expect, it } from "vitest";
import { type WorthView, worthwhile } from "../../../src/placement/live/worthwhile.ts";
import type { PoolAction } from "../../../src/placement/pools/types.ts";

const FIRST: Record<string, number> = { fast: 1_000, twin: 1_100, slow: 4_000, late: 9_000 };

function weighed(actions: readonly PoolAction[], copies: readonly string[], more: Partial<WorthView> = {}) {
  const replicas = copies.map((worker) => {
    const state = "active" as const;
    return { id: `${worker}\nm`, model: "m", name: "m", worker, pool: "stable" as const, bins: [worker], state };
  });
  const reach = (worker: string) => ({ firstMs: FIRST[worker] ?? null, why: worker === "late" ? "is too slow" : null });
  const no = { whyNotAgain: () => null, isTrying: () => false, isLate: () => false };
  const worth = worthwhile(actions, { replicas, reach, ...no, ...more });
  return {
    does: worth.actions.map((action) => {
      if (action.kind === "release") return `release ${action.replica.split("\n")[0]}`;
      return `${action.kind} ${(action.kind === "activate" ? action.bins : action.to).join()}`;
    }),
    not: worth.turnedDown.map((next) => (next.order === "none" ? next.why : "")),
  };
}

const activate = (worker: string, model = "m"): PoolAction => {
  return { kind: "activate", model, pool: "elastic", bins: [worker], reason: "" };
};
const move = (from: string, to: string): PoolAction => ({ kind: "move", replica: `${from}\nm`, to: [to], reason: "" });
const release = (worker: string): PoolAction => ({ kind: "release", replica: `${worker}\nm`, reason: "" });

describe("a further copy", () => {
  it("is worth it where one may help, or nobody knows, and not where it is too late", () => {
    expect(weighed([activate("slow")], ["fast"])).toEqual({ does: ["activate slow"], not: [] });
    expect(weighed([activate("unknown")], ["fast"])).toEqual({ does: ["activate unknown"], not: [] });
    expect(weighed([activate("late")], ["fast"])).toEqual({ does: [], not: ["late is too slow"] });
    expect(weighed([activate("late")], [])).toEqual({ does: ["activate late"], not: [] });
  });

  it("is not while the last ones are regretted", () => {
    const again = { whyNotAgain: () => "gets none for 10 min" };
    expect(weighed([activate("slow")], ["fast"], again).not).toEqual(["slow gets none for 10 min"]);
    expect(weighed([activate("slow")], [], again).does).toEqual(["activate slow"]);
  });
});

describe("a move", () => {
  it("goes only to a worker that is known to be as fast", () => {
    expect(weighed([move("fast", "twin")], ["fast"]).does).toEqual(["move twin"]);
    expect(weighed([move("fast", "slow")], ["fast"]).not).toEqual(["slow is slower with it than fast"]);
    expect(weighed([move("fast", "unknown")], ["fast"]).not).toEqual(["unknown may be slower with it than fast"]);
  });

  it("goes anywhere else from where the model is late", () => {
    expect(weighed([move("late", "unknown")], ["late"]).does).toEqual(["move unknown"]);
  });
});

describe("a release", () => {
  it("is of the slowest copy, unless a load wants the room of the one that was meant", () => {
    expect(weighed([release("fast")], ["fast", "slow"]).does).toEqual(["release slow"]);
    expect(weighed([release("fast")], ["fast", "twin"]).does).toEqual(["release fast"]);
    const forAnother = [release("fast"), activate("fast", "other")];
    expect(weighed(forAnother, ["fast", "slow"]).does).toEqual(["release fast", "activate fast"]);
  });

  it("lets the slowest go first where all are to go", () => {
    expect(weighed([release("fast"), release("slow")], ["fast", "slow"]).does).toEqual([
      "release slow",
      "release fast",
    ]);
  });

  it("waits while a copy is tried, and while the model is late and the copy may help", () => {
    const kept = weighed([release("slow")], ["fast", "slow"], { isTrying: () => true });
    expect(kept.not).toEqual(["slow keeps it while a further copy of it is being tried"]);
    const late = { isLate: () => true };
    expect(weighed([release("slow")], ["fast", "slow"], late).does).toEqual([]);
    expect(weighed([release("late")], ["fast", "late"], late).does).toEqual(["release late"]);
    expect(weighed([release("slow"), activate("slow", "other")], ["fast", "slow"], late).does).toHaveLength(2);
  });

  it("for a load that is turned down itself is as any other", () => {
    const late = { isLate: () => true };
    const actions = [release("slow"), move("fast", "slow")];
    expect(weighed(actions, ["fast", "slow"], late).does).toEqual([]);
  });
});
