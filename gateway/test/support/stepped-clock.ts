import type { Clock } from "@farmgate/shared";

/** A clock that stands until it is moved; timers fire in order, each at its own time, also those set meanwhile. */
export function steppedClock(): Clock & { readonly move: (ms: number) => void } {
  let now = 0;
  let timers: { at: number; fn: () => void }[] = [];
  return {
    now: () => now,
    wall: () => 0,
    after(ms, fn) {
      const timer = { at: now + ms, fn };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    move(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((x, y) => x.at - y.at);
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        now = next.at;
        next.fn();
      }
      now = end;
    },
  };
}
