import { describe, expect, it } from "vitest";
import { withQueues } from "../../src/lan/change-farm.ts";
import type { LanFarm } from "../../src/lan/farm.ts";
import { OUTCOME } from "../../src/lan/ledger.ts";
import { replay } from "../../src/lan/replay.ts";
import { summarize } from "../../src/lan/summary.ts";
import type { Trace } from "../../src/trace/types.ts";
import { type Ask, engineFarm, farmOf, SETTINGS, traceOf } from "./farms.ts";

/** The canonical six, while an earlier answer keeps the loaded model busy. */
const SIX = traceOf([
  { at: 0, model: "chat" },
  ...["chat", "code", "chat", "chat", "code", "code"].map((model, i) => ({ at: 100 + i, model })),
]);
const MODEL = { load: "5s", promptTokensPerSecond: 0, tokensPerSecond: 100, slots: 1 };
const ONE_BOX = farmOf([{ name: "box", models: { chat: { ...MODEL, loaded: true }, code: MODEL } }]);

function run(farm: LanFarm, trace: Trace) {
  const seen = replay(farm, trace, SETTINGS);
  return { ...seen, summary: summarize(farm, trace, seen, SETTINGS) };
}

function orderOf({ startedAt }: { startedAt: Float64Array }): string {
  const order = [...startedAt.keys()].sort((a, b) => (startedAt[a] ?? 0) - (startedAt[b] ?? 0));
  return order.filter((place) => place > 0).join(" ");
}

const outcomes = ({ ledger }: { ledger: { outcome: Uint8Array } }) => [...ledger.outcome];
const asks = (count: number, ask: Omit<Ask, "at">): Ask[] => Array.from({ length: count }, () => ({ at: 0, ...ask }));

describe("the six requests in virtual time", () => {
  it("cost one swap by the greedy queue", () => {
    const { ledger, summary } = run(ONE_BOX, SIX);
    expect(orderOf(ledger)).toBe("1 3 4 2 5 6");
    expect(summary.loads).toBe(1);
  });

  it("cost three in order of arrival", () => {
    const { ledger, summary } = run(
      withQueues(ONE_BOX, () => ({ policy: "fifo" })),
      SIX,
    );
    expect(orderOf(ledger)).toBe("1 2 3 4 5 6");
    expect(summary.loads).toBe(3);
  });

  it("take the times that loads and tokens have", () => {
    const { ledger } = run(ONE_BOX, SIX);
    // Four answers of a second, then 100 ms of gathering at most, the load and one token.
    expect(ledger.firstTokenAt[2]).toBeGreaterThanOrEqual(4_000 + 5_000 + 10);
    expect(ledger.firstTokenAt[2]).toBeLessThanOrEqual(4_000 + 100 + 5_000 + 10);
  });

  it("tell the longest wait beside what was promised", () => {
    const [worker] = run(ONE_BOX, SIX).summary.workers;
    expect(worker?.longestWaitMs).toBeGreaterThan(9_000);
    expect(worker?.ofPromise).toBeGreaterThan(0);
    expect(worker?.ofPromise).toBeLessThanOrEqual(1);
  });
});

describe("a farm of two", () => {
  const boxes = ["one", "two"].map((name) => ({
    name,
    models: { chat: { ...MODEL, loaded: name === "one" }, code: MODEL },
  }));
  const trickle = traceOf(Array.from({ length: 20 }, (_, i) => ({ at: i * 3_000, model: "chat" })));

  it("keeps a model where it is warm, and does not when what is loaded is not told", () => {
    const farm = farmOf(boxes);
    expect(run(farm, trickle).summary.workers.map(({ served }) => served)).toEqual([20, 0]);
    const blind = run({ ...farm, ignoresResidency: true }, trickle).summary;
    expect(Math.min(...blind.workers.map(({ served }) => served))).toBeGreaterThanOrEqual(8);
  });

  it("loads the second copy that is to be kept warm", () => {
    const kept = farmOf(boxes, { models: { keepWarm: { chat: 2 } } });
    const { loadsOf, summary } = run(kept, trickle);
    expect(loadsOf[1]?.get("chat")).toBe(1);
    expect(summary.workers[1]?.served).toBeGreaterThan(5);
  });
});

