import { describe, expect, it } from "vitest";
import { alone } from "../../src/together/alone.ts";
import type { Claim, Claimed, Hub } from "../../src/together/hub.ts";
import { catalogOf, model, worker } from "../routing/farm.ts";
import { startMembers } from "./members.ts";

const warm = (name: string, maxConcurrent: number) => worker(name, { models: [model("m", "warm")], maxConcurrent });
const TAKEN: Claimed = { kind: "taken", worker: "a", allowance: null };
const FULL: Claimed = { kind: "full", allowance: null };

/** A hub whose answers the test gives; it tells nothing by itself. */
function scriptedHub(members: readonly string[] = ["g0", "g1", "g2"]) {
  const asked: Claim[] = [];
  const answers: ((claimed: Claimed) => void)[] = [];
  const counted: string[] = [];
  let onChange = () => {};
  const hub: Hub & { claimsAll: boolean; trouble: string | null } = {
    ...alone("g0"),
    isShared: true,
    members: () => members,
    onChange: (listener) => {
      onChange = listener;
      return () => {};
    },
    counted: (name, key) => counted.push(`${name} ${key}`),
    claim: (claim) =>
      new Promise((resolve) => {
        asked.push(claim);
        answers.push(resolve);
      }),
  };
  return { hub, asked, counted, answer: (claimed: Claimed) => answers.shift()?.(claimed), changed: () => onChange() };
}

async function member(cap: number, limits = {}) {
  const script = scriptedHub();
  const workers = [warm("a", cap), warm("b", cap)];
  const members = await startMembers({ count: 1, workers, limits, hubOf: () => script.hub });
  const [farm] = members.farms;
  if (farm === undefined) throw new Error("no member");
  return { ...script, ...members, farm };
}

