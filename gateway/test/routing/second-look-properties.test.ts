import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { choose } from "../../src/routing/choose.ts";
import { explain } from "../../src/routing/explain.ts";
import { standingOf } from "../../src/routing/standing.ts";
import type { Decision, RoutingSet } from "../../src/routing/types.ts";
import type { AnyFarm } from "./arbitrary-farm.ts";
import { anyWeighingFarm } from "./arbitrary-weighing-farm.ts";
import { busy } from "./farm.ts";

const NONE = new Set<string>();
const RUNS = { numRuns: 500 };

/** The decision by sets alone. */
function plainly({ context, request }: AnyFarm, tried: ReadonlySet<string> = NONE) {
  const { pricing: _, ...off } = context;
  return choose(request, off, tried);
}

function weighedBy({ context, request }: AnyFarm) {
  const decision = choose(request, context, NONE);
  if (decision.kind === "none") return null;
  return (decision.kind === "send" ? decision.choice.weighed : decision.weighed) ?? null;
}

function setOf(decision: Decision): RoutingSet | null {
  if (decision.kind === "none") return null;
  return decision.kind === "send" ? decision.choice.set : decision.set;
}

describe("whatever the farm, where waiting is weighed", () => {
  it("nobody is chosen who is out, at its cap or below cold, and a load gains enough or is not made", () => {
    let swaps = 0;
    fc.assert(
      fc.property(anyWeighingFarm(), (any) => {
        const { context, request } = any;
        const problems: string[] = [];
        const say = (problem: string, is: boolean) => is && problems.push(problem);
        const decision = choose(request, context, NONE);
        const before = plainly(any);
        const best = setOf(before);
        const weighed = weighedBy(any);
        const gain = weighed === null ? 0 : weighed.waitMs - weighed.swapMs;
        const enough = gain >= 1_000 && gain >= 0.2 * (weighed?.waitMs ?? 0);
        say("a load against the margin", weighed !== null && (weighed.decision === "swap") !== enough);
        say("weighed in a set below loading", weighed !== null && best !== "leading" && best !== "loading");
        say("waits, though one has room", decision.kind === "wait" && before.kind !== "wait");
        if (decision.kind === "send" && weighed !== null) {
          const { worker, set } = decision.choice;
          const { name, maxConcurrent } = worker.config;
          const allowed = weighed.decision === "wait" ? [best] : best === "leading" ? ["loading", "cold"] : ["cold"];
          say(`from the set ${set}`, !allowed.includes(set));
          say("stands elsewhere", standingOf(worker, request, context).set !== set);
          say("another than was weighed", name !== weighed.worker);
          say("over its cap", maxConcurrent > 0 && context.inflight.worker(name) >= maxConcurrent);
          if (weighed.decision === "swap") swaps += 1;
        }
        expect(problems).toEqual([]);
        expect(weighed === null ? decision : null).toEqual(weighed === null ? before : null);
      }),
      { numRuns: 800 },
    );
    expect(swaps).toBeGreaterThan(20);
  });

  it("nobody loads it while one of the best set has a free slot and room", () => {
    fc.assert(
      fc.property(anyWeighingFarm(), (any) => {
        const { context, request } = any;
        if (weighedBy(any) === null) return;
        const before = plainly(any);
        const best = setOf(before);
        for (const entry of context.catalog.workers) {
          const { name, maxConcurrent, weight } = entry.config;
          if (standingOf(entry, request, context).set !== best) continue;
          if (maxConcurrent > 0 && context.inflight.worker(name) >= maxConcurrent) continue;
          if (before.kind === "send" && entry.refused && !before.choice.worker.refused) continue;
          const model = entry.byKey.get("m");
          const busyThere = model?.slots ? context.inflight.pair(name, "m") : context.inflight.worker(name);
          const slots = model?.slots ?? weight ?? Number.POSITIVE_INFINITY;
          expect(busyThere + (model?.queued ?? 0), `${name} has a free slot`).toBeGreaterThanOrEqual(slots);
        }
      }),
      RUNS,
    );
  });

  it.each([
    ["loads", anyWeighingFarm("loadMs")],
    ["waits", anyWeighingFarm("serviceMs", "predictedWaitMs")],
  ])("nothing changes where no times of %s are known", (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (any) => {
        expect(choose(any.request, any.context, NONE)).toEqual(plainly(any));
      }),
      RUNS,
    );
  });

  it("nothing changes for a request that was tried somewhere", () => {
    fc.assert(
      fc.property(anyWeighingFarm(), fc.nat(7), (any, i) => {
        const tried = new Set([`w${i}`]);
        expect(choose(any.request, any.context, tried)).toEqual(plainly(any, tried));
      }),
      RUNS,
    );
  });

  it("more requests at every worker of the best set never turn a swap into a wait", () => {
    fc.assert(
      fc.property(anyWeighingFarm(), fc.integer({ min: 1, max: 5 }), (any, more) => {
        const { context, request } = any;
        // Caps aside: who reaches his is no longer sent to, so that others are compared.
        fc.pre(context.catalog.workers.every(({ config }) => config.maxConcurrent === 0));
        if (weighedBy(any)?.decision !== "swap") return;
        const best = setOf(plainly(any));
        const waitedMs = weighedBy(any)?.waitMs ?? 0;
        const at = context.catalog.workers.filter((entry) => standingOf(entry, request, context).set === best);
        for (const { config } of at) busy(context, config.name, more);
        const after = weighedBy(any);
        // A forecast that cannot be priced any more is no wait either.
        if (after === null) return;
        expect([after.decision, after.waitMs >= waitedMs]).toEqual(["swap", true]);
      }),
      { numRuns: 800 },
    );
  });

  it("explain tells what choose decides, with the same figures", () => {
    fc.assert(
      fc.property(anyWeighingFarm(), (any) => {
        const { decision, weighed } = explain(any.request, any.context);
        const chosen = choose(any.request, any.context, NONE);
        expect(weighed).toEqual(weighedBy(any));
        expect(decision).toMatchObject(
          chosen.kind === "send" ? { worker: chosen.choice.worker.config.name } : { kind: chosen.kind },
        );
      }),
    );
  });
});