describe("deadlines in virtual time", () => {
  const box = farmOf([{ name: "box", models: { chat: { ...MODEL, slots: 1, loaded: true } } }]);
  const withDeadlines = (deadlines: object) =>
    farmOf([{ name: "box", models: { chat: { ...MODEL, slots: 1, loaded: true } } }], {
      scheduling: "deadline",
      deadlines,
    });
  // Answers of a second each teach how fast the box is.
  const lessons = Array.from({ length: 5 }, (_, i) => ({ at: i * 2_000, model: "chat" }));
  const crowd = (deadline: number) =>
    traceOf([...lessons, ...asks(6, { model: "chat", deadline }).map((ask) => ({ ...ask, at: 20_000 }))]);
  const afterLessons = <T>(values: Iterable<T>) => [...values].slice(lessons.length);

  it("refuse at once what cannot be made, and serve the others in time", () => {
    const trace = crowd(2_500);
    const { ledger } = run(withDeadlines({}), trace);
    const served = afterLessons(ledger.outcome).filter((one) => one === OUTCOME.served).length;
    expect(served).toBeGreaterThanOrEqual(2);
    expect(served).toBeLessThanOrEqual(3);
    const late = [...ledger.firstTokenAt].filter((at, i) => at - (trace.at[i] ?? 0) > 2_500);
    expect(late).toEqual([]);
    expect(new Set(afterLessons(ledger.outcome))).toEqual(new Set([OUTCOME.served, OUTCOME.refused]));
    // They are told before their time is over.
    const refused = afterLessons(ledger.endedAt).filter((_, i) => afterLessons(ledger.outcome)[i] === OUTCOME.refused);
    expect(Math.max(...refused)).toBeLessThan(22_500);
  });

  it("are made longer where they may be", () => {
    const { ledger } = run(withDeadlines({ relax: true }), crowd(2_500));
    expect(afterLessons(ledger.outcome)).toEqual(Array.from({ length: 6 }, () => OUTCOME.served));
  });

  it("end the wait of who is still waiting in a greedy queue", () => {
    const { ledger } = run(box, crowd(2_500));
    const late = afterLessons(ledger.outcome).filter((one) => one === OUTCOME.timedOut).length;
    expect(late).toBeGreaterThanOrEqual(3);
    const byDefault = farmOf([{ name: "box", models: { chat: MODEL } }], { deadlines: { firstByte: "2s" } });
    expect(run(byDefault, crowd(0)).summary.timedOut).toBeGreaterThan(0);
  });

  it("let the tightest go first", () => {
    const pair = [
      { at: 20_100, model: "chat", deadline: 9_000 },
      { at: 20_200, model: "chat", deadline: 3_000 },
    ];
    const { ledger } = run(withDeadlines({}), traceOf([...lessons, { at: 20_000, model: "chat" }, ...pair]));
    const [, long, tight] = afterLessons(ledger.startedAt);
    expect(tight).toBeLessThan(long ?? 0);
  });
});

describe("placement in virtual time", () => {
  const models = { chat: MODEL, code: MODEL };
  const farm = (mode: string) =>
    farmOf(
      [
        { name: "one", models: { ...models, chat: { ...MODEL, loaded: true } } },
        { name: "two", models: { ...models, code: { ...MODEL, loaded: true } } },
        { name: "three", models },
      ],
      { placement: { mode, target: "2s", window: "4s", hold: "5s", stableEvery: "5s" } },
    );
  // More than one copy can serve, for a minute; then nothing.
  const crowd = traceOf([
    ...Array.from({ length: 90 }, (_, i) => ({ at: i * 700, model: "chat" })),
    { at: 400_000, model: "code" },
  ]);

  it("loads another copy of what is asked for too much, and lets it go when that is over", () => {
    const off = run(farm("off"), crowd);
    const auto = run(farm("auto"), crowd);
    expect(off.loadsOf[2]?.get("chat")).toBeUndefined();
    expect(auto.loadsOf[2]?.get("chat")).toBe(1);
    expect(auto.summary.onTime).toBeGreaterThan(off.summary.onTime + 0.2);
  });

  it("orders nothing where it only advises", () => {
    expect(run(farm("advise"), crowd).ledger).toEqual(run(farm("off"), crowd).ledger);
  });
});

