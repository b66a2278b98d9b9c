import { afterEach } from "vitest";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Runs after the test, the last one registered first. */
export function cleanup(fn: () => unknown): void {
  cleanups.push(fn);
}
