import { defineConfig } from "vitest/config";

const conditions = ["@farmgate/source", "node", "import", "default"];
const setupFiles = ["./test/harness/property-seed.ts"];
const source = { ssr: { resolve: { conditions } } };

export default defineConfig({
  test: {
    projects: [
      {
        ...source,
        test: {
          setupFiles,
          name: "unit",
          include: ["{shared,engines,wire,worker-agent,gateway,simulator,cli}/test/**/*.test.ts"],
          testTimeout: 20_000,
          // By itself it would leave a core of two idle.
          maxWorkers: "100%",
        },
      },
      {
        ...source,
        test: {
          setupFiles,
          name: "integration",
          include: ["test/{integration,scenarios,deploy,bench,soak,measure,faults,observe}/**/*.test.ts"],
          testTimeout: 60_000,
          // Some start a whole farm.
          hookTimeout: 60_000,
          // Real processes that mostly wait: more than three files at a time would stretch what they measure.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...source,
        test: {
          setupFiles,
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
