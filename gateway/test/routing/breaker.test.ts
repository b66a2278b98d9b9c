import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  afterAnswer,
  afterFault,
  afterSilence,
  type Breaker,
  isTrialDue,
  mayAsk,
  trialWords,
} from "../../src/routing/breaker.ts";
import { choose } from "../../src/routing/choose.ts";
import { explain } from "../../src/routing/explain.ts";
import { standingOf } from "../../src/routing/standing.ts";
import { ask, askFor, busy, farm, model, sent, worker, type WorkerSketch } from "./farm.ts";

const SECOND = 1_000;

/** What a breaker becomes of faults (f), stalls (s), silences (q), heads (h) and whole answers (w), one a second; of a request of that second. */
function after(events: string, last: Breaker | null = null, from = 0): Breaker | null {
  let breaker = last;
  events.split("").forEach((event, i) => {
    const now = (from + i) * SECOND;
    if (event === "f" || event === "s") {
      const fault = { model: "m", sentAt: now, stalled: event === "s", broke: false, reason: "answered 500" };
      breaker = afterFault(breaker ?? undefined, fault, now, null);
    } else if (event === "q") {
      const silence = { model: "m", sentAt: now, stalled: false, reason: "no first byte" };
      breaker = afterSilence(breaker ?? undefined, silence, now);
    } else breaker = breaker === null ? null : afterAnswer(breaker, event === "w");
  });
  return breaker;
}

const FAULTS: ReadonlySet<string> = new Set(["fault", "stall", "broke", "silence"]);

/** One step of a breaker; `ask`: a request is sent, and is the trial if one is due. */
function stepped(last: Breaker | undefined, event: string, sentAt: number, now: number): Breaker | undefined {
  const fault = { model: "m", sentAt, stalled: event === "stall", broke: event === "broke", reason: "r" };
  switch (event) {
    case "fault":
    case "stall":
    case "broke":
      return afterFault(last, fault, now, null);
    case "silence":
      return afterSilence(last, { model: "m", sentAt, stalled: false, reason: "r" }, now);
    case "head":
    case "whole":
      return last && (afterAnswer(last, event === "whole") ?? undefined);
    case "ask":
      return last && isTrialDue(last, now) ? { ...last, trialAt: now } : last;
    default:
      return last;
  }
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
    ["q", true],
    ["qh", false],
    ["qw", false],
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

  it("lets one request at a time be the trial, once it is due, whatever else is still under way there", () => {
    const open = after("fff") as Breaker;
    const trial = { ...open, trialAt: 32_000 };
    expect([mayAsk(open, 31_999), mayAsk(open, 32_000), mayAsk(trial, 32_001)]).toEqual([false, true, false]);
    expect(mayAsk(after("ff") as Breaker, 0)).toBe(true);
    expect([trialWords(open, 20_000), trialWords(open, 32_000), trialWords(trial, 33_000)]).toEqual([
      "next trial in 12 s",
      "its trial is due",
      "its trial is under way",
    ]);
  });

  it("counts one crash once, however many connections it breaks", () => {
    const crash = (last: Breaker | null, sentAt: number, now: number) =>
      afterFault(last ?? undefined, { model: "m", sentAt, stalled: false, broke: true, reason: "broke" }, now, null);
    let breaker: Breaker | null = null;
    for (let i = 0; i < 60; i += 1) breaker = crash(breaker, i, 1_000 + i);
    expect(breaker).toMatchObject({ faults: 1, openUntil: null });
    expect(crash(crash(breaker, 2_000, 2_100), 2_200, 2_300)).toMatchObject({ faults: 3, openUntil: 32_300 });
  });

  it("is opened by a silence at once, and for twice as long by that of its trial", () => {
    const silent = after("q");
    expect(silent).toMatchObject({ openUntil: 30_000, told: "no first byte" });
    expect(after("q", silent, 29)).toBe(silent);
    expect(after("q", silent, 31)).toMatchObject({ openUntil: 91_000, trialAt: null });
  });

  it("whatever happens, is open, closed or under trial as the rules say, with one trial at most", () => {
    const step = fc.record({
      event: fc.constantFrom("fault", "stall", "broke", "silence", "head", "whole", "ask", "ask", "wait"),
      ago: fc.constantFrom(0, 0, 1, 20_000, 400_000),
      wait: fc.constantFrom(1, 100, 5_000, 31_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let breaker: Breaker | undefined;
        let now = 1_000_000;
        const problems: string[] = [];
        for (const { event, ago, wait } of steps) {
          now += wait;
          const before: Breaker | undefined = breaker;
          const sentAt = now - ago;
          breaker = stepped(before, event, sentAt, now);
          if ((event === "head" || event === "whole") && breaker?.openUntil != null) problems.push("open after a byte");
          const isOpen = before?.openUntil != null;
          const isLate = isOpen && sentAt < (before.openUntil ?? 0);
          if (isLate && FAULTS.has(event) && breaker !== before) problems.push("news of before its trial was due");
          if (breaker === undefined) continue;
          const { openUntil, trialAt, pauseMs } = breaker;
          if (openUntil === null && trialAt !== null) problems.push("closed, with a trial");
          if (openUntil !== null && openUntil - now > Math.min(pauseMs, 300_000)) problems.push("open for too long");
          if (openUntil !== null && trialAt !== null && trialAt < openUntil) problems.push("a trial too early");
          const wasUnderTrial = before?.trialAt != null && isTrialDue(before, now);
          if (wasUnderTrial) problems.push("a second trial is due");
        }
        expect(problems).toEqual([]);
      }),
    );
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
      reason:
        "3 requests in a row failed there (no answer in time), next trial in 1 s: a last resort; the only such worker with room",
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

  it("is not waited for where its trial is due and what hangs there fills it: the others are asked", () => {
    const due = lists("due", "warm", { open: { m: 1_000 }, maxConcurrent: 2 });
    const context = farm([due, lists("cold", "cold")]);
    const name = () => sent(choose(ask("m"), context, new Set())).worker.config.name;
    busy(context, "due", 1);
    expect(name()).toBe("due");
    busy(context, "due", 1);
    expect(name()).toBe("cold");
    const alone = farm([due]);
    busy(alone, "due", 2);
    expect(choose(ask("m"), alone, new Set())).toMatchObject({ kind: "wait", set: "breaker-open" });
  });

  it("gets one request once its trial is due, though others hang there, and no second trial beside it", () => {
    const due = lists("due", "warm", { open: { m: 1_000 } });
    const context = farm([due, lists("cold", "cold")]);
    const name = () => sent(choose(ask("m"), context, new Set())).worker.config.name;
    busy(context, "due", 9);
    expect(name()).toBe("due");
    const free = farm([lists("due", "warm", { open: { m: 1_000 } }), lists("free", "warm")]);
    busy(free, "due", 9);
    const first = sent(choose(ask("m"), free, new Set()));
    expect([first.worker.config.name, first.reason]).toEqual(["due", "has it loaded; its trial is due"]);
    const breaker = due.breakers.get("m") as Breaker;
    (due.breakers as Map<string, Breaker>).set("m", { ...breaker, trialAt: 1_000 });
    expect(name()).toBe("cold");
  });
});
