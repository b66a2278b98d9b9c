import { describe, expect, it } from "vitest";
import type { WorkerEntry } from "../../src/catalog/types.ts";
import { choose } from "../../src/routing/choose.ts";
import type { RoutingRequest } from "../../src/routing/types.ts";
import { ask, askFor, busy, type Farm, farm, model, sent, type WorkerSketch, worker } from "./farm.ts";

const NONE = new Set<string>();

function pick(context: Farm, request: RoutingRequest = ask("m"), tried: ReadonlySet<string> = NONE): string {
  const decision = choose(request, context, tried);
  return decision.kind === "send" ? decision.choice.worker.config.name : decision.kind;
}

const warm = (name: string, sketch: WorkerSketch = {}) => worker(name, { models: [model("m", "warm")], ...sketch });
const cold = (name: string, sketch: WorkerSketch = {}) => worker(name, { models: [model("m", "cold")], ...sketch });
const maybe = (name: string, sketch: WorkerSketch = {}) => worker(name, { models: [model("m", "unknown")], ...sketch });

describe("the sets", () => {
  const best: WorkerEntry[] = [
    warm("leading"),
    worker("loading", { models: [model("m", "loading")] }),
    cold("cold"),
    worker("failed", { models: [model("m", "failed")] }),
    worker("unlisted"),
  ];

  it("are taken best first, in whatever order the workers stand", () => {
    for (const workers of [best, [...best].reverse()]) {
      const context = farm(workers);
      const tried = new Set<string>();
      const order: string[] = [];
      for (let i = 0; i < workers.length; i += 1) {
        order.push(pick(context, ask("m"), tried));
        tried.add(order.at(-1) ?? "");
      }
      expect(order).toEqual(["leading", "loading", "cold", "failed", "unlisted"]);
      expect(pick(context, ask("m"), tried)).toBe("none");
    }
  });

  it("keep 10 requests on the one warm worker, though another is idle", () => {
    const context = farm([cold("idle"), warm("warm", { slots: 16 })]);
    for (let i = 0; i < 10; i += 1) {
      expect(pick(context)).toBe("warm");
      busy(context, "warm", 1);
    }
  });

  it("send a burst of 15 for a model that is cold on two workers to one of them", () => {
    const context = farm([cold("a"), cold("b")]);
    const chosen = new Set<string>();
    for (let i = 0; i < 15; i += 1) {
      const { worker: entry, turnWeight } = sent(choose(ask("m"), context, NONE));
      context.turns.picked(entry.config.name, "m", turnWeight);
      context.inflight.enter(entry.config.name, "m");
      chosen.add(entry.config.name);
    }
    expect(chosen.size).toBe(1);
  });

  it("let a worker with an unreachable catalogue lead beside a warm one, by load", () => {
    const context = farm([warm("warm"), worker("silent", { catalog: "unreachable" })]);
    expect(pick(context)).toBe("warm");
    busy(context, "warm", 1);
    expect(pick(context)).toBe("silent");
  });
});

describe("what is sent", () => {
  it("is the worker's own spelling, or the name as the caller meant it", () => {
    const listed = worker("a", { models: [model("llama3.2:latest", "warm", { aliases: ["code"] })] });
    const guess = worker("b", { catalog: "unreachable" });
    expect(sent(choose(ask("LLAMA3.2"), farm([listed]), NONE)).upstreamModel).toBe("llama3.2:latest");
    const context = farm([listed]);
    expect(sent(choose(askFor("code", context), context, NONE)).upstreamModel).toBe("llama3.2:latest");
    expect(sent(choose(ask("LLAMA3.2"), farm([guess]), NONE))).toMatchObject({
      upstreamModel: "LLAMA3.2",
      model: null,
    });
  });

  it("tells the set, the warmth and the reason", () => {
    const context = farm([warm("a", { weight: 2 }), warm("b")]);
    busy(context, "b", 1);
    busy(context, "a", 1);
    expect(sent(choose(ask("m"), context, NONE))).toMatchObject({
      set: "leading",
      warmth: "warm",
      reason: "has it loaded; least loaded of 2 (1 in flight, capacity 2)",
    });
  });
});

