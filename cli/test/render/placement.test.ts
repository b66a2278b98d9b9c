import { describe, expect, test } from "vitest";
import { readPlacement, renderPlacement } from "../../src/render/placement.ts";

const some = (mean: number, deviation: number) => ({ mean, deviation });
const model = {
  id: "coder",
  pool: "elastic",
  replicas: 1,
  starting: 1,
  fixed: 0,
  requests_per_second: 2.5,
  heat: 740,
  on_time: { share: 0.875, requests: 40 },
  expected: { on_time: some(0.91, 0.04), memory: some(8e9, 1e8), compute: some(0.8, 0.1), bandwidth: some(0.4, 0.1) },
  wrong: false,
};
const placement = {
  mode: "auto",
  trouble: null,
  target_ms: 2_000,
  share: 0.95,
  models: [model, { ...model, id: "odd", on_time: null, expected: null, wrong: true }],
  plan: {
    age_ms: 1_500,
    actions: [
      { kind: "activate", model: "coder", workers: ["mac"], reason: "replica 2 of 2", not: null },
      { kind: "release", model: "tiny", workers: ["mac"], reason: "idle", not: "mac answers requests for it" },
    ],
  },
  reasons: [],
  done: [{ age_ms: 1_400, kind: "load", worker: "mac", model: "coder", failed: null }],
  failing: [{ kind: "unload", worker: "box", model: "tiny", reason: "it answered 403", retry_in_ms: 9_000 }],
  left_alone: [{ worker: "tei", reason: "cannot be told to load a model" }],
};

describe("farmgate placement", () => {
  test("shows models, what is expected of them, the last plan and what was done", () => {
    expect(renderPlacement("http://gw", readPlacement({ placement }), Infinity)).toBe(
      `Farmgate at http://gw: placement is on (auto), for 95 % within 2 s

MODEL  POOL     COPIES         REQ/S  TOKENS/S  ON TIME  EXPECTED    COMPUTE    BANDWIDTH
coder  elastic  1, 1 starting  2.5    740       87.5 %   91 % ± 4 %  0.8 ± 0.1  0.4 ± 0.1
odd    elastic  1, 1 starting  2.5    740       -        wrong       -          -

Last plan, 1.5 s ago:
  activate coder (mac): replica 2 of 2
  release tiny (mac): idle; not now: mac answers requests for it

Done:
  1.4 s ago: load coder on mac
! box did not unload tiny (it answered 403), again in 9 s
! tei is left alone: it cannot be told to load a model
`,
    );
  });

  test("says that it is off, that it rests, and that an answer is none of a gateway's", () => {
    expect(renderPlacement("u", readPlacement({ placement: { mode: "off" } }), 80)).toBe(
      "Farmgate at u: placement is off\n",
    );
    const resting = { ...placement, models: [], plan: null, done: [], failing: [], left_alone: [] };
    const text = renderPlacement("u", readPlacement({ placement: { ...resting, trouble: "it failed (x)" } }), 80);
    expect(text).toContain("! it rests, the farm goes on without it: it failed (x)");
    expect(() => readPlacement({ placement: { mode: "auto" } })).toThrow(/another version/);
  });
});
