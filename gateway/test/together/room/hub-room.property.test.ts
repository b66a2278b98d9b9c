import { takeRequest } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Claim } from "../../../src/together/hub.ts";
import { HubRoom } from "../../../src/together/room/hub-room.ts";

const MEMBERS = ["a", "b", "c"];
const PLACES = [
  { worker: "one", cap: 2, capacity: 1 },
  { worker: "two", cap: 3, capacity: 4 },
  { worker: "free", cap: 0, capacity: 2 },
];
const KEYS = [
  { name: "few", maxConcurrent: 2, requestsPerMinute: 0 },
  { name: "slow", maxConcurrent: 0, requestsPerMinute: 3 },
  { name: "both", maxConcurrent: 3, requestsPerMinute: 30 },
];

interface Request {
  /** Of the claim that it was given by. */
  number: number;
  worker: string | null;
  key: string;
  caller: string | null;
}

/** A member as it is in truth: what it was given and has not ended, and how much of that it knows of. */
class Member {
  readonly name: string;
  requests: Request[] = [];
  claims = 0;
  heard = 0;

  constructor(name: string) {
    this.name = name;
  }

  tell(room: HubRoom): void {
    const known = this.requests.filter(({ number }) => number <= this.heard);
    const count = (of: (request: Request) => boolean) => known.filter(of).length;
    room.tell(this.name, {
      answered: this.heard,
      counts: new Map(
        PLACES.map(({ worker }) => [
          worker,
          new Map(["x", "y"].map((key) => [key, count((one) => one.worker === worker && one.key === key)])),
        ]),
      ),
      callers: new Map(KEYS.map(({ name }) => [name, count(({ caller }) => caller === name)])),
    });
  }
}

const member = fc.integer({ min: 0, max: MEMBERS.length - 1 });
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      member,
      key: fc.constantFrom("x", "y"),
      places: fc.shuffledSubarray(PLACES),
      take: fc.constantFrom("first" as const, "least-loaded" as const),
      caller: fc.option(fc.constantFrom(...KEYS)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("hear" as const), member, count: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("end" as const), member, which: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("tell" as const), member }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), member }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(30_000) }) },
);

/** Goes through the steps; `check` after each. */
function play(steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[], check: (at: Scene) => void) {
  const room = new HubRoom(0);
  const members = MEMBERS.map((name) => new Member(name));
  for (const { name } of members) room.join(name);
  const scene: Scene = { room, members, now: 0, fullAt: new Map() };
  for (const one of steps) {
    if (one.do === "wait") scene.now += one.ms;
    else {
      const at = members[one.member];
      if (at === undefined) continue;
      if (one.do === "claim") claim(scene, at, one);
      if (one.do === "hear") at.heard = Math.min(at.claims, at.heard + one.count);
      // Only what it knows of can end.
      if (one.do === "end") at.requests = at.requests.filter((r, i) => i !== one.which || r.number > at.heard);
      if (one.do === "tell") at.tell(room);
      if (one.do === "leave") {
        at.requests = [];
        at.claims = at.heard = 0;
        room.join(at.name);
      }
    }
    check(scene);
  }
  return scene;
}

interface Scene {
  room: HubRoom;
  members: Member[];
  now: number;
  fullAt: Map<string, number>;
}

/** Claims, and expects of the answer what the room itself counted before. */
function claim({ room, now, fullAt }: Scene, at: Member, wanted: Claim): void {
  const { places, caller } = wanted;
  const loads = places.map(({ worker, cap, capacity }) => {
    const count = room.worker(worker);
    return cap > 0 && count >= cap ? Number.POSITIVE_INFINITY : count / capacity;
  });
  const ofKey = caller === null ? 0 : room.caller(caller.name);
  at.claims += 1;
  const answer = room.claim(at.name, at.claims, wanted, now);
  if (answer.kind === "limited" || answer.kind === "alone") {
    const { maxConcurrent = 0, requestsPerMinute = 0, name = "" } = caller ?? {};
    const isRate =
      requestsPerMinute > 0 && !takeRequest(fullAt.get(name), now, requestsPerMinute).taken ? "rate" : null;
    const by = maxConcurrent > 0 && ofKey >= maxConcurrent ? "concurrent" : isRate;
    expect(answer).toMatchObject({ kind: "limited", by });
    return;
  }
  if (caller !== null && caller.requestsPerMinute > 0) {
    const spent = takeRequest(fullAt.get(caller.name), now, caller.requestsPerMinute);
    expect(answer.allowance).toEqual({ remaining: spent.remaining, resetMs: spent.resetMs });
    fullAt.set(caller.name, spent.fullAt);
  }
  const worker = answer.kind === "taken" ? answer.worker : null;
  const free = loads.findIndex((load) => load < Number.POSITIVE_INFINITY);
  const best = wanted.take === "first" || free < 0 ? free : loads.indexOf(Math.min(...loads));
  expect(worker).toBe(places[best]?.worker ?? null);
  expect(answer.kind).toBe(places.length > 0 && best < 0 ? "full" : "taken");
  at.requests.push({ number: at.claims, worker, key: wanted.key, caller: caller?.name ?? null });
}

