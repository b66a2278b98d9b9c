import { describe, expect, it } from "vitest";
import { SteppedClock } from "../../../wire/test/support/stepped-clock.ts";
import { DeadlineQueue, type QueuedRequest } from "../../src/scheduling/deadline-queue.ts";
import type { PairNow } from "../../src/scheduling/instances.ts";
import type { RoutingRequest } from "../../src/routing/types.ts";
import { pair, waiting } from "./waiting.ts";

const LIMITS = { queue: 4, queueBytes: 1_000 };
const REQUEST: RoutingRequest = {
  key: "m",
  name: "m",
  api: "chat",
  ways: ["chat"],
  spent: new Set(),
  only: null,
  held: null,
  patterns: ["*"],
  prefixWorker: null,
};

/** A queue before one worker, whose slots are those of `pairs`; `events` tells what became of whom. */
function setUp(pairs: PairNow[], limits = LIMITS) {
  const clock = new SteppedClock();
  const farm = { pairs, decide: () => farm.pairs, on: true, elsewhere: { size: 0, bytes: 0 } };
  const events: string[] = [];
  const queue = new DeadlineQueue({
    clock,
    isOn: () => farm.on,
    pairs: () => farm.decide(),
    besides: () => farm.elsewhere,
    failed: (error) => events.push(String(error)),
  });
  const enter = (name: string, withinMs: number | null, more: Parameters<typeof waiting>[1] = {}, bytes = 100) => {
    const queued: QueuedRequest = {
      ...waiting(withinMs, more),
      enteredAt: clock.now(),
      group: "m",
      bytes,
      request: REQUEST,
      send(worker) {
        events.push(`${name} to ${worker} at ${clock.now()}`);
        const [first] = farm.pairs;
        const underWay = [...(first?.underWay ?? []), { sentAt: clock.now(), firstByteAt: null, tokens: 100 }];
        farm.pairs = first === undefined ? [] : [{ ...first, underWay }];
        return true;
      },
      goOn: () => events.push(`${name} goes on at ${clock.now()}`),
      refuse: ({ lateMs }) => events.push(`${name} refused at ${clock.now()}, ${lateMs} late`),
      relax(deadline) {
        queued.deadline = deadline;
        events.push(`${name} relaxed at ${clock.now()}`);
      },
    };
    return { queued, entered: queue.enter(queued, limits) };
  };
  return { clock, farm, queue, events, enter };
}

const BUSY = { sentAt: 0, firstByteAt: null, tokens: 100 };

describe("the queue of a model", () => {
  it("sends the tightest when a slot is free, the others as slots become free", () => {
    const { clock, farm, queue, events, enter } = setUp([pair({ underWay: [BUSY] })]);
    enter("late", 9_000);
    enter("soon", 2_000);
    expect([queue.size, queue.bytes, queue.inGroup("m")]).toEqual([2, 200, 2]);
    clock.move(200);
    expect(events).toEqual([]);
    farm.pairs = [pair()];
    queue.wake();
    expect(events).toEqual(["soon to a at 200"]);
    farm.pairs = [pair()];
    queue.wake();
    expect(events).toEqual(["soon to a at 200", "late to a at 200"]);
    expect([queue.size, queue.bytes, clock.pending]).toEqual([0, 0, 0]);
  });

  it("sends the next one a little before its slot is free", () => {
    const { clock, events, enter } = setUp([pair({ underWay: [BUSY] })]);
    enter("next", 2_000);
    // The answer before it is predicted to end at 500.
    clock.move(299);
    expect(events).toEqual(["next to a at 300"].slice(1));
    clock.move(1);
    expect(events).toEqual(["next to a at 300"]);
  });

  it("refuses who becomes hopeless as time passes, without news of any worker", () => {
    const stuck = { sentAt: 0, firstByteAt: null, tokens: 5_000 };
    const { clock, queue, events, enter } = setUp([pair({ underWay: [stuck, stuck, stuck] })]);
    enter("now", 400);
    expect(events).toEqual(["now refused at 0, 15900 late"]);
    const { queued } = enter("gone", null);
    queue.leave(queued);
    clock.move(90_000);
    expect(events).toHaveLength(1);
  });

  it("lets those with an urgent need wait on with a longer deadline", () => {
    const { events, enter, queue } = setUp([pair({ underWay: [BUSY] })]);
    enter("soft", 300, { relax: true });
    expect(events).toEqual(["soft relaxed at 0"]);
    expect(queue.size).toBe(1);
  });

  it("sends all on their way where nobody has the model, and when it is turned off", () => {
    const none = setUp([]);
    none.enter("first", 400);
    expect(none.events).toEqual(["first goes on at 0"]);
    const full = setUp([pair({ underWay: [BUSY] })]);
    full.enter("one", 900);
    full.enter("two", null);
    full.farm.on = false;
    full.queue.wake();
    expect(full.events).toEqual(["one goes on at 0", "two goes on at 0"]);
  });

  it("sends one without a deadline on its way after a minute", () => {
    const long = { sentAt: 0, firstByteAt: null, tokens: 500_000 };
    const { clock, events, enter } = setUp([pair({ underWay: [long] })]);
    enter("patient", null);
    clock.move(59_900);
    expect(events).toEqual([]);
    clock.move(100);
    expect(events).toEqual(["patient goes on at 60000"]);
  });

  it("has room for so many and so much, with those that wait elsewhere", () => {
    const { farm, enter } = setUp([pair({ underWay: [BUSY] })]);
    farm.elsewhere = { size: 2, bytes: 700 };
    expect(enter("one", 9_000).entered).toBe(true);
    expect(enter("large", 9_000, {}, 300).entered).toBe(false);
    expect(enter("two", 9_000).entered).toBe(true);
    expect(enter("three", 9_000).entered).toBe(false);
  });

  it("sends one after the other to a worker whose slots nobody knows", () => {
    const { events, enter } = setUp([pair({ slots: null })]);
    for (const name of ["one", "two", "three"]) enter(name, 900);
    expect(events).toEqual(["one to a at 0", "two to a at 0", "three to a at 0"]);
  });

  it("lets all go on as without it when nothing can be decided, and whoever woke it never hears of that", () => {
    const { farm, queue, events, enter } = setUp([pair({ underWay: [BUSY] })]);
    enter("one", 9_000);
    enter("two", null);
    farm.decide = () => {
      throw new Error("no such pair");
    };
    queue.wake();
    expect(events).toEqual(["Error: no such pair", "one goes on at 0", "two goes on at 0"]);
    expect([queue.size, queue.bytes, enter("three", null).entered]).toEqual([0, 0, true]);
    expect(events.at(-1)).toBe("three goes on at 0");
  });

  it("looks at a long queue once for all that wakes it within some milliseconds", () => {
    const { clock, farm, queue, events, enter } = setUp([pair({ underWay: [BUSY] })], { queue: 500, queueBytes: 1e6 });
    let looks = 0;
    farm.decide = () => {
      looks += 1;
      return farm.pairs;
    };
    for (let i = 0; i < 200; i += 1) enter(`r${i}`, 90_000);
    farm.pairs = [pair()];
    for (let i = 0; i < 50; i += 1) queue.wake();
    expect([looks, events, queue.size]).toEqual([63, [], 200]);
    clock.move(20);
    expect([looks, events]).toEqual([65, ["r0 to a at 20"]]);
  });
});
