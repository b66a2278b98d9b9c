import { afterAll, beforeAll, describe } from "vitest";
import { hubContract } from "../hub-contract.ts";
import { redisPlace } from "./place.ts";
import { INSTALL_REDIS, REDIS_SERVER, RedisServer } from "./redis-server.ts";

if (REDIS_SERVER === undefined) console.warn(INSTALL_REDIS);

describe.skipIf(REDIS_SERVER === undefined)("gateways that meet by Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.end());

  hubContract(async () => redisPlace(server.url));
});
