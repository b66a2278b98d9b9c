import type { Clock } from "@farmgate/shared";
import { steadily } from "./steadily.ts";

/** The real clock. Only a program's entry makes one. */
export function createSystemClock(): Clock {
  return {
    now: steadily(() => performance.now()),
    wall: () => Date.now(),
    after(ms, fn) {
      const timer = setTimeout(fn, Math.min(ms, 2 ** 31 - 1));
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
}
