import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Claimed } from "../../src/together/hub.ts";
import type { News } from "../../src/together/news.ts";
import { cleanup } from "../support/cleanup.ts";
import { until } from "../support/until.ts";
import { limits, type MeetingPlace, Member, wants } from "./members.ts";

const FREE = wants({});
const left = (worker: string): News => ({ kind: "unregistered", worker, instance: "one" });

/** So many members that hear each other and can claim; they leave with the test. */
async function together(place: MeetingPlace, ...ids: string[]): Promise<Member[]> {
  const members = ids.map((id) => new Member(place.hub(id)));
  for (const { hub } of members) cleanup(() => hub.close());
  await Promise.all(members.map((member) => member.hub.start(member)));
  for (const { hub } of members) {
    await until(`${hub.id} sees all`, () => ids.every((id) => hub.members().includes(id)));
    await until(`${hub.id} can claim`, async () => (await hub.claim(FREE)).kind !== "alone");
  }
  return members;
}

const three = (place: MeetingPlace) => together(place, "a", "b", "c") as Promise<[Member, Member, Member]>;

/** What every hub has to do, tested within a `describe`; a place of their own for the members of each test. */
export function hubContract(open: () => Promise<MeetingPlace>): void {
  it("shows each what the others have under way, by worker, model and key", async () => {
    const [a, b, c] = await three(await open());
    a.enter("w", "m");
    b.enter("w", "m");
    b.enter("w", "n");
    await a.claim(wants({ v: 0 }, { caller: limits("alice", 5) }));
    await until("c hears", () => c.hub.others.worker("w") === 3 && c.hub.others.worker("v") === 1);
    expect(c.hub.others.pair("w", "m")).toBe(2);
    expect(c.hub.others.pairs("w")).toEqual(
      new Map([
        ["m", 2],
        ["n", 1],
      ]),
    );
    await until("c hears of the key", () => c.hub.others.caller("alice") === 1);
    await until("a does not hear itself", () => a.hub.others.worker("w") === 2 && a.hub.others.worker("v") === 0);
    b.leave("w", "m");
    b.leave("w", "n");
    a.callerLeaves("alice");
    await until(
      "c hears that they have left",
      () => c.hub.others.worker("w") === 1 && c.hub.others.caller("alice") === 0,
    );
    expect(c.hub.others.pairs("w")).toEqual(new Map([["m", 1]]));
  });

  it("shows who comes later what was under way before", async () => {
    const place = await open();
    const [a] = (await together(place, "a")) as [Member];
    a.enter("w");
    const [late] = (await together(place, "late")) as [Member];
    await until("it knows", () => late.hub.others.pair("w", "m") === 1);
    expect(late.hub.others.worker("w")).toBe(1);
  });

  it("wakes who waits when the others' counts change", async () => {
    const [a, b] = await three(await open());
    let woken = 0;
    const end = a.hub.onChange(() => (woken += 1));
    b.enter("w");
    await until("a is woken", () => woken > 0 && a.hub.others.worker("w") === 1);
    end();
    expect(a.hub.others.pair("w", "m")).toBe(1);
  });

  it("gives a place below its cap to one of those who ask at once", async () => {
    const [a, b, c] = await three(await open());
    const claims = await Promise.all([a, b, c, a, b].map((member) => member.claim(wants({ w: 2, v: 1 }))));
    expect(claims.map(wordOf).sort()).toEqual(["full", "full", "v", "w", "w"]);
    for (const member of [a, b, c]) if ((member.counts().get("w")?.get("m") ?? 0) > 0) member.leave("w");
    await until("there is room again", async () => (await c.claim(wants({ w: 2 }))).kind === "taken");
  });

  it("takes the least loaded for its capacity where it is told to, the first of equals", async () => {
    const [a, b] = await three(await open());
    const places = [
      { worker: "small", cap: 0, capacity: 1 },
      { worker: "big", cap: 0, capacity: 3 },
    ];
    const taken: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      taken.push(wordOf(await (i % 2 ? a : b).claim({ key: "m", places, take: "least-loaded", caller: null })));
    }
    expect(taken).toEqual(["small", "big", "big", "big", "small"]);
  });

  it("gives back a place that was claimed and is not wanted", async () => {
    const [a, b] = await three(await open());
    // Its own counts may be told before b asks: then it has been given back already.
    expect(await a.hub.claim(wants({ w: 1 }))).toMatchObject({ kind: "taken", worker: "w" });
    a.hub.counted("w", "m");
    await until("b has it", async () => (await b.hub.claim(wants({ w: 1 }))).kind === "taken");
  });

  it("never gives more places than there are, whoever asks when, and gives all of them", async () => {
    const all = await three(await open());
    const act = fc.record({ who: fc.nat(2), does: fc.constantFrom("claim", "claim", "leave"), pause: fc.boolean() });
    const caps = { w: 3, v: 2 };
    const property = fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60 }), async (acts) => {
      const held: { member: Member; worker: string }[] = [];
      const words = new Set<string>();
      const most: Record<string, number> = {};
      const take = async (member: Member) => {
        const claimed = await member.claim(wants(caps));
        words.add(claimed.kind);
        if (claimed.kind !== "taken" || claimed.worker === null) return;
        const { worker } = claimed;
        held.push({ member, worker });
        most[worker] = Math.max(most[worker] ?? 0, held.filter((one) => one.worker === worker).length);
      };
      const pending: Promise<void>[] = [];
      for (const { who, does, pause } of acts) {
        const member = all[who] ?? all[0];
        const mine = held.find((one) => one.member === member);
        if (does === "leave" && mine !== undefined) {
          held.splice(held.indexOf(mine), 1);
          member.leave(mine.worker);
        } else if (does === "claim") {
          const counted = take(member);
          pending.push(counted);
          if (pause) await counted;
        }
      }
      await Promise.all(pending);
      expect([...words].filter((word) => word !== "taken" && word !== "full")).toEqual([]);
      expect(most["w"] ?? 0).toBeLessThanOrEqual(caps.w);
      expect(most["v"] ?? 0).toBeLessThanOrEqual(caps.v);
      for (const { member, worker } of held.splice(0)) member.leave(worker);
      // Nothing is left behind: all of them can be had once more.
      for (let i = 0; i < 5; i += 1) {
        await until("a place is free", async () => {
          const claimed = await all[0].claim(wants(caps));
          if (claimed.kind === "taken" && claimed.worker !== null)
            held.push({ member: all[0], worker: claimed.worker });
          return claimed.kind === "taken";
        });
      }
      expect((await all[1].claim(wants(caps))).kind).toBe("full");
      for (const { member, worker } of held) member.leave(worker);
    });
    await fc.assert(property, { numRuns: 10 });
  });

  it("holds a key to its requests at once at all of them, also where no worker has room", async () => {
    const [a, b, c] = await three(await open());
    const alice = { caller: limits("alice", 2) };
    expect(await a.claim(wants({ w: 1 }, alice))).toEqual({ kind: "taken", worker: "w", allowance: null });
    expect((await b.claim(wants({ w: 1 }, alice))).kind).toBe("full");
    expect(await c.claim(wants({ v: 0 }, alice))).toEqual({ kind: "limited", by: "concurrent", retryMs: null });
    expect((await c.claim(wants({ v: 0 }, { caller: limits("bob", 1) }))).kind).toBe("taken");
    expect((await b.claim(wants({ v: 0 }))).kind).toBe("taken");
    b.callerLeaves("alice");
    await until("alice may again", async () => (await c.claim(wants({}, alice))).kind === "taken");
  });

  it("holds a key to its rate at all of them together", async () => {
    const [a, b, c] = await three(await open());
    const carol = wants({}, { caller: limits("carol", 0, 3) });
    const remaining: number[] = [];
    for (const member of [a, b, c]) {
      const claimed = await member.claim(carol);
      if (claimed.kind === "taken") remaining.push(claimed.allowance?.remaining ?? -1);
    }
    expect(remaining).toEqual([2, 1, 0]);
    const refused = await a.claim(carol);
    expect(refused).toMatchObject({ kind: "limited", by: "rate" });
    const { retryMs } = refused as { retryMs: number };
    expect(retryMs).toBeGreaterThan(10_000);
    expect(retryMs).toBeLessThanOrEqual(20_000);
  });

  it("tells news to all others in order, and not to who tells them", async () => {
    const [a, b, c] = await three(await open());
    const heard: Record<string, string[]> = { a: [], b: [], c: [] };
    for (const { hub } of [a, b, c]) {
      hub.onNews((news, from) => news.kind === "unregistered" && heard[hub.id]?.push(`${from}${news.worker}`));
    }
    for (let i = 0; i < 50; i += 1) {
      a.hub.tell(left(String(i)));
      if (i % 10 === 9) await a.hub.claim(FREE);
    }
    const all = Array.from({ length: 50 }, (_, i) => `a${i}`);
    await until("all have heard all", () => heard["b"]?.length === 50 && heard["c"]?.length === 50);
    expect(heard).toEqual({ a: [], b: all, c: all });
  });

  it("asks all others, waits for who has something to say, and no longer than it is told to", async () => {
    const [a, b, c] = await three(await open());
    b.hub.onQuestion(({ kind }, from) => (kind === "requests" ? Promise.resolve({ to: from }) : undefined));
    c.hub.onQuestion(({ kind }) => (kind === "metrics" ? new Promise(() => {}) : undefined));
    expect(await a.hub.ask({ kind: "requests" }, 60_000)).toEqual(new Map([["b", { to: "a" }]]));
    expect(await a.hub.ask({ kind: "state" }, 60_000)).toEqual(new Map());
    expect(await a.hub.ask({ kind: "metrics" }, 100)).toEqual(new Map());
  });

  it("gives a lease to one of them, and after it to another with a greater number", async () => {
    const place = await open();
    const all = await three(place);
    const leases = all.map(({ hub }) => hub.lease("placement"));
    const holder = () => leases.findIndex(({ fence }) => fence !== null);
    await until("one holds it", () => holder() >= 0);
    const first = holder();
    const fence = leases[first]?.fence ?? 0;
    expect(leases.filter((lease) => lease.fence !== null)).toHaveLength(1);
    const confirmed = await Promise.all(leases.map((lease) => lease.confirm()));
    expect(confirmed).toEqual(leases.map((_, i) => i === first));
    const told: (number | null)[] = [];
    for (const lease of leases) lease.onChange(() => told.push(lease.fence));
    await leases[first]?.release();
    expect(leases[first]?.fence).toBeNull();
    await until("another one holds it", () => holder() >= 0);
    const second = holder();
    expect(second).not.toBe(first);
    expect(leases[second]?.fence).toBeGreaterThan(fence);
    expect(told).toContain(leases[second]?.fence);
    // Who dies gives it up as well.
    const before = leases[second]?.fence ?? 0;
    place.drop(all[second]?.hub.id ?? "");
    const last = leases[3 - first - second];
    await until("the last one holds it", () => (last?.fence ?? 0) > before);
  });

  it("forgets what one had that has died, and gives its places away", async () => {
    const place = await open();
    const [a, b, c] = await three(place);
    await a.claim(wants({ w: 1 }, { caller: limits("alice", 1) }));
    await until("b knows", () => b.hub.others.worker("w") === 1 && b.hub.others.caller("alice") === 1);
    place.drop("a");
    await until("it is gone", () => !b.hub.members().includes("a"));
    expect([b.hub.others.worker("w"), b.hub.others.caller("alice")]).toEqual([0, 0]);
    const claim = wants({ w: 1 }, { caller: limits("alice", 1) });
    await until("its place is free", async () => (await c.claim(claim)).kind === "taken");
  });

  it("forgets at once what one had that leaves", async () => {
    const [a, b] = await three(await open());
    await a.claim(wants({ w: 1 }));
    await until("b knows", () => b.hub.others.worker("w") === 1);
    await a.hub.close();
    expect((await b.claim(wants({ w: 1 }))).kind).toBe("taken");
    await until("it is gone", () => !b.hub.members().includes("a") && b.hub.others.worker("w") === 0);
  });
}

function wordOf(claimed: Claimed): string {
  return claimed.kind === "taken" ? (claimed.worker ?? "none") : claimed.kind;
}
