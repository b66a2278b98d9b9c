import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** These wait for longest. They start first, so that the other files run beside them and none is left to run alone. */
const LONGEST = [
  "policies",
  "wedged-model",
  "killed-again",
  "killed-restart",
  "breaker",
  "keep-warm",
  "six-requests",
  "burst",
  "killed-commands",
].map((name) => `/test/scenarios/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => Number(LONGEST.some((name) => moduleId.endsWith(name)));
    return (await super.sort(files)).toSorted((a, b) => isLong(b) - isLong(a));
  }
}

const conditions = ["@farmgate/source", "node", "import", "default"];
const common = {
  setupFiles: ["./test/harness/property-seed.ts"],
  // Ceilings are generous: a slow machine is no error.
  expect: { poll: { timeout: 60_000 } },
  // Where nobody watches, one test of thousands may meet a machine that stands still for a second. It runs once more, and
  // the run tells which one that was.
  retry: process.env["CI"] === undefined ? 0 : 1,
};
const source = { ssr: { resolve: { conditions } } };

const UNIT = ["{shared,engines,wire,worker-agent,gateway,simulator,cli}/test/**/*.test.ts"];

/** Folders whose tests compute, and leave nothing behind in their modules. */
const TOGETHER = [
  "cli/test/{config,render,up}/**/*.test.ts",
  "engines/test/**/*.test.ts",
  "gateway/test/{catalog,placement,registry,routes,routing,scheduling,state,translate}/**/*.test.ts",
  "shared/test/**/*.test.ts",
  "wire/test/telemetry/**/*.test.ts",
  "simulator/test/{cluster,decide,lan,report,trace,virtual}/**/*.test.ts",
  "worker-agent/test/{queue,serve}/**/*.test.ts",
];

/** These measure speed or memory, which must be theirs alone. */
const ALONE = [
  "gateway/test/placement/pools/plan-speed.test.ts",
  "gateway/test/routing/{affinity,choose-speed,last-copy}.test.ts",
  "shared/test/body/{damaged-bodies.property,json-body,json-body.property,json-body-size}.test.ts",
  "shared/test/model-name.test.ts",
];

const unit = {
  ...common,
  testTimeout: 120_000,
  // By itself it would leave a core of two idle.
  maxWorkers: "100%",
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...source,
        test: {
          ...unit,
          name: "unit-together",
          include: TOGETHER,
          exclude: ALONE,
          // Half of the time of a file of its own would go into importing the same modules anew. With FARMGATE_RUNS
          // fast-check is replaced in each file.
          isolate: process.env["FARMGATE_RUNS"] !== undefined,
        },
      },
      {
        ...source,
        test: { ...unit, name: "unit", include: UNIT, exclude: TOGETHER },
      },
      {
        ...source,
        test: { ...unit, name: "unit-alone", include: ALONE },
      },
      {
        ...source,
        test: {
          ...common,
          name: "integration",
          include: ["test/{integration,scenarios,deploy,bench,soak,measure,faults,observe}/**/*.test.ts"],
          testTimeout: 180_000,
          // Some start a whole farm.
          hookTimeout: 120_000,
          // Real processes that mostly wait: more than three files at a time would stretch what they measure.
          maxWorkers: 3,
          // Of the cases of one file that may run at once.
          maxConcurrency: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...source,
        test: {
          ...common,
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 240_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