const really = ({ members }: Scene, of: (request: Request) => boolean) =>
  members.flatMap(({ requests }) => requests).filter(of).length;

describe("the room of a hub", () => {
  it("never lets more in than caps and keys allow, takes the least loaded, and never counts less than there is", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        play(steps, (scene) => {
          for (const { worker, cap } of PLACES) {
            const count = really(scene, (one) => one.worker === worker);
            expect(scene.room.worker(worker)).toBeGreaterThanOrEqual(count);
            expect(scene.room.worker(worker)).toBeLessThanOrEqual(cap || Number.POSITIVE_INFINITY);
          }
          for (const { name, maxConcurrent } of KEYS) {
            expect(scene.room.caller(name)).toBeGreaterThanOrEqual(really(scene, ({ caller }) => caller === name));
            expect(scene.room.caller(name)).toBeLessThanOrEqual(maxConcurrent || Number.POSITIVE_INFINITY);
          }
        });
      }),
    );
  });

  it("counts exactly what there is once all is heard and told, and nothing once all has ended or left", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.boolean(), (steps, ends) => {
        const scene = play(steps, () => {});
        const { room, members } = scene;
        const counted = () => [
          ...PLACES.map(({ worker }) => room.worker(worker)),
          ...PLACES.map(({ worker }) => room.pair(worker, "x")),
          ...KEYS.map(({ name }) => room.caller(name)),
        ];
        for (const at of members) {
          at.heard = at.claims;
          at.tell(room);
        }
        expect(counted()).toEqual([
          ...PLACES.map(({ worker }) => really(scene, (one) => one.worker === worker)),
          ...PLACES.map(({ worker }) => really(scene, (one) => one.worker === worker && one.key === "x")),
          ...KEYS.map(({ name }) => really(scene, ({ caller }) => caller === name)),
        ]);
        for (const at of members) {
          at.requests = [];
          if (ends) at.tell(room);
          else room.leave(at.name);
        }
        expect(counted()).toEqual(Array(9).fill(0));
      }),
    );
  });

  it("tells each member of every change of the others, and of nothing else", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const seen = new Map(MEMBERS.map((name) => [name, new Map<string, number>()]));
        play(steps, ({ room, members }) => {
          for (const [name, { counts }] of room.takeChanges()) {
            for (const [worker, pairs] of counts) {
              seen.get(name)?.set(
                worker,
                [...pairs.values()].reduce((sum, n) => sum + n, 0),
              );
            }
          }
          for (const { name } of members) {
            const all = room.othersOf(name).counts;
            for (const { worker } of PLACES) {
              const sum = [...(all.get(worker)?.values() ?? [])].reduce((a, n) => a + n, 0);
              expect(seen.get(name)?.get(worker) ?? 0).toBe(sum);
            }
          }
        });
      }),
    );
  });
});

describe("a lease of the room", () => {
  it("is the first one's until it gives it up or leaves, then the next one's, with a greater fence", () => {
    const room = new HubRoom(100);
    for (const name of MEMBERS) room.join(name);
    for (const name of MEMBERS) room.askLease(name, "placement");
    const holders = () => MEMBERS.filter((name) => room.leasesOf(name).has("placement"));
    const fence = () => room.leasesOf(holders()[0] ?? "").get("placement") ?? 0;
    expect(holders()).toEqual(["a"]);
    const first = fence();
    expect(first).toBeGreaterThan(100);
    room.leave("a");
    expect(holders()).toEqual(["b"]);
    const second = fence();
    expect(second).toBeGreaterThan(first);
    room.giveUpLease("b", "placement");
    expect(holders()).toEqual(["c"]);
    expect(fence()).toBeGreaterThan(second);
    room.giveUpLease("c", "placement");
    expect(holders()).toEqual([]);
    room.askLease("b", "placement");
    expect(fence()).toBeGreaterThan(second);
  });
});
