import { describe, expect, test } from "vitest";
import { readExplanation, renderExplanation } from "../../src/render/explanation.ts";

const answer = {
  model: "coder",
  key: "coder",
  decision: { kind: "send", worker: "gpu-box" },
  ranked: [
    {
      worker: "gpu-box",
      set: "leading",
      warmth: "warm",
      reason: "reports it loaded",
      inflight: 1,
      upstreamModel: "coder",
    },
    {
      worker: "mac",
      set: "cold",
      warmth: "cold",
      reason: "lists it, not loaded; a long reason that a terminal of eighty columns can only show in two lines",
      inflight: 0,
      upstreamModel: "coder",
    },
  ],
  out: [{ worker: "cpu", reason: "unhealthy: no answer to 3 polls" }],
};

describe("an explanation as text", () => {
  test("says where a request would go, ranks the workers and names those left out", () => {
    expect(renderExplanation("coder", readExplanation(answer), 80)).toBe(
      [
        "coder: a request that came now would go to gpu-box.",
        "",
        "#  WORKER   SET      WARMTH  INFLIGHT",
        "1  gpu-box  leading  warm    1",
        "   reports it loaded",
        "2  mac      cold     cold    0",
        "   lists it, not loaded; a long reason that a terminal of eighty columns can",
        "   only show in two lines",
        "",
        "Out:",
        "cpu: unhealthy: no answer to 3 polls",
        "",
      ].join("\n"),
    );
  });

  test("names the model that an alias stands for", () => {
    expect(renderExplanation("code", readExplanation(answer), 80)).toMatch(/^code \(coder\): a request that came now/);
  });

  test("tells which copy a worker has, where copies differ", () => {
    const variant = { digest: null, quantization: "Q8_0", context_length: 8_192 };
    const ranked = answer.ranked.map((one, i) => (i === 0 ? { ...one, variant } : one));
    expect(renderExplanation("coder", readExplanation({ ...answer, ranked }), 80)).toContain(
      "   reports it loaded (Q8_0, context 8192)\n",
    );
  });

  test("tells what waiting here and loading there would take, where that was weighed", () => {
    const reason = "waiting at gpu-box would take about 40 s, loading on mac about 25 s: mac";
    const weighed = { decision: "swap", waitMs: 40_000, swapMs: 25_000, worker: "mac", reason };
    const lines = renderExplanation("coder", readExplanation({ ...answer, weighed }), 100).split("\n");
    expect(lines[1]).toBe(`Weighed: ${reason}.`);
    expect(renderExplanation("coder", readExplanation({ ...answer, weighed: null }), 100)).not.toContain("Weighed");
  });

  test("says why nothing serves it", () => {
    const none = {
      ...answer,
      decision: { kind: "none", code: "model_not_found", message: "Nobody has it." },
      ranked: [],
    };
    expect(renderExplanation("coder", readExplanation(none), 80).replaceAll("\n", " ")).toContain(
      "refused (model_not_found): Nobody has it.",
    );
  });

  test("refuses what is no explanation", () => {
    expect(() => readExplanation({ hello: "world" })).toThrow(/another version/);
  });
});
