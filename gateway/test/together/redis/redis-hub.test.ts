import { afterAll, beforeAll, describe } from "vitest";
import { hubContract } from "../hub-contract.ts";
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
});
