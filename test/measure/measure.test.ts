import { describe, expect, it } from "vitest";
import { fallOf, firstRoutedThere, lastRoutedThere, type Seen, waitedForReturn } from "./kill-figures.ts";
import { requestsOf, SHAPES } from "./scheduling/instances.ts";
import { LST_IMH, ORDERS } from "./scheduling/orders.ts";
import { play } from "./scheduling/play.ts";
import { type Person, returnsOf } from "./returns.ts";

const seen = (more: Partial<Seen>): Seen => ({
  sentAt: 0,
  firstByteAt: 1,
  endedAt: 2,
  status: 200,
  worker: "one",
  attempts: 1,
  whole: true,
  told: false,
  ...more,
});

describe("the death of a worker", () => {
  const all = [
    seen({}),
    seen({ attempts: 2, sentAt: 15 }),
    seen({ whole: false, told: true }),
    seen({ whole: false }),
    seen({ whole: false, told: true, status: 502, sentAt: 12 }),
    seen({ whole: false, status: 0, attempts: 0 }),
    seen({ worker: "two", sentAt: 5, endedAt: 60 }),
    seen({ worker: "two", sentAt: 55 }),
  ];

  it("is counted by what callers lost of it", () => {
    const fall = { requests: 8, whole: 4, moved: 1, lostBefore: 2, cutTold: 1, cutUntold: 1 };
    expect(fallOf(all)).toEqual(fall);
  });

  it("is noticed after the last request that was put to it, and its return at the first", () => {
    expect(lastRoutedThere(all, "two", 10, 50)).toBe(5);
    expect(lastRoutedThere(all, "two", 20, 50)).toBe(0);
    expect(firstRoutedThere(all, "two", 50)).toBe(5);
    expect(firstRoutedThere(all, "three", 50)).toBeNaN();
    expect(waitedForReturn(all, "two", 50)).toBe(1);
  });
});

describe("callers who were refused", () => {
  const person = (more: Partial<Person>): Person => ({
    refusedAt: 0,
    toldS: 2,
    returns: 1,
    acceptedAt: 4_000,
    ...more,
  });

  it("are held against what they were told", () => {
    const people = [
      person({}),
      person({ returns: 2, acceptedAt: 6_000 }),
      person({ acceptedAt: Number.NaN }),
      person({ returns: 0, toldS: Number.NaN, acceptedAt: Number.NaN, refusedAt: 5_500 }),
    ];
    expect(returnsOf(people, [1_000, 4_000, 6_000])).toEqual({
      refused: 4,
      untold: 1,
      toldMedian: 2,
      toldP90: 2,
      atFirstReturn: 1 / 3,
      realMedian: 5,
      realP90: 6,
      notYet: 1,
      anyoneMedian: 1,
    });
  });
});

describe("requests with deadlines in virtual time", () => {
  const request = (arrivedAt: number, processing: number, patience: number) => ({
    arrivedAt,
    processing,
    deadline: arrivedAt + patience,
  });
  const one = [request(0, 10, 10), request(1, 5, 20), request(2, 30, 12)];

  it("end on time, refused or late, each of them once", () => {
    const ends = (name: string, relax: boolean) => {
      const order = ORDERS.find((order) => order.name === name) ?? LST_IMH;
      return play(one, 1, order, relax).map(({ end, afterMs }) => `${end} ${afterMs}`);
    };
    expect(ends("LST-IMH", false)).toEqual(["on time 10", "refused 0", "on time 14"]);
    expect(ends("LST-IMH", true)).toEqual(["on time 10", "on time 14", "relaxed 43"]);
    expect(ends("arrival, all served", false)).toEqual(["on time 10", "on time 14", "late 43"]);
  });

  it.each(ORDERS.map((order) => [order.name, order] as const))("are all accounted for: %s", (_, order) => {
    for (const shape of SHAPES.slice(0, 4)) expect(play(requestsOf(shape, 1), shape.instances, order)).toHaveLength(80);
  });
});
