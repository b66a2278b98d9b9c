import { describe, expect, it } from "vitest";
import { modelsAskedAs } from "../../src/routing/models-asked-as.ts";
import { nameRules } from "../../src/routing/resolve-name.ts";
import { catalogOf, model, worker } from "./farm.ts";

const names = nameRules({ aliases: { fast: "code" }, fallbacks: {} });
const llama = (name: string, ...ids: string[]) =>
  worker(name, { engine: "llama-server", models: ids.map((id) => model(id, "warm")) });
const ollama = worker("pots", { engine: "ollama", models: [model("qwen3:8b", "cold")] });

describe("the models that can be asked as an API", () => {
  it("are those of workers that speak it, each once and as the list spells them", () => {
    const catalog = catalogOf([ollama, llama("a", "code", "code-2"), llama("b", "CODE")]);
    expect(modelsAskedAs(["infill"], catalog, names, ["*"])).toEqual(["code", "code-2"]);
    expect(modelsAskedAs(["infill", "ollama-generate"], catalog, names, ["*"])).toEqual(["code", "code-2", "qwen3:8b"]);
  });

  it("are without those whose model says that it does not speak it", () => {
    const deaf = worker("d", { engine: "llama-server", models: [model("emb", "warm", { apis: ["embeddings"] })] });
    expect(modelsAskedAs(["infill"], catalogOf([deaf, llama("a", "code")]), names, ["*"])).toEqual(["code"]);
  });

  it("are without those that the key may not use", () => {
    const catalog = catalogOf([llama("a", "code", "secret")]);
    expect(modelsAskedAs(["infill"], catalog, names, ["c*"])).toEqual(["code"]);
    expect(modelsAskedAs(["infill"], catalog, names, ["other"])).toEqual([]);
  });

  it("are those of workers that are away only while no other has any", () => {
    const away = worker("away", { engine: "llama-server", health: "unhealthy", models: [model("old", "warm")] });
    expect(modelsAskedAs(["infill"], catalogOf([away, llama("a", "code")]), names, ["*"])).toEqual(["code"]);
    expect(modelsAskedAs(["infill"], catalogOf([away, ollama]), names, ["*"])).toEqual(["old"]);
  });
});
