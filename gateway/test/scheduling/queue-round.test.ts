import { describe, expect, it } from "vitest";
import { decideRound, firstByteAtBest, type Waiting } from "../../src/scheduling/queue-round.ts";
import { instance, waiting } from "./waiting.ts";

const decide = (queue: Waiting[], instances = [instance()], now = 0, restMs = 0) =>
  decideRound(queue, instances, restMs, now);
const sent = (queue: Waiting[], ...rest: [ReturnType<typeof instance>[]?, number?, number?]) =>
  decide(queue, ...rest).sends.map(({ waiting: one, worker }) => `${queue.indexOf(one)} to ${worker}`);

describe("who of a queue goes now", () => {
  it("is the tightest of those that are on time together", () => {
    expect(sent([waiting(300), waiting(200), waiting(100)])).toEqual(["2 to a"]);
    expect(sent([waiting(500), waiting(200, { tokens: 200 }), waiting(210), waiting(250)])).toEqual(["2 to a"]);
  });

  it("is one for each slot that is free, or about to be", () => {
    const slots = [
      instance({ availableAt: 250 }),
      instance({ worker: "b" }),
      instance({ worker: "c", availableAt: 251 }),
    ];
    expect(sent([waiting(900), waiting(800), waiting(700), waiting(600)], slots)).toEqual(["2 to a", "3 to b"]);
  });

  it("is one without a deadline after those that have one, but not for ever", () => {
    const patient = waiting(null);
    expect(sent([patient, waiting(5_000)])).toEqual(["1 to a"]);
    expect(sent([patient])).toEqual(["0 to a"]);
    const late = waiting(5_000, { enteredAt: 59_000 });
    const later = { ...late, deadline: { arrivedAt: 59_000, askedMs: 5_000, mayRelax: false, relaxed: 0 } };
    expect(sent([patient, later], [instance()], 59_500)).toEqual(["0 to a"]);
    expect(decide([patient], [instance({ availableAt: 90_000 })], 60_000).overdue).toEqual([patient]);
  });

  it("is one whose first byte, not its end, is on time where it streams", () => {
    const slots = [instance({ overhead: 400 })];
    expect(sent([waiting(150)], slots, 0, 400)).toEqual(["0 to a"]);
    expect(decide([waiting(150, { streamed: false })], slots, 0, 400).refused).toHaveLength(1);
  });
});

describe("what nobody can make", () => {
  it("is refused at once, with what was predicted", () => {
    const one = waiting(250);
    const { refused, sends } = decide([one], [instance({ availableAt: 200 })]);
    expect(sends).toEqual([]);
    expect(refused).toEqual([{ waiting: one, figures: { askedMs: 250, predictedMs: 300, lateMs: 50, againInMs: 50 } }]);
  });

  it("waits on with a longer deadline where it may", () => {
    const one = waiting(250, { relax: true });
    const { relaxed, refused } = decide([one], [instance({ availableAt: 400 })]);
    expect(refused).toEqual([]);
    expect(relaxed).toMatchObject([{ waiting: one, deadline: { relaxed: 1 } }]);
  });

  it("is sent all the same while a worker's speed is not known, and refused when its time is over", () => {
    const unknown = instance({ sure: false, slowness: 0 });
    expect(sent([waiting(50)], [unknown])).toEqual(["0 to a"]);
    const busy = { ...unknown, availableAt: 900 };
    expect(decide([waiting(50)], [busy])).toMatchObject({ sends: [], refused: [] });
    expect(decide([waiting(50)], [busy], 50).refused).toHaveLength(1);
  });

  it("is judged by the best of all slots", () => {
    const slots = [instance({ availableAt: 500 }), instance({ availableAt: 100, slowness: 3, overhead: 10 })];
    expect(firstByteAtBest({ tokens: 100, streamed: true }, slots, 10)).toEqual({ at: 400, idleMs: 90 });
  });
});
