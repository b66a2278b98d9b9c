import type { Clock } from "@farmgate/shared";

/** Whether the work, which never fails, is done within so many milliseconds; resolves when either has come. */
export function within(clock: Clock, work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const stopTimer = clock.after(ms, () => resolve(false));
    void work.then(() => {
      stopTimer();
      resolve(true);
    });
  });
}
