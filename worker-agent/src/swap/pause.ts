import type { Clock } from "@farmgate/shared";

/** Resolves after `ms` milliseconds, or at once when the signal is aborted. */
export function pause(ms: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const stop = clock.after(ms, () => {
      signal?.removeEventListener("abort", wake);
      resolve();
    });
    const wake = () => {
      stop();
      resolve();
    };
    signal?.addEventListener("abort", wake, { once: true });
  });
}
