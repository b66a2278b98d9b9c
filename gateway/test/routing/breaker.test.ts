import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { afterAnswer, afterFault, type Breaker, mayAsk } from "../../src/routing/breaker.ts";
import { choose } from "../../src/routing/choose.ts";
import { explain } from "../../src/routing/explain.ts";
import { standingOf } from "../../src/routing/standing.ts";
import { ask, askFor, busy, farm, model, sent, worker, type WorkerSketch } from "./farm.ts";

const SECOND = 1_000;

/** What a breaker becomes of faults (f), stalls (s), heads (h) and whole answers (w), one a second; of a request of that second. */
function after(events: string, last: Breaker | null = null, from = 0): Breaker | null {
  let breaker = last;
  events.split("").forEach((event, i) => {
    const now = (from + i) * SECOND;
    if (event === "f" || event === "s") {
      const fault = { model: "m", sentAt: now, stalled: event === "s", reason: "answered 500" };
      breaker = afterFault(breaker ?? undefined, fault, now);
    } else breaker = breaker === null ? null : afterAnswer(breaker, event === "w");
  });
  return breaker;
}

describe("a breaker", () => {
  it.each([
    ["ff", false],
    ["fff", true],
    ["ffwf", false],
    ["ffhf", false],
    ["ffwfff", true],
    // Each answer begins, and none ends.
    ["hshshs", true],
    ["hshwhshs", false],
    ["fffw", false],
    ["fffh", false],
  ])("after %s is open: %s", (events, open) => {
    expect(after(events)?.openUntil != null).toBe(open);
  });

  it("stays open for thirty seconds, and twice as long after each trial that fails, up to five minutes", () => {
    let breaker = after("fff");
    const pauses: number[] = [];
    for (let i = 0; i < 6 && breaker !== null && breaker.openUntil !== null; i += 1) {
      pauses.push(breaker.pauseMs / SECOND);
      breaker = after("f", breaker, breaker.openUntil / SECOND);
    }
    expect(pauses).toEqual([30, 60, 120, 240, 300, 300]);
  });

  it("learns nothing from requests that were sent before a trial was due", () => {
    const open = after("fff");
    expect(after("fffff", open, 3)).toBe(open);
  });

  it("closes with the head of an answer, but opens again at once where that answer stops too", () => {
    const open = after("sss");
    const tried = after("h", open, 40);
    expect(tried?.openUntil).toBeNull();
    expect(after("s", tried, 41)).toMatchObject({ openUntil: 101 * SECOND, pauseMs: 60 * SECOND });
    expect(after("w", tried, 41)).toBeNull();
  });

  it("lets one request at a time be the trial, once it is due", () => {
    const open = after("fff") as Breaker;
    const at = (now: number, inflight: number) => mayAsk(open, inflight, now);
    expect([at(31_999, 0), at(32_000, 0), at(32_000, 1)]).toEqual([false, true, false]);
    expect(mayAsk(after("ff") as Breaker, 9, 0)).toBe(true);
  });

  it("whatever happens, opens after three faults in a row alone, for five minutes at most, and closes with a whole answer", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("f", "s", "h", "w"), { maxLength: 60 }), (events) => {
        let breaker: Breaker | null = null;
        let sinceWhole = 0;
        const problems: string[] = [];
        events.forEach((event, i) => {
          const now = i * 20;
          breaker = after(event, breaker, now);
          sinceWhole = event === "w" ? 0 : sinceWhole + (event === "h" ? 0 : 1);
          if (breaker === null) return;
          const { openUntil } = breaker;
          if (openUntil !== null && sinceWhole < 3) problems.push(`open after ${sinceWhole}`);
          if (openUntil !== null && openUntil - now * SECOND > 300 * SECOND) problems.push("open too long");
          if (event === "w") problems.push("a whole answer leaves something");
        });
        expect(problems).toEqual([]);
      }),
    );
  });
});

describe("a worker whose breaker for the model is open", () => {
  const lists = (name: string, state: "warm" | "cold" | "unknown" | "loading" | "failed", more: WorkerSketch = {}) =>
    worker(name, { models: [model("m", state), model("n", state)], ...more });
  const open = { open: { m: 2_000 } };
  const chosen = (...workers: ReturnType<typeof lists>[]) => sent(choose(ask("m"), farm(workers), new Set()));

  it("stands after every other worker that has the model, even those that must load it or failed to, and before the rest", () => {
    const failed = lists("failed", "failed");
    const { ranked } = explain(
      ask("m"),
      farm([lists("open", "warm", open), worker("unlisted"), failed, lists("cold", "cold")]),
    );
    expect(ranked.map(({ worker: name }) => name)).toEqual(["cold", "failed", "open", "unlisted"]);
    expect(ranked[2]).toMatchObject({
      set: "breaker-open",
      warmth: "warm",
      reason: "3 requests in a row failed there (no answer in time): a last resort; the only such worker with room",
    });
  });

  it("is asked all the same before a request is refused", () => {
    const choice = chosen(lists("a", "cold", open), lists("b", "warm", open));
    expect(choice).toMatchObject({ set: "breaker-open", worker: { config: { name: "b" } } });
  });

  it("serves its other models as before, and its aliases are the same model", () => {
    const a = lists("a", "warm", open);
    expect(sent(choose(ask("n"), farm([a]), new Set())).set).toBe("leading");
    const named = worker("a", { ...open, models: [model("M:latest", "warm", { aliases: ["fast"] })] });
    const context = farm([named]);
    expect(sent(choose(askFor("fast", context), context, new Set())).set).toBe("breaker-open");
  });

  it.each([
    ["is out", { health: "unhealthy" }],
    ["is draining", { draining: true }],
    ["does not serve this API", { models: [model("m", "warm", { apis: ["embeddings"] })] }],
  ] as const)("is no last resort where it %s", (_, more) => {
    expect(standingOf(lists("a", "warm", { ...open, ...more }), ask("m"), farm([])).set).toBeNull();
  });

  it("gets one request once its trial is due, and no second one beside it", () => {
    const due = lists("due", "warm", { open: { m: 1_000 } });
    const context = farm([due, lists("cold", "cold")]);
    const name = () => sent(choose(ask("m"), context, new Set())).worker.config.name;
    expect(name()).toBe("due");
    busy(context, "due", 1);
    expect(name()).toBe("cold");
  });
});
