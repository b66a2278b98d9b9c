import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanup } from "../../support/cleanup.ts";
import { until } from "../../support/until.ts";
import { limits, wants } from "../members.ts";
import { REDIS_SERVER, RedisServer } from "./redis-server.ts";
import { firstWord, heardLog, keysOf, two } from "./two-members.ts";

describe.skipIf(REDIS_SERVER === undefined)("gateways whose keys in Redis are not as they left them", () => {
  let server: RedisServer;
  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server.end());

  it("go on claiming where something else wrote records, and where its clock was set back", async () => {
    const [a, b] = await two(server.url);
    const [channel = ""] = (await server.ask("PUBSUB", "CHANNELS", "*:news")) as string[];
    const farm = channel.slice(0, -"news".length);
    const soon = String(Date.now() + 3_600_000);
    await server.ask("SET", `${farm}member:odd`, "no record");
    await server.ask("HSET", `${farm}member:less`, "w:w", "-5", "k:alice", "nan");
    await server.ask("SET", `${farm}rate:alice`, "garbage");
    await server.ask("SET", `${farm}fence:placing`, "garbage");
    await server.ask("HSET", `${farm}lease:placing`, "holder", "a");
    await server.ask("ZADD", `${farm}members`, soon, "odd", soon, "less");
    const lease = a.hub.lease("placing");
    cleanup(() => lease.release());
    const alice = limits("alice", 0, 5);
    expect((await b.claim(wants({ w: 1 }, { caller: alice }))).kind).toBe("full");
    for (const epoch of [soon, "garbage"]) {
      await server.ask("SET", `${farm}epoch`, epoch);
      expect(await firstWord(b)).toBe("full");
    }
    await until("the lease is won", () => lease.fence !== null);
    await until("who never lived is gone", () => b.hub.members().length === 2);
    expect([a.hub.trouble, b.hub.trouble]).toEqual([null, null]);
  });

  it("begin keys anew that hold something of another kind, give no place away twice, and say so once", async () => {
    const { lines, log } = heardLog();
    const members = await two(server.url, log);
    const [a, b] = members;
    const lease = a.hub.lease("placement");
    cleanup(() => lease.release());
    await until("it is held", () => lease.fence !== null);
    const alice = limits("alice", 0, 60);
    expect((await b.claim(wants({ w: 1 }, { caller: alice }))).kind).toBe("full");
    const kinds = ["members", "epoch", "member:a", "member:b", "rate:alice", "lease:placement", "fence:placement"];
    const keys = await Promise.all(kinds.map(async (kind) => (await keysOf(server, `*:${kind}`))[0] ?? ""));
    const isList = async (key: string) => (await server.ask("TYPE", key)) === "list";
    for (const [i, key] of keys.entries()) {
      const spoil = "redis.call('DEL', KEYS[1]) redis.call('LPUSH', KEYS[1], 'none of theirs')";
      await server.ask("EVAL", spoil, "1", key);
      // These are looked at when they are needed.
      const isLazy = ["rate:alice", "fence:placement"].includes(kinds[i] ?? "");
      if (!isLazy) await until("it is begun anew", async () => !(await isList(key)));
      expect(await firstWord(b)).toBe("full");
      await until("all is well", () => lease.fence !== null && members.every(({ hub }) => hub.trouble === null));
    }
    expect((await b.claim(wants({ w: 1 }, { caller: alice }))).kind).toBe("full");
    // Nobody looks at the number while the lease is held.
    await server.ask("DEL", keys[5] ?? "");
    await until("none is of another kind", async () => !(await Promise.all(keys.map(isList))).includes(true));
    // A key's minute is nobody's in particular.
    const told = keys
      .filter((_, i) => kinds[i] !== "rate:alice")
      .map((key) => `warn Redis: ${key} held what no gateway wrote there, and was begun anew`);
    const heard = () => lines.filter((line) => line.includes("begun anew")).sort();
    await until("all is told", () => heard().length >= told.length);
    expect(heard()).toEqual(told.sort());
  });

  it("number orders by the time of its clock again once that is right", async () => {
    const [a] = await two(server.url);
    const lease = a.hub.lease("placement");
    await until("it is held", () => lease.fence !== null);
    const [fence = ""] = await keysOf(server, "*:fence:placement");
    await server.ask("SET", fence, String(Date.now() + 365 * 86_400_000));
    const [holder = ""] = await keysOf(server, "*:lease:placement");
    const before = lease.fence ?? 0;
    await server.ask("DEL", holder);
    await until("it is held anew", () => ![before, null].includes(lease.fence));
    expect(lease.fence).toBeGreaterThan(before);
    expect(lease.fence).toBeLessThan(Date.now() + 60_000);
  });

  it("confirm a lease by what Redis says of it, whatever the last heartbeat said, and not where it does not answer", async () => {
    const [a] = await two(server.url);
    const lease = a.hub.lease("placement");
    cleanup(() => lease.release());
    await until("it is held", () => lease.fence !== null);
    expect(await lease.confirm()).toBe(true);
    const [holder = ""] = await keysOf(server, "*:lease:placement");
    const [, , , was] = (await server.ask("HGETALL", holder)) as string[];
    await server.ask("HSET", holder, "holder", "another");
    expect(await lease.confirm()).toBe(false);
    await server.ask("HSET", holder, "holder", "a", "fence", was ?? "");
    await until("it is held again", () => lease.confirm());
    await server.ask("CLIENT", "PAUSE", "450", "ALL");
    expect(await lease.confirm()).toBe(false);
    await until("it is over", () => a.hub.trouble === null);
  });

  it("hold no lease any more once they have left, whatever is answered then", async () => {
    const [a] = await two(server.url);
    const lease = a.hub.lease("placement");
    await until("it is held", () => lease.fence !== null);
    await server.ask("CLIENT", "PAUSE", "150", "ALL");
    await new Promise((resolve) => setTimeout(resolve, 60));
    await a.hub.close();
    expect(lease.fence).toBeNull();
  });

  it("keep leases' numbers growing when everything in it is deleted", async () => {
    const [a] = await two(server.url);
    const lease = a.hub.lease("placement");
    await until("it is held", () => lease.fence !== null);
    const before = lease.fence ?? 0;
    await server.ask("FLUSHALL");
    await until("it is held anew", () => ![before, null].includes(lease.fence));
    expect(lease.fence).toBeGreaterThan(before);
  });
});
