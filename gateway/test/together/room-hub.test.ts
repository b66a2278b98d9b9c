import { describe, expect, it } from "vitest";
import type { Claim, Hub } from "../../src/together/hub.ts";
import type { News } from "../../src/together/news.ts";
import { Inflight } from "../../src/state/inflight.ts";
import { until } from "../support/until.ts";
import { testRoom } from "./room-hub.ts";

const NEWS: News = { kind: "unregistered", worker: "gone", instance: "i" };

function own() {
  const inflight = new Inflight();
  const enter = (hub: Hub, worker: string) => {
    const leave = inflight.enter(worker, "m");
    return () => {
      leave();
      hub.counted(worker, "m");
    };
  };
  const counts = () => new Map(["w", "v"].map((worker) => [worker, inflight.pairs(worker)]));
  return { enter, counts, callers: () => new Map<string, number>() };
}

const wants = (...workers: string[]): Claim => ({
  key: "m",
  places: workers.map((worker) => ({ worker, cap: 2, capacity: 1 })),
  take: "least-loaded",
  caller: null,
});

async function members(...ids: string[]) {
  const room = testRoom();
  const all = ids.map((id) => ({ hub: room.hub(id), own: own() }));
  await Promise.all(all.map(({ hub, own }) => hub.start(own)));
  await until("all have joined", () => all.every(({ hub }) => hub.members().length === ids.length));
  return { room, all };
}

describe("gateways that meet in a room", () => {
  it("share caps, and hear of what the others have", async () => {
    const { all } = await members("a", "b");
    const [a, b] = all as [(typeof all)[0], (typeof all)[0]];
    const ends: (() => void)[] = [];
    const claims = await Promise.all(
      [a, b, a, b, a].map(async ({ hub, own }) => {
        const claim = await hub.claim(wants("w", "v"));
        if (claim.kind !== "taken" || claim.worker === null) return claim.kind;
        ends.push(own.enter(hub, claim.worker));
        return claim.worker;
      }),
    );
    expect(claims.sort()).toEqual(["full", "v", "v", "w", "w"]);
    const ofOthers = ({ hub }: typeof a) => hub.others.worker("w") + hub.others.worker("v");
    await until("others are heard of", () => ofOthers(a) + ofOthers(b) === 4);
    let woken = 0;
    a.hub.onChange(() => (woken += 1));
    for (const end of ends) end();
    await until("the ends are heard of", () => ofOthers(a) + ofOthers(b) === 0);
    expect(woken).toBeGreaterThan(0);
    expect(await b.hub.claim(wants("w"))).toMatchObject({ kind: "taken" });
  });

  it("tell and ask each other, and need not wait for who has nothing to say", async () => {
    const { all } = await members("a", "b", "c");
    const [a, b, c] = all.map(({ hub }) => hub) as [Hub, Hub, Hub];
    const heard: string[] = [];
    b.onNews((news, from) => heard.push(`${news.kind} from ${from}`));
    b.onQuestion(({ kind }, from) => (kind === "requests" ? Promise.resolve({ to: from }) : undefined));
    c.onQuestion(() => undefined);
    a.tell(NEWS);
    expect(await a.ask({ kind: "requests" }, 60_000)).toEqual(new Map([["b", { to: "a" }]]));
    expect(await a.ask({ kind: "metrics" }, 60_000)).toEqual(new Map());
    await until("the news is heard", () => heard.length > 0);
    expect(heard).toEqual(["unregistered from a"]);
  });

  it("lose at once what one had that died: its counts, its leases, its answers", async () => {
    const { room, all } = await members("a", "b");
    const [a, b] = all as [(typeof all)[0], (typeof all)[0]];
    const [of, after] = [a.hub.lease("placement"), b.hub.lease("placement")];
    await until("it holds the lease", () => of.fence !== null);
    expect(after.fence).toBeNull();
    expect(await a.hub.claim(wants("w"))).toMatchObject({ kind: "taken" });
    a.hub.onQuestion(() => new Promise(() => {}));
    const asked = b.hub.ask({ kind: "requests" }, 60_000);
    room.drop("a");
    expect(await asked).toEqual(new Map());
    await until("the lease is the next one's", () => after.fence !== null && b.hub.others.worker("w") === 0);
    expect(b.hub.members()).toEqual(["b"]);
    expect(of.fence).toBeNull();
    expect(a.hub.trouble).toBe("the process in which this one meets the others has gone, or does not answer");
  });

  it("decide alone while the room is away, and count together again when it is back", async () => {
    const { room, all } = await members("a", "b");
    const [a, b] = all as [(typeof all)[0], (typeof all)[0]];
    const lost = a.hub.claim(wants("w"));
    room.away(true);
    expect(await lost).toEqual({ kind: "alone" });
    expect(await a.hub.claim(wants("w"))).toEqual({ kind: "alone" });
    const ends = [a.own.enter(a.hub, "w"), a.own.enter(a.hub, "w")];
    room.away(false);
    await until("the counts are told again", () => b.hub.others.worker("w") === 2);
    expect(await b.hub.claim(wants("w"))).toEqual({ kind: "full", allowance: null });
    for (const end of ends) end();
    await until("the ends are told", () => b.hub.others.worker("w") === 0);
  });

  it("hear that what others had has ended while they could not be heard", async () => {
    const { room, all } = await members("b", "a");
    const [b, a] = all as [(typeof all)[0], (typeof all)[0]];
    const end = a.own.enter(a.hub, "w");
    a.hub.counted("w", "m");
    await until("b hears of it", () => b.hub.others.worker("w") === 1);
    room.away(true);
    end();
    room.away(false);
    await until("b hears of its end", () => b.hub.others.worker("w") === 0);
    expect(b.hub.trouble).toBeNull();
  });

  it("forget who leaves", async () => {
    const { all } = await members("a", "b");
    const [a, b] = all as [(typeof all)[0], (typeof all)[0]];
    await a.hub.claim(wants("w"));
    await a.hub.close();
    await until("it has left", () => b.hub.members().length === 1 && b.hub.others.worker("w") === 0);
    expect(await a.hub.claim(wants("w"))).toEqual({ kind: "alone" });
  });

  it("answer nothing where an answer cannot be made, and go on", async () => {
    const { all } = await members("a", "b");
    const [a, b] = all.map(({ hub }) => hub) as [Hub, Hub];
    b.onQuestion(({ kind }) => {
      if (kind === "requests") throw new Error("broken");
      return kind === "metrics" ? Promise.reject(new Error("broken")) : "state";
    });
    expect(await a.ask({ kind: "requests" }, 60_000)).toEqual(new Map());
    expect(await a.ask({ kind: "metrics" }, 60_000)).toEqual(new Map());
    expect(await a.ask({ kind: "state" }, 60_000)).toEqual(new Map([["b", "state"]]));
  });

  it("hear of nothing and wait for nothing once they have left", async () => {
    const { room, all } = await members("a", "b");
    const [{ hub }] = all as [(typeof all)[0]];
    let told = 0;
    hub.onChange(() => (told += 1));
    await hub.close();
    room.drop("a");
    expect(told).toBe(0);
  });
});
