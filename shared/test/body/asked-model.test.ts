import { describe, expect, it } from "vitest";
import { namedModel, onlyModel } from "../../src/body/asked-model.ts";

describe("the model that a request names", () => {
  it("is the body's own, whatever the query says", () => {
    expect(namedModel("chat", "m", "/v1/chat/completions?model=other")).toBe("m");
    expect(namedModel("transcriptions", "m", "/v1/audio/transcriptions?model=other")).toBe("m");
    expect(namedModel("completion", "m", "/completion?model=other")).toBe("m");
  });

  it("may stand in the query of a form and of llama.cpp's own paths", () => {
    expect(namedModel("transcriptions", null, "/v1/audio/transcriptions?a=b&model=org%2Fm%3Aq4")).toBe("org/m:q4");
    expect(namedModel("infill", null, "/infill?model=m")).toBe("m");
  });

  it("may be left to the farm on llama.cpp's own paths alone", () => {
    expect(namedModel("tokenize", null, "/tokenize")).toBeNull();
    expect(namedModel("tokenize", null, "/tokenize?model=&x")).toBeNull();
    expect(() => namedModel("chat", null, "/v1/chat/completions?model=m")).toThrow("the body has no `model`");
    expect(() => namedModel("image-edits", null, "/v1/images/edits")).toThrow("neither the body nor the query");
  });

  it("in the query has a bounded length, and is one", () => {
    expect(() => namedModel("infill", null, `/infill?model=${"x".repeat(501)}`)).toThrow("at most 500");
    expect(() => namedModel("infill", null, "/infill?model=a&model=b")).toThrow("two models");
  });
});

describe("the model for a request that names none", () => {
  it("is the only one there is", () => {
    expect(onlyModel(["m"])).toBe("m");
  });

  it("is not guessed among several, which are listed, nor among none", () => {
    expect(() => onlyModel(["a", 'b"'])).toThrow('several can be asked so: "a", "b\\""');
    expect(() => onlyModel(Array.from({ length: 30 }, (_, i) => `m${i}`))).toThrow('"m9" and 20 more');
    expect(() => onlyModel([])).toThrow("none is served here that can be asked so");
  });
});
