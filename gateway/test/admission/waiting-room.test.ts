import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Waiter, WaitingRoom } from "../../src/admission/waiting-room.ts";

interface TestWaiter extends Waiter {
  id: number;
  turnedAway: boolean;
}

/** Waiters of two models that take from a pool of places each. */
function room(places: Record<string, number>) {
  const waitingRoom = new WaitingRoom();
  const gone: number[] = [];
  let next = 0;
  const waiter = (group: string, bytes = 1): TestWaiter => {
    const id = next;
    next += 1;
    return {
      id,
      group,
      bytes,
      turnedAway: false,
      tryGo() {
        if ((places[group] ?? 0) < 1) return false;
        places[group] = (places[group] ?? 0) - 1;
        gone.push(id);
        return true;
      },
      turnAway() {
        this.turnedAway = true;
      },
    };
  };
  return { waitingRoom, gone, waiter, places };
}

const WIDE = { queue: 1_000, queueBytes: 1_000_000 };

describe("the waiting room", () => {
  it("lets go in order of arrival, and one model's queue does not hold up another's", () => {
    const { waitingRoom, gone, waiter, places } = room({ a: 0, b: 0 });
    for (const group of ["a", "a", "b", "a"]) waitingRoom.enter(waiter(group), WIDE);
    places["b"] = 1;
    waitingRoom.wake();
    expect(gone).toEqual([2]);
    places["a"] = 2;
    waitingRoom.wake();
    expect(gone).toEqual([2, 0, 1]);
    expect(waitingRoom.size).toBe(1);
  });

  it("lets nobody go twice, should one that goes be news itself", () => {
    const { waitingRoom, gone, waiter, places } = room({ a: 3, b: 1 });
    const waking = (group: string) => {
      const one = waiter(group);
      return {
        ...one,
        tryGo: () => {
          waitingRoom.wake();
          return one.tryGo();
        },
      };
    };
    for (const group of ["a", "a", "b"]) waitingRoom.enter(waking(group), WIDE);
    waitingRoom.wake();
    expect([gone, waitingRoom.size, waitingRoom.bytes, places["a"]]).toEqual([[0, 1, 2], 0, 0, 1]);
  });

  it("is full by number or by bytes", () => {
    const { waitingRoom, waiter } = room({});
    expect(waitingRoom.enter(waiter("a", 60), { queue: 2, queueBytes: 100 })).toBe(true);
    expect(waitingRoom.enter(waiter("a", 41), { queue: 2, queueBytes: 100 })).toBe(false);
    expect(waitingRoom.enter(waiter("a", 40), { queue: 2, queueBytes: 100 })).toBe(true);
    expect(waitingRoom.enter(waiter("a", 0), { queue: 2, queueBytes: 100 })).toBe(false);
  });

  it("turns everybody away once, and is empty then", () => {
    const { waitingRoom, waiter } = room({});
    const waiters = [waiter("a"), waiter("b")];
    for (const one of waiters) waitingRoom.enter(one, WIDE);
    waitingRoom.turnAllAway();
    expect(waiters.every(({ turnedAway }) => turnedAway)).toBe(true);
    expect([waitingRoom.size, waitingRoom.bytes]).toEqual([0, 0]);
  });

  it("counts right and keeps the order of each model, whatever happens", () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("enter" as const), group: fc.constantFrom("a", "b"), bytes: fc.nat(50) }),
      fc.record({ do: fc.constant("leave" as const), which: fc.nat(20) }),
      fc.record({ do: fc.constant("free" as const), group: fc.constantFrom("a", "b") }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { waitingRoom, gone, waiter, places } = room({ a: 0, b: 0 });
        const inside = new Map<number, TestWaiter>();
        const groups = new Map<number, string>();
        for (const one of steps) {
          if (one.do === "enter") {
            const entering = waiter(one.group, one.bytes);
            groups.set(entering.id, one.group);
            if (waitingRoom.enter(entering, { queue: 8, queueBytes: 200 })) inside.set(entering.id, entering);
          } else if (one.do === "leave") {
            const leaving = [...inside.values()][one.which];
            if (leaving !== undefined) {
              waitingRoom.leave(leaving);
              waitingRoom.leave(leaving);
              inside.delete(leaving.id);
            }
          } else {
            places[one.group] = 1;
            waitingRoom.wake();
            for (const id of gone) inside.delete(id);
            places[one.group] = 0;
          }
          expect(waitingRoom.size).toBe(inside.size);
          expect(waitingRoom.bytes).toBe([...inside.values()].reduce((sum, { bytes }) => sum + bytes, 0));
        }
        for (const group of ["a", "b"]) {
          const order = gone.filter((id) => groups.get(id) === group);
          expect(order).toEqual(order.toSorted((x, y) => x - y));
        }
      }),
    );
  });
});