describe("what becomes of a request", () => {
  it("is told where nothing has the model", () => {
    const trace = traceOf([
      { at: 0, model: "chat" },
      { at: 0, model: "ghost" },
    ]);
    expect(outcomes(run(ONE_BOX, trace))).toEqual([OUTCOME.served, OUTCOME.unknown]);
  });

  it("is a fallback's answer where the owner has named one", () => {
    const boxes = [{ name: "box", models: { chat: MODEL } }];
    const farm = farmOf(boxes, { models: { fallbacks: { ghost: ["chat"] }, aliases: { fast: "chat" } } });
    const trace = traceOf([
      { at: 0, model: "ghost" },
      { at: 0, model: "fast" },
    ]);
    expect(outcomes(run(farm, trace))).toEqual([OUTCOME.served, OUTCOME.served]);
  });

  it("is a refusal when the queue is full", () => {
    const farm = farmOf([{ name: "box", models: { chat: { ...MODEL, loaded: true } }, queue: { maxDepth: 2 } }]);
    const { served, refused } = run(farm, traceOf(asks(5, { model: "chat" }))).summary;
    expect([served, refused]).toEqual([3, 2]);
  });

  it("is a miss when its caller leaves, and its slot is free then", () => {
    const trace = traceOf([
      { at: 0, model: "chat", output: 200_000 },
      { at: 0, model: "chat" },
    ]);
    const { ledger } = replay(ONE_BOX, trace, { ...SETTINGS, callerTimeoutMs: 30_000 });
    expect([...ledger.outcome]).toEqual([OUTCOME.timedOut, OUTCOME.timedOut]);
    const later = traceOf([
      { at: 0, model: "chat", output: 200_000 },
      { at: 20_000, model: "chat" },
    ]);
    const second = replay(ONE_BOX, later, { ...SETTINGS, callerTimeoutMs: 30_000 });
    expect([...second.ledger.outcome]).toEqual([OUTCOME.timedOut, OUTCOME.served]);
    expect(second.ledger.startedAt[1]).toBe(30_000);
  });

  it("is a miss when its deadline passes before the first token", () => {
    const trace = traceOf([
      { at: 0, model: "chat", output: 1_000, deadline: 5_000 },
      { at: 1, model: "chat", deadline: 5_000 },
    ]);
    expect(outcomes(run(ONE_BOX, trace))).toEqual([OUTCOME.served, OUTCOME.timedOut]);
  });
});

describe("bare engines", () => {
  const engine = { models: ["chat", "code"], load: "2s", maxLoaded: 1, slots: 1, promptTokensPerSecond: 0 };

  it("load what they are asked for, by their own rules", () => {
    const trace = traceOf([
      { at: 0, model: "chat" },
      { at: 1, model: "code" },
    ]);
    const { summary } = run(engineFarm([engine]), trace);
    expect(summary).toMatchObject({ served: 2, loads: 2, loadSeconds: 4 });
  });

  it("are held to their caps: the others wait at the gateway, and not for ever", () => {
    const capped = engineFarm([engine], [{ maxConcurrent: 1 }], { limits: { queueWait: "3s" } });
    const { served, timedOut } = run(capped, traceOf(asks(3, { model: "chat", output: 50 }))).summary;
    expect([served, timedOut]).toEqual([1, 2]);
  });

  it("read a prompt's known part again only elsewhere", () => {
    const slow = { ...engine, models: [{ name: "chat", loaded: true }], promptTokensPerSecond: 100 };
    const trace = traceOf([
      { at: 0, model: "chat", input: 1_000, output: 1 },
      { at: 60_000, model: "chat", input: 1_000, output: 1, prefix: 900 },
    ]);
    const { ledger } = run(engineFarm([slow, slow]), trace);
    const took = [0, 1].map((i) => (ledger.firstTokenAt[i] ?? 0) - (trace.at[i] ?? 0));
    expect(took).toEqual([10_020, 1_020]);
  });
});
