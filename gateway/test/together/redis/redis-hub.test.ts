import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanup } from "../../support/cleanup.ts";
import { until } from "../../support/until.ts";
import { hubContract } from "../hub-contract.ts";
import { Member, wants } from "../members.ts";
import { redisPlace, TEST_TIMES } from "./place.ts";
import { INSTALL_REDIS, REDIS_SERVER, RedisServer } from "./redis-server.ts";

if (REDIS_SERVER === undefined) console.warn(INSTALL_REDIS);

describe.skipIf(REDIS_SERVER === undefined)("gateways that meet by Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.end());

  // Nothing here is about slowness, and a busy machine may stand still for a while.
  const times = { ...TEST_TIMES, claim: 2_000, command: 2_000, window: 900 };
  hubContract(async () => redisPlace(server.url, { times }));

  it("count each place once, without a heartbeat that mends it", async () => {
    const place = redisPlace(server.url, { times: { ...TEST_TIMES, beat: 60_000, window: 120_000, claim: 2_000 } });
    const [a, b] = [new Member(place.hub("a")), new Member(place.hub("b"))];
    for (const member of [a, b]) {
      cleanup(() => member.hub.close());
      await member.hub.start(member);
      await until("it can claim", async () => (await member.hub.claim(wants({}))).kind !== "alone");
    }
    const words = async (times: number) => {
      const claims = Array.from({ length: times }, () => b.claim(wants({ w: 3 })));
      return (await Promise.all(claims)).map(({ kind }) => kind);
    };
    expect((await a.claim(wants({ w: 3 }))).kind).toBe("taken");
    a.enter("v");
    await until("the step has been made", () => b.hub.others.worker("v") === 1 && b.hub.others.worker("w") === 1);
    expect(await words(3)).toEqual(["taken", "taken", "full"]);
    a.leave("w");
    await until("the next one has", () => b.hub.others.worker("w") === 0);
    expect(await words(2)).toEqual(["taken", "full"]);
  });

  it("go on by what they know when something else speaks on their channels or writes their records", async () => {
    const place = redisPlace(server.url, { times });
    const [a, b] = ["a", "b"].map((id) => new Member(place.hub(id))) as [Member, Member];
    const control = new Redis(server.url);
    cleanup(() => control.disconnect());
    for (const member of [a, b]) {
      cleanup(() => member.hub.close());
      await member.hub.start(member);
    }
    b.enter("w");
    await until("the place is known", () => a.hub.others.worker("w") === 1);
    const [channel = ""] = (await control.pubsub("CHANNELS", "*:news")) as string[];
    const farm = channel.slice(0, -"news".length);
    const parts = [
      ...[
        "null",
        "5",
        "[]",
        '{"step":1,"fields":7}',
        '{"step":1,"fields":[1,null]}',
        '{"step":1,"fields":[[5,1]]}',
      ].map((counts) => `{"counts":${counts}}`),
      '{"counts":{"step":1e999,"fields":[]}}',
      '{"counts":{"step":9,"fields":[["p:w\\u0000m","zz"],["p:w\\u0000m",-1e308],["k:x",1e308]]}}',
      ...["null", "5", '{"number":1}', '{"number":1,"question":null}'].map((question) => `{"question":${question}}`),
      ...["null", "5", '[null,1,{"kind":"polled"}]'].map((news) => `{"news":${news}}`),
      "null",
      "{",
      '"text"',
      '{"__proto__":{"bye":1},"bye":1,"freed":[]}',
    ];
    for (const part of parts) {
      for (const from of ["b", "__proto__"]) await control.publish(channel, `${from} ${part}`);
      await control.publish(`${farm}to:a`, `b ${part}`);
    }
    await control.hset(`${farm}member:b`, "p:w\0x", "garbage", "p:w\0y", "-4", "p:w\0z", "1e308", "s", "1e999");
    const word = { worker: "w", draining: true, at: 1 };
    const heard = new Promise((resolve) => a.hub.onNews(resolve));
    b.hub.tell({ kind: "drain", note: word });
    expect(await heard).toEqual({ kind: "drain", note: word });
    expect([a.hub.others.worker("w"), a.hub.trouble]).toEqual([1, null]);
    b.enter("w");
    await until("the next is known", () => a.hub.others.worker("w") === 2);
  });
});
