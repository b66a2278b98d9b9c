import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { choose } from "../../src/routing/choose.ts";
import { type Claimable, claimable, claimedChoice, onlyAt } from "../../src/routing/claimable.ts";
import type { RoutingContext } from "../../src/routing/types.ts";
import { anyFarm } from "./arbitrary-farm.ts";
import { ask, busy, farm, model, sent, worker } from "./farm.ts";

const NONE: ReadonlySet<string> = new Set();

/** The place that a hub gives by these counts. */
function given({ places, take }: Claimable, { inflight }: Pick<RoutingContext, "inflight">): string | null {
  const free = places.filter(({ worker, cap }) => cap === 0 || inflight.worker(worker) < cap);
  if (take === "first") return free[0]?.worker ?? null;
  const load = ({ worker, capacity }: (typeof free)[number]) => inflight.worker(worker) / capacity;
  return free.toSorted((a, b) => load(a) - load(b))[0]?.worker ?? null;
}

function claimed(context: ReturnType<typeof farm>, request = ask("m"), tried = NONE) {
  const { choice } = { choice: sent(choose(request, context, tried)) };
  return { choice, asked: claimable(choice, request, context, tried) };
}

const warm = (name: string, more = {}) => worker(name, { models: [model("m", "warm")], ...more });

describe("the places that are claimed for a request", () => {
  it("lead by equal counts to the worker that one gateway alone would choose, in any farm", () => {
    fc.assert(
      fc.property(anyFarm, fc.nat(2), ({ context, request }, skip) => {
        const tried = new Set<string>();
        for (let i = 0; i < skip; i += 1) {
          const before = choose(request, context, tried);
          if (before.kind === "send") tried.add(before.choice.worker.config.name);
        }
        const decision = choose(request, context, tried);
        fc.pre(decision.kind === "send");
        if (decision.kind !== "send") return;
        const asked = claimable(decision.choice, request, context, tried);
        expect(given(asked, context)).toBe(decision.choice.worker.config.name);
        for (const { worker, capacity } of asked.places) {
          expect(tried.has(worker)).toBe(false);
          expect(capacity).toBeGreaterThan(0);
          const set = claimedChoice(worker, asked, decision.choice, request, context)?.set;
          expect(set).toBe(decision.choice.set);
        }
      }),
    );
  });

  it("are all of the best set that are equals but for their load, also one that was full a moment ago", () => {
    const context = farm([
      warm("a", { maxConcurrent: 2, weight: 2 }),
      warm("b", { maxConcurrent: 1 }),
      warm("refused", { refused: true }),
      worker("cold", { models: [model("m", "cold")] }),
    ]);
    busy(context, "b", 1);
    expect(claimed(context).asked).toEqual({
      take: "least-loaded",
      places: [
        { worker: "a", cap: 2, capacity: 2 },
        { worker: "b", cap: 1, capacity: 1 },
      ],
    });
  });

  it("are asked for in turn where a conversation has its worker, or a trial is due, or turns decide", () => {
    const two = [warm("a"), warm("b")];
    const prefix = claimed(farm(two), ask("m", { prefixWorker: "b" })).asked;
    expect([prefix.take, prefix.places.map((place) => place.worker)]).toEqual(["first", ["b", "a"]]);
    const context = farm(two, "round-robin");
    context.turns.picked("a", "m", 1);
    const turn = claimed(context).asked;
    expect([turn.take, turn.places.map((place) => place.worker)]).toEqual(["first", ["b", "a"]]);
  });

  it("become a choice that says so, and none where the worker is out by now", () => {
    const context = farm([warm("a"), warm("b")]);
    const { choice, asked } = claimed(context);
    const other = claimedChoice("b", asked, choice, ask("m"), context);
    expect(other).toMatchObject({ worker: { config: { name: "b" } }, set: "leading", warmth: "warm" });
    expect(other?.reason).toMatch(/^has it loaded; least loaded of 2 .*, claimed among all gateways$/);
    const drained = farm([warm("a"), warm("b", { draining: true })]);
    expect(claimedChoice("b", asked, choice, ask("m"), drained)).toBeNull();
    expect(claimedChoice("gone", asked, choice, ask("m"), drained)).toBeNull();
    expect(onlyAt(choice)).toEqual({ take: "first", places: [{ worker: "a", cap: 0, capacity: 1 }] });
  });
});

describe("a cap, while the other gateways cannot be heard", () => {
  it.each([
    [8, 3, 2],
    [2, 3, 1],
    [4, 1, 4],
  ])("of %i among %i lets %i through, by own requests alone", (cap, members, most) => {
    const context = farm([warm("a", { maxConcurrent: cap })]);
    busy(context, "a", 100);
    const at = (own: number) => choose(ask("m"), { ...context, share: { members, own: () => own } }, NONE).kind;
    expect([at(most - 1), at(most)]).toEqual(["send", "wait"]);
  });
});
