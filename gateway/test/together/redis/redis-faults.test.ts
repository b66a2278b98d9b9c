import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanup } from "../../support/cleanup.ts";
import { until } from "../../support/until.ts";
import { limits, Member, wants } from "../members.ts";
import { redisPlace } from "./place.ts";
import { REDIS_SERVER, RedisServer } from "./redis-server.ts";
import { firstWord, heardLog, keysOf, ONE, two } from "./two-members.ts";

describe.skipIf(REDIS_SERVER === undefined)("gateways whose Redis fails", () => {
  let server: RedisServer;
  let cluster: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
    cluster = await RedisServer.start("--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1");
    // It takes two seconds until it says that it is one.
    await cluster.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  });
  afterAll(() => Promise.all([server.end(), cluster.end()]));

  async function recordOf(member: string): Promise<string> {
    return (await keysOf(server, `*:member:${member}`))[0] ?? "";
  }

  /** They go by what they know, without waiting. */
  async function aloneAtOnce(member: Member, trouble: RegExp): Promise<void> {
    await until("it has noticed", () => trouble.test(member.hub.trouble ?? ""));
    const began = performance.now();
    for (let i = 0; i < 100; i += 1) expect((await member.hub.claim(ONE)).kind).toBe("alone");
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(member.hub.others.worker("w")).toBe(1);
    expect(member.hub.members()).toEqual(["a", "b"]);
    expect(await member.hub.ask({ kind: "state" }, 60_000)).toEqual(new Map());
  }

  /** All is as before, and the place has not been given away a second time. */
  async function asBefore([a, b]: [Member, Member]): Promise<string> {
    expect(await firstWord(b)).toBe("full");
    for (const { hub } of [a, b])
      await until("all hear each other", () => hub.trouble === null && hub.members().length === 2);
    await until("b still knows", () => b.hub.others.worker("w") === 1);
    a.leave("w");
    await until("the place can be had again", async () => (await b.claim(ONE)).kind === "taken");
    await until("a knows", () => a.hub.others.worker("w") === 1);
    return "as before";
  }

  it("go on by themselves while it is killed, and meet again when it is back empty, with one line each", async () => {
    const { lines, log } = heardLog();
    const members = await two(server.url, log);
    await server.signal("SIGKILL");
    await aloneAtOnce(members[1], /nothing listens there/);
    await server.restart();
    expect(await asBefore(members)).toBe("as before");
    await until("both say so", () => lines.filter((line) => line.startsWith("info")).length === 2);
    const troubles = lines.filter((line) => line.startsWith("warn"));
    expect(troubles).toHaveLength(2);
    expect(troubles[0]).toMatch(/^warn Redis: .* \(127\.0\.0\.1:\d+\): this gateway goes by what it sees itself$/);
    // Once more within the minute is no news.
    await server.signal("SIGKILL");
    await until("it has noticed", () => members[0].hub.trouble !== null);
    await server.restart();
    await until("it is back", () => members[0].hub.trouble === null);
    for (const { hub } of members) await hub.close();
    expect(lines).toHaveLength(4);
  });

  it("do not meet in another database than the one of the address", async () => {
    const lost = new Member(redisPlace(`${server.url}/99`).hub("a"));
    cleanup(() => lost.hub.close());
    await lost.hub.start(lost);
    await until("it is told", () => /it has no database of that number/.test(lost.hub.trouble ?? ""));
    expect((await lost.hub.claim(ONE)).kind).toBe("alone");
    expect(await server.ask("KEYS", "*member:a")).toEqual([]);
  });

  it("wait for it once while it stands still for longer than members live without a heartbeat", async () => {
    const members = await two(server.url);
    await server.signal("SIGSTOP");
    const began = performance.now();
    expect((await members[1].hub.claim(ONE)).kind).toBe("alone");
    expect(performance.now() - began).toBeLessThan(1_000);
    await aloneAtOnce(members[1], /does not answer in time/);
    await new Promise((resolve) => setTimeout(resolve, 400));
    await server.signal("SIGCONT");
    expect(await asBefore(members)).toBe("as before");
  });

  it("take back what a claim took that was answered too late", async () => {
    const [a, b] = await two(server.url);
    a.leave("w");
    await until("the place is free", () => b.hub.others.worker("w") === 0);
    await server.ask("CLIENT", "PAUSE", "450", "ALL");
    expect((await b.hub.claim(ONE)).kind).toBe("alone");
    await until("it is over", () => b.hub.trouble === null);
    await until("the place can be had", async () => (await a.claim(ONE)).kind === "taken");
  });

  it("give no place away twice when everything in it is deleted", async () => {
    const members = await two(server.url);
    await server.ask("FLUSHALL");
    expect(await asBefore(members)).toBe("as before");
  });

  it("know a replica that takes no writes, and a server that has become one for a while", async () => {
    const members = await two(server.url);
    await server.ask("REPLICAOF", "127.0.0.1", "1");
    await aloneAtOnce(members[1], /a replica that takes no writes/);
    await server.ask("REPLICAOF", "NO", "ONE");
    expect(await asBefore(members)).toBe("as before");
  });

  it("go on when its memory is full, and when it has forgotten the scripts", async () => {
    const members = await two(server.url);
    await server.ask("CONFIG", "SET", "maxmemory", "1");
    await aloneAtOnce(members[1], /its memory is full/);
    await server.ask("CONFIG", "SET", "maxmemory", "0");
    await server.ask("SCRIPT", "FLUSH");
    expect(await asBefore(members)).toBe("as before");
  });

  it("need no more rights than docs/several-gateways.md names, and say so where one is missing", async () => {
    const page = readFileSync(new URL("../../../../docs/several-gateways.md", import.meta.url), "utf8");
    const rights = /`(~farmgate:\* [^`]+)`/.exec(page)?.[1]?.split(" ") ?? [];
    await server.ask("ACL", "SETUSER", "farm", "on", ">word", ...rights);
    const url = `redis://farm:word@127.0.0.1:${server.port}`;
    const members = await two(url);
    await server.ask("ACL", "SETUSER", "farm", "-time");
    await aloneAtOnce(members[1], /the user may not do what is needed/);
    await server.ask("ACL", "SETUSER", "farm", "+time");
    expect(await asBefore(members)).toBe("as before");
  });

  it("learn what was told while they could not hear", async () => {
    const [a, b] = await two(server.url);
    await server.ask("CLIENT", "KILL", "TYPE", "pubsub");
    a.enter("w", "n");
    await until("b knows", () => b.hub.others.pair("w", "n") === 1 && b.hub.trouble === null);
    expect(b.hub.others.worker("w")).toBe(2);
  });

  it("are not ended by what others write there that is none of theirs", async () => {
    const [a, b] = await two(server.url);
    const channels = (await server.ask("PUBSUB", "CHANNELS", "farmgate:*")) as string[];
    const odd = [
      { counts: { step: 1, fields: 7 } },
      { counts: { step: 9, fields: [["p:w\0m", null]] } },
      { news: 7 },
      { news: [null] },
      { question: null },
      { question: { number: 1, question: null } },
      null,
    ];
    for (const channel of channels) {
      for (const value of odd) await server.ask("PUBLISH", channel, `c ${JSON.stringify(value)}`);
    }
    await server.ask("HSET", await recordOf("a"), "p:w\0m", "many", "k:alice", "-7");
    a.enter("w", "n");
    await until("b still hears a", () => b.hub.others.pair("w", "n") === 1);
    expect([b.hub.trouble, b.hub.others.worker("w"), b.hub.others.caller("alice")]).toEqual([null, 2, 0]);
  });

  it("do not ask again and again for a record that stays behind what was told", async () => {
    const [, b] = await two(server.url);
    const number = /test\d+/.exec(await recordOf("a"))?.[0] ?? "";
    const ahead = { counts: { step: Number.MAX_SAFE_INTEGER, fields: [] } };
    await server.ask("CONFIG", "RESETSTAT");
    await server.ask("PUBLISH", `farmgate:{${number}}:news`, `a ${JSON.stringify(ahead)}`);
    await server.ask("CLIENT", "KILL", "TYPE", "pubsub");
    await until("b hears again", () => b.hub.trouble === null);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const stats = String(await server.ask("INFO", "commandstats"));
    expect(Number(/cmdstat_hgetall:calls=(\d+)/.exec(stats)?.[1])).toBeLessThan(300);
  });

  it("claim again at once when its clock goes back, and count nobody who was seen by the clock before", async () => {
    const [a, b] = await two(server.url);
    const [epoch = ""] = await keysOf(server, "*:epoch");
    const [members = ""] = await keysOf(server, "*:members");
    const later = String(Date.now() + 3_600_000);
    await server.ask("SET", epoch, later);
    await server.ask("ZADD", members, later, "gone");
    a.leave("w");
    await until("b can claim", async () => (await b.claim(ONE)).kind === "taken");
    await until("both know who lives", () => [a, b].every(({ hub }) => hub.members().join() === "a,b"));
    expect(((await server.ask("ZRANGE", members, "0", "-1")) as string[]).sort()).toEqual(["a", "b"]);
  });

  it("start without it, and meet once it is there", async () => {
    await server.signal("SIGKILL");
    const member = new Member(redisPlace(server.url).hub("a"));
    cleanup(() => member.hub.close());
    const began = performance.now();
    await member.hub.start(member);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(member.hub.trouble).toMatch(/nothing listens there/);
    member.enter("w");
    await server.restart();
    expect(await firstWord(member)).toBe("full");
  });

  it("do not reach a server whose password they do not have, and do not tell it", async () => {
    const other = await RedisServer.start("--requirepass", "right");
    cleanup(() => other.end());
    const place = redisPlace(`redis://:wrongsecret@127.0.0.1:${other.port}`);
    const { hub } = new Member(place.hub("a"));
    cleanup(() => hub.close());
    await hub.start({ counts: () => new Map(), callers: () => new Map() });
    expect(hub.trouble).toBe("Redis: it does not know this user or password");
  });

  it("meet in a cluster, and in a database of its own", async () => {
    const url = `redis+cluster://127.0.0.1:${cluster.port}`;
    await until("it is up", async () => String(await cluster.ask("CLUSTER", "INFO")).includes("cluster_state:ok"));
    const members = await two(url);
    await cluster.ask("FLUSHALL");
    expect(await asBefore(members)).toBe("as before");
    const [a, b] = await two(`${server.url}/3`);
    await a.claim(wants({}, { caller: limits("alice", 1) }));
    await until("b hears", () => b.hub.others.caller("alice") === 1);
    expect(await server.ask("DBSIZE")).toBe(0);
  });
});
