import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { queryModel, replaceQueryModel } from "../src/index.ts";

describe("the model in a query", () => {
  it.each([
    ["/v1/realtime?model=m", "m"],
    ["/v1/realtime?intent=transcription&model=org%2Fwhisper+large&x", "org/whisper large"],
    ["/v1/realtime?mod%65l=m&", "m"],
    ["/v1/realtime?&&=&model=100%", "100%"],
  ])("is read wherever it stands: %s", (target, model) => {
    expect(queryModel(target).model).toBe(model);
  });

  it.each([
    ["/v1/realtime", "needs the model"],
    ["/v1/realtime?", "needs the model"],
    ["/v1/realtime?model", "needs the model"],
    ["/v1/realtime?model=&y=1", "needs the model"],
    ["/v1/realtime?models=a", "needs the model"],
    ["/v1/realtime?model=a&model=a", "two models"],
    [`/v1/realtime?model=${"a".repeat(2_000)}`, "at most"],
  ])("is asked for where it is missing or ambiguous: %s", (target, message) => {
    expect(() => queryModel(target)).toThrow(message);
  });

  it("is replaced in its place, and nothing else is touched", () => {
    const target = "/v1/realtime?a=%20b+c&model=m%2D1&d=%zz";
    const found = queryModel(target);
    expect(replaceQueryModel(target, found, "org/m:q4")).toBe("/v1/realtime?a=%20b+c&model=org%2Fm%3Aq4&d=%zz");
    expect(replaceQueryModel(target, found, "m-1")).toBe(target);
  });

  it("is found again after it was replaced, among any other parameters", () => {
    const name = fc.string({ minLength: 1, maxLength: 30, unit: "grapheme" });
    fc.assert(
      fc.property(fc.array(fc.tuple(name, name)), name, name, (others, model, other) => {
        const query = new URLSearchParams(others.filter(([key]) => key !== "model"));
        query.append("model", model);
        const target = `/v1/realtime?${query.toString()}`;
        const found = queryModel(target);
        expect(found.model).toBe(query.get("model"));
        expect(queryModel(replaceQueryModel(target, found, other)).model).toBe(other);
      }),
    );
  });
});
