import type { Clock } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { GatewayConfig } from "../config.ts";
import { alone } from "./alone.ts";
import type { Hub } from "./hub.ts";
import { parseRedisUrl } from "./redis/redis-address.ts";
import { RedisHub } from "./redis/redis-hub.ts";

/** Where a gateway of this configuration meets the others of its farm. It is not started. */
export function makeHub({ redis }: Pick<GatewayConfig, "redis">, member: { id: string; clock: Clock; log: Log }): Hub {
  if (redis === null) return alone(member.id);
  const address = parseRedisUrl(redis.url);
  if (typeof address === "string") throw new Error(`redis.url ${address}`);
  return new RedisHub({ ...member, address, ca: redis.ca, farm: redis.farm });
}
