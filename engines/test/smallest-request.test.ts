import { describe, expect, it } from "vitest";
import { adapterFor } from "../src/adapter-for.ts";
import { ENGINE_NAMES } from "../src/catalog.ts";
import { catalogModel } from "../src/read-model.ts";
import { smallestRequest } from "../src/smallest-request.ts";

describe("the smallest request that loads a model", () => {
  it("is one token of the API that the model has", () => {
    expect(smallestRequest(catalogModel("m", "cold"))).toEqual({
      path: "/v1/chat/completions",
      body: { model: "m", messages: [{ role: "user", content: "Hi" }], max_tokens: 1, stream: false },
      done: "answer",
    });
    expect(smallestRequest(catalogModel("m", "cold", { apis: ["completions"] }))?.path).toBe("/v1/completions");
  });

  it("is one word for a model of embeddings", () => {
    expect(smallestRequest(catalogModel("bge-m3", "cold", { kind: "embeddings" }))).toMatchObject({
      path: "/v1/embeddings",
      body: { model: "bge-m3", input: "Hi" },
    });
  });

  it("is none for other kinds, nor where the engine has no API for it", () => {
    for (const kind of ["audio", "rerank", "image", "classifier"]) {
      expect(smallestRequest(catalogModel("m", "cold", { kind }))).toBeNull();
    }
    expect(smallestRequest(catalogModel("m", "cold", { apis: [] }))).toBeNull();
    expect(smallestRequest(catalogModel("m", "cold", { kind: "embeddings", apis: ["chat"] }))).toBeNull();
  });

  it("loads a model on the engines that load on request, and is for no engine that holds one model", () => {
    const loads = ENGINE_NAMES.filter((engine) => adapterFor(engine).loadsOnRequest);
    expect(loads.sort()).toEqual(
      [
        "agent",
        "jano",
        "lemonade",
        "llama-server",
        "llama-swap",
        "lmstudio",
        "localai",
        "mlx",
        "ollama",
        "openai",
      ].sort(),
    );
  });
});