describe("least-connections", () => {
  it("compares load for capacity: the weight, else the slots of the model or the worker, else 1", () => {
    const slots = worker("model", { models: [model("m", "warm", { slots: 4 })], slots: 99 });
    const all = farm([slots, warm("worker", { slots: 8 }), warm("weight", { weight: 16, slots: 1 }), warm("plain")]);
    for (const name of ["model", "worker", "weight", "plain"]) busy(all, name, 1);
    const order: string[] = [];
    while (order.length < 4) order.push(pick(all, ask("m"), new Set(order)));
    expect(order).toEqual(["weight", "worker", "model", "plain"]);
  });

  it("fills unequal workers in proportion", () => {
    const context = farm([warm("big", { weight: 8 }), warm("small", { weight: 1 }), warm("other", { weight: 1 })]);
    const counts = new Map<string, number>();
    for (let i = 0; i < 100; i += 1) {
      const { worker: entry, turnWeight } = sent(choose(ask("m"), context, NONE));
      context.inflight.enter(entry.config.name, "m");
      context.turns.picked(entry.config.name, "m", turnWeight);
      counts.set(entry.config.name, (counts.get(entry.config.name) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).toEqual({ big: 80, small: 10, other: 10 });
  });

  it("counts the requests for other models too", () => {
    const context = farm([warm("a"), warm("b")]);
    busy(context, "a", 1, "another");
    expect(pick(context)).toBe("b");
  });

  it("prefers warm to possibly warm only at a tie", () => {
    const context = farm([maybe("maybe"), warm("warm")]);
    expect(pick(context)).toBe("warm");
    busy(context, "warm", 1);
    expect(pick(context)).toBe("maybe");
  });
});

describe("the cap", () => {
  it("passes over a full worker, and waits when the whole set is full, however free lower sets are", () => {
    const context = farm([
      warm("a", { maxConcurrent: 1 }),
      warm("b", { maxConcurrent: 2 }),
      cold("idle"),
      worker("last"),
    ]);
    busy(context, "a", 1);
    expect(pick(context)).toBe("b");
    busy(context, "b", 2);
    expect(choose(ask("m"), context, NONE)).toEqual({ kind: "wait", set: "leading" });
    expect(choose(ask("m"), context, new Set(["a"]))).toEqual({ kind: "wait", set: "leading" });
    expect(pick(context, ask("m"), new Set(["a", "b"]))).toBe("idle");
  });
});

describe("a refused connection", () => {
  it("puts a worker last in its set, but not into a lower one", () => {
    const context = farm([warm("gone", { refused: true }), warm("there"), cold("cold")]);
    busy(context, "there", 50);
    expect(pick(context)).toBe("there");
    expect(pick(context, ask("m"), new Set(["there"]))).toBe("gone");
  });

  it("counts more than the conversation's prefix", () => {
    const context = farm([warm("gone", { refused: true }), warm("there")]);
    expect(pick(context, ask("m", { prefixWorker: "gone" }))).toBe("there");
  });
});

describe("a conversation", () => {
  const follow = ask("m", { prefixWorker: "home" });

  it("stays where its prefix is, while a slot is free there", () => {
    const context = farm([warm("idle", { slots: 4 }), warm("home", { slots: 4 })]);
    busy(context, "home", 3);
    expect(sent(choose(follow, context, NONE)).reason).toBe("has it loaded; it answered this conversation before");
    busy(context, "home", 1);
    expect(pick(context, follow)).toBe("idle");
  });

  it.each([
    ["the model's slots, by its own requests", { models: [model("m", "warm", { slots: 2 })], weight: 9 }, 2],
    ["the worker's slots", { slots: 3, weight: 9 }, 3],
    ["the weight, when no slots are told", { weight: 2 }, 2],
    ["the cap", { maxConcurrent: 1, slots: 9 }, 1],
  ])("leaves when the place is full by %s", (_, sketch, slots) => {
    const context = farm([warm("idle"), warm("home", sketch)]);
    busy(context, "home", slots - 1);
    expect(pick(context, follow)).toBe("home");
    busy(context, "home", 1);
    expect(pick(context, follow)).toBe("idle");
  });

  it("counts only its own model's requests against the slots of the model", () => {
    const context = farm([warm("idle"), worker("home", { models: [model("m", "warm", { slots: 2 })] })]);
    busy(context, "home", 5, "another");
    expect(pick(context, follow)).toBe("home");
  });

  it("takes unknown slots for free ones", () => {
    const context = farm([warm("idle"), warm("home")]);
    busy(context, "home", 20);
    expect(pick(context, follow)).toBe("home");
  });

  it("never stays in a lower set, or with a worker that was tried", () => {
    const context = farm([warm("warm"), cold("home")]);
    expect(pick(context, follow)).toBe("warm");
    const equal = farm([warm("home"), warm("warm")]);
    expect(pick(equal, follow, new Set(["home"]))).toBe("warm");
  });
});
