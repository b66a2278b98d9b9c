import { API_NAMES, isApi } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { ENGINE_NAMES, spokenBy } from "../src/index.ts";

describe("what an engine speaks", () => {
  it.each(ENGINE_NAMES)("%s: only APIs that there are, each once, and something", (engine) => {
    const apis = [...spokenBy(engine)];
    expect(apis.length).toBeGreaterThan(0);
    expect(apis.every(isApi)).toBe(true);
  });

  it("leaves no API to nobody", () => {
    const spoken = new Set(ENGINE_NAMES.flatMap((engine) => [...spokenBy(engine)]));
    expect(API_NAMES.filter((api) => !spoken.has(api))).toEqual([]);
  });

  it("takes a server that is not known further for OpenAI's, never for Ollama's or llama.cpp's", () => {
    const apis = spokenBy(null);
    expect(apis).toEqual(spokenBy("openai"));
    expect(["speech", "image-edits", "realtime", "rerank"].every((api) => isApi(api) && apis.has(api))).toBe(true);
    expect([...apis].filter((api) => api.startsWith("ollama-") || api === "infill" || api === "messages")).toEqual([]);
  });
});
