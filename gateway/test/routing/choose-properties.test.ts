import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { choose } from "../../src/routing/choose.ts";
import { explain } from "../../src/routing/explain.ts";
import { standingOf } from "../../src/routing/standing.ts";
import { type AnyFarm, anyFarm } from "./arbitrary-farm.ts";

const anyTried = fc.uniqueArray(fc.nat(7), { maxLength: 6 }).map((all) => new Set(all.map((i) => `w${i}`)));

/** The best rank that an untried worker has, in the plainest words. */
function bestRank({ context, request }: AnyFarm, tried: ReadonlySet<string>): number {
  const left = context.catalog.workers.filter(({ config }) => !tried.has(config.name));
  const ranks = left.map((entry) => standingOf(entry, request, context)).filter(({ set }) => set !== null);
  return Math.min(...ranks.map(({ rank }) => rank));
}

describe("whatever the farm", () => {
  it("a tried worker, one that is out or one at its cap is never chosen, nor a lower set while a higher one is there", () => {
    fc.assert(
      fc.property(anyFarm, anyTried, (any, tried) => {
        const { context, request } = any;
        const decision = choose(request, context, tried);
        const best = bestRank(any, tried);
        const problems: string[] = [];
        if (decision.kind === "send") {
          const { worker, set } = decision.choice;
          const { name, maxConcurrent } = worker.config;
          const standing = standingOf(worker, request, context);
          if (tried.has(name)) problems.push("tried before");
          if (standing.set === null || standing.set !== set)
            problems.push(`stands as ${standing.set}, chosen as ${set}`);
          if (standing.rank !== best) problems.push("from a lower set");
          if (maxConcurrent > 0 && context.inflight.worker(name) >= maxConcurrent) problems.push("over its cap");
        } else if (decision.kind === "wait") {
          for (const entry of context.catalog.workers) {
            const { name, maxConcurrent } = entry.config;
            const inBest = !tried.has(name) && standingOf(entry, request, context).rank === best;
            const free = maxConcurrent === 0 || context.inflight.worker(name) < maxConcurrent;
            if (inBest && free) problems.push(`waits though ${name} is free`);
          }
        } else if (Number.isFinite(best)) {
          problems.push("nothing, though a worker stands");
        }
        expect(problems).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("the worker that explain puts first is the one that gets the request, and the rest follows the same way", () => {
    fc.assert(
      fc.property(anyFarm, ({ context, request }) => {
        const { ranked, out, decision } = explain(request, context);
        const tried = new Set<string>();
        const order: (string | null)[] = [];
        for (const { worker } of ranked) {
          const next = choose(request, context, tried);
          order.push(next.kind === "send" ? next.choice.worker.config.name : null);
          tried.add(worker);
        }
        const told = ranked.map(({ worker, reason }) => (reason.includes("would wait") ? null : worker));
        expect(order).toEqual(told);
        expect(choose(request, context, tried).kind).toBe("none");
        expect(decision.kind === "send" ? decision.worker : null).toBe(told[0] ?? null);
        const names = [...ranked, ...out].map(({ worker }) => worker);
        expect(names.toSorted()).toEqual(context.catalog.workers.map(({ config }) => config.name));
      }),
      { numRuns: 500 },
    );
  });

  it("the order in which workers are configured decides nothing but a full tie", () => {
    fc.assert(
      fc.property(anyFarm, ({ context, request }) => {
        const reversed = { ...context, catalog: { ...context.catalog, workers: context.catalog.workers.toReversed() } };
        const one = choose(request, context, new Set());
        const other = choose(request, reversed, new Set());
        const place = (decision: typeof one) => {
          if (decision.kind !== "send") return decision.kind;
          const { worker, set, warmth, reason } = decision.choice;
          // A worker that holds the prefix, but has no free slot, is one like any other.
          return [set, warmth, worker.refused, reason.includes("it answered this conversation before")];
        };
        expect(place(other)).toEqual(place(one));
      }),
    );
  });
});
