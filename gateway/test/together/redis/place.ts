import type { Clock } from "@farmgate/shared";
import { createLog, createSystemClock, type Log } from "@farmgate/wire";
import type { HubTimes } from "../../../src/together/redis/hub-times.ts";
import { parseRedisUrl } from "../../../src/together/redis/redis-address.ts";
import { RedisHub } from "../../../src/together/redis/redis-hub.ts";
import type { MeetingPlace } from "../members.ts";

/** Short, so that tests need not wait; a busy machine may stand still for a while all the same. */
export const TEST_TIMES: Partial<HubTimes> = {
  start: 300,
  beat: 30,
  window: 500,
  settle: 80,
  claim: 250,
  command: 250,
  gather: 5,
};

let farms = 0;

/** A farm of its own on a server. */
export function redisPlace(
  url: string,
  { log = createLog("gateway", "silent"), times = TEST_TIMES }: { log?: Log; times?: Partial<HubTimes> } = {},
): MeetingPlace {
  farms += 1;
  const farm = `test${farms}`;
  const stopped = new Set<string>();
  return {
    hub(id) {
      const address = parseRedisUrl(url);
      if (typeof address === "string") throw new Error(address);
      return new RedisHub({ id, address, ca: null, farm, clock: stoppable(() => stopped.has(id)), log, times });
    },
    drop: (id) => void stopped.add(id),
  };
}

/** Its timers do nothing once it is stopped. */
function stoppable(isStopped: () => boolean): Clock {
  const clock = createSystemClock();
  return { ...clock, after: (ms, fn) => clock.after(ms, () => !isStopped() && fn()) };
}
