import { setTimeout as pause } from "node:timers/promises";

/** Generous: a slow machine is no error. */
const CEILING_MS = 60_000;

/** Polls a condition, in which what is thrown counts as "not yet". */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + CEILING_MS;
  let trouble: unknown;
  for (;;) {
    try {
      if (await condition()) return;
      trouble = undefined;
    } catch (error) {
      trouble = error;
    }
    if (performance.now() > end) throw new Error(`did not happen within ${CEILING_MS} ms: ${what}`, { cause: trouble });
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
