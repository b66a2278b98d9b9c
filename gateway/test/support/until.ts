import { setTimeout as pause } from "node:timers/promises";

/** Polls a condition, in which what is thrown counts as "not yet"; the ceiling is generous: a slow machine is no error. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  ceilingMs = 60_000,
): Promise<void> {
  const end = performance.now() + ceilingMs;
  let trouble: unknown;
  for (;;) {
    try {
      if (await condition()) return;
      trouble = undefined;
    } catch (error) {
      trouble = error;
    }
    if (performance.now() > end) throw new Error(`did not happen within ${ceilingMs} ms: ${what}`, { cause: trouble });
    await pause(5);
  }
}

export interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