describe("a request at one of several gateways", () => {
  it("goes without a claim where neither a worker nor its key has a limit", async () => {
    const { request, asked, counted, settle } = await member(0);
    const one = request(0, "m", true);
    await settle(0);
    expect([one.state, asked]).toEqual(["a", []]);
    one.end();
    expect(counted).toEqual(["a m", "a m"]);
  });

  it("goes where its claim says, and the place is counted once", async () => {
    const { request, asked, answer, settle, farm, counted } = await member(2);
    const one = request(0);
    const next = request(0);
    // While it is asked for, the place counts here and is not told.
    expect([farm.inflight.worker("a"), farm.inflight.worker("b"), farm.inflight.counts().size]).toEqual([1, 1, 0]);
    expect(asked[0]).toEqual({
      key: "m",
      places: [
        { worker: "a", cap: 2, capacity: 1 },
        { worker: "b", cap: 2, capacity: 1 },
      ],
      take: "least-loaded",
      caller: null,
    });
    answer({ ...TAKEN, worker: "b" });
    answer(TAKEN);
    await settle(0);
    expect([one.state, next.state]).toEqual(["b", "a"]);
    expect(one.reason).toContain("claimed among all gateways");
    expect([farm.inflight.worker("a"), farm.inflight.worker("b"), counted]).toEqual([1, 1, []]);
    one.end();
    expect(counted).toEqual(["b m"]);
  });

  it("waits where all are full, and asks again when others have news, or after a while", async () => {
    const { request, asked, answer, settle, changed } = await member(1);
    const one = request(0);
    answer(FULL);
    await settle(20);
    expect([one.state, asked.length]).toEqual(["waiting", 1]);
    changed();
    await settle(0);
    expect(asked).toHaveLength(2);
    answer(FULL);
    await settle(26);
    expect(asked).toHaveLength(3);
    answer(TAKEN);
    await settle(0);
    expect(one.state).toBe("a");
  });

  it("lets one claim at a time be under way for those that wait, first come, first served", async () => {
    const { request, asked, answer, settle, changed } = await member(1);
    const all = [request(0)];
    answer(FULL);
    await settle(1);
    all.push(request(0), request(0));
    changed();
    changed();
    await settle(0);
    expect(asked).toHaveLength(2);
    answer(TAKEN);
    await settle(0);
    // Room is left at `b`: the next one asks at once.
    expect([asked.length, all.map(({ state }) => state)]).toEqual([3, ["a", "waiting", "waiting"]]);
    answer({ ...TAKEN, worker: "b" });
    await settle(30);
    expect([asked.length, all.map(({ state }) => state)]).toEqual([3, ["a", "b", "waiting"]]);
    all[0]?.end();
    await settle(0);
    answer(TAKEN);
    await settle(0);
    expect(all.map(({ state }) => state)).toEqual(["answered", "b", "a"]);
  });

  it("gives back what its claim takes when its caller has left, or the worker is gone", async () => {
    const { request, asked, answer, settle, counted, farm } = await member(1, { maxConcurrent: 5 });
    const left = request(0, "m", true);
    left.end();
    await settle(0);
    expect(left.state).toBe("client_closed");
    answer(TAKEN);
    await settle(0);
    expect(counted).toEqual(["null bob", "a m"]);
    expect([farm.inflight.worker("a"), farm.inflight.callers().size]).toEqual([0, 0]);

    const moved = request(0);
    Object.assign(farm.catalog, { current: catalogOf([warm("b", 1)]) });
    answer(TAKEN);
    await settle(0);
    expect(counted).toEqual(["null bob", "a m", "a m"]);
    expect(asked[2]?.places.map(({ worker }) => worker)).toEqual(["b"]);
    answer({ ...TAKEN, worker: "b" });
    await settle(0);
    expect(moved.state).toBe("b");
  });

  it("is decided here while the others cannot be heard, with a share of each cap", async () => {
    const { request, answer, settle, hub, asked, changed } = await member(6);
    const all = [request(0)];
    answer({ kind: "alone" });
    hub.trouble = "gone";
    await settle(0);
    for (let i = 0; i < 4; i += 1) all.push(request(0));
    await settle(0);
    expect(all.map(({ state }) => state)).toEqual(["a", "b", "a", "b", "waiting"]);
    expect(asked).toHaveLength(1);
    all[0]?.end();
    await settle(0);
    expect(all[4]?.state).toBe("a");
    const last = request(0);
    hub.trouble = null;
    changed();
    await settle(0);
    expect(asked).toHaveLength(2);
    answer({ ...TAKEN, worker: "b" });
    await settle(0);
    expect(last.state).toBe("b");
  });

  it("claims its key's place along with the worker's, once", async () => {
    const { request, asked, answer, settle, farm, counted } = await member(1, {
      maxConcurrent: 2,
      requestsPerMinute: 60,
    });
    const caller = { name: "bob", maxConcurrent: 2, requestsPerMinute: 60 };
    const one = request(0, "m", true);
    expect(asked[0]).toMatchObject({ caller, places: [{ worker: "a" }, { worker: "b" }] });
    answer({ kind: "full", allowance: { remaining: 7, resetMs: 53_000 } });
    await settle(0);
    expect(one.call.ownHeaders).toContain("7");
    expect(farm.inflight.callers()).toEqual(new Map([["bob", 1]]));
    await settle(26);
    expect(asked[1]).toMatchObject({ caller: null });
    answer(TAKEN);
    await settle(0);
    one.end();
    expect([one.state, farm.inflight.callers().size, counted]).toEqual(["answered", 0, ["a m", "null bob"]]);
  });

  it.each<[Extract<Claimed, { kind: "limited" }>, string, number]>([
    [{ kind: "limited", by: "concurrent", retryMs: null }, 'The key "bob" may have 2 requests under way at once.', 1],
    [{ kind: "limited", by: "rate", retryMs: 700 }, 'The key "bob" may send 60 requests a minute.', 0.7],
  ])(
    "is refused as by one gateway when all together have reached its key's limit: %j",
    async (limited, text, afterS) => {
      const { request, answer, settle, farm } = await member(1, { maxConcurrent: 2, requestsPerMinute: 60 });
      const one = request(0, "m", true);
      farm.keys.enter(one.call.caller, 0);
      answer(limited);
      await settle(0);
      expect([one.state, one.error?.message]).toEqual(["rate_limited", text]);
      if (limited.by === "rate") expect(one.error?.retryAfterS).toBe(afterS);
      else expect(one.error?.retryAfterS).toBeGreaterThan(0);
      expect(one.call.ownHeaders[3]).toBe(limited.by === "rate" ? "0" : "60");
      expect(farm.inflight.worker("a")).toBe(0);
    },
  );

  it("that must wait by what is known here has its key's place before it does", async () => {
    const { request, asked, answer, settle, farm } = await member(1, { maxConcurrent: 1 });
    const holders = [request(0), request(0)];
    answer(TAKEN);
    answer({ ...TAKEN, worker: "b" });
    await settle(0);
    const one = request(0, "m", true);
    expect(asked[2]).toMatchObject({ places: [], caller: { name: "bob" } });
    // A place becomes free while its key is asked for.
    holders[0]?.end();
    answer({ kind: "taken", worker: null, allowance: null });
    await settle(0);
    expect([asked.length, farm.waitingRoom.size]).toEqual([4, 1]);
    answer(TAKEN);
    await settle(0);
    expect([one.state, farm.waitingRoom.size]).toEqual(["a", 0]);
  });
});
