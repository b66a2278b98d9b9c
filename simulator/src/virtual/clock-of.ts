import type { Clock } from "@farmgate/shared";

/** A clock of virtual time, for what sets timers of its own: `at` runs something at that time. */
export function clockOf(now: () => number, at: (ms: number, run: () => void) => void): Clock {
  return {
    now,
    wall: now,
    after(ms, fn) {
      let isSet = true;
      at(now() + ms, () => {
        if (isSet) fn();
      });
      return () => {
        isSet = false;
      };
    },
  };
}
