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
});
