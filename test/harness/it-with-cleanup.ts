import { it } from "vitest";
import { Cleanup } from "./farmgate-process.ts";

/** A test with a `cleanup` of its own, which runs when it ends: for tests that run at once and start processes. */
export const itWithCleanup = it.extend<{ cleanup: Cleanup }>({
  cleanup: async ({ onTestFinished }, use) => {
    const cleanup = new Cleanup();
    onTestFinished(() => cleanup.run());
    await use(cleanup);
  },
});
