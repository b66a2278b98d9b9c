import { describe, expect, it } from "vitest";
import { adapterFor } from "../src/adapter-for.ts";
import type { CatalogModel, EngineName } from "../src/catalog.ts";
import { EnginePoll } from "../src/engine-poll.ts";
import { catalogModel } from "../src/read-model.ts";
import { fakeServer } from "./fake-server.ts";

/** The commands for each model of a fixture, as `path {body}`; what is accepted and still to come is marked `...`. */
async function commandsOf(fixture: string): Promise<Record<string, { load: string | null; unload: string[] }>> {
  const result = await new EnginePoll("auto", fakeServer(fixture).get).run();
  if (result.kind !== "ok") throw new Error(`${fixture} is ${result.kind}`);
  const adapter = adapterFor(result.engine);
  return Object.fromEntries(
    result.report.models.map((model) => {
      const load = adapter.load(model);
      return [model.id, { load: load === null ? null : written(load), unload: adapter.unload(model).map(written) }];
    }),
  );
}

function written(call: { path: string; body: object; done: string }): string {
  return `${call.path} ${JSON.stringify(call.body)}${call.done === "poll" ? " ..." : ""}`;
}

const NONE = { load: null, unload: [] };

describe("what loads and unloads a model", () => {
  it("is for Ollama a request without a prompt that names the model alone, so that it loads it as it always does", async () => {
    expect(await commandsOf("ollama/one-loaded")).toEqual({
      "llama3.2:latest": {
        load: '/api/generate {"model":"llama3.2:latest","stream":false}',
        unload: ['/api/generate {"model":"llama3.2:latest","stream":false,"keep_alive":0}'],
      },
      "nomic-embed-text:latest": {
        load: '/api/embed {"model":"nomic-embed-text:latest","input":""}',
        unload: ['/api/generate {"model":"nomic-embed-text:latest","stream":false,"keep_alive":0}'],
      },
    });
  });

  it("is nothing for a cloud model of Ollama's or Lemonade's", async () => {
    const tag = { name: "gpt-oss:120b-cloud", remote_model: "gpt-oss:120b", remote_host: "" };
    const [cloud] = adapterFor("ollama").parse({ models: [tag] }, { models: [] })?.models ?? [];
    expect(cloud).toMatchObject({ state: "cold", commands: [] });
    expect((await commandsOf("lemonade/imitates-ollama"))["fireworks.kimi-k2p5"]).toEqual(NONE);
  });

  it("is for LM Studio 0.4 a call for each copy, and never a load of what is loaded; for 0.3 nothing", async () => {
    expect(await commandsOf("lmstudio/0.4")).toEqual({
      "qwen/qwen3-8b": { load: null, unload: ['/api/v1/models/unload {"instance_id":"qwen/qwen3-8b"}'] },
      "nomic-embed": {
        load: '/api/v1/models/load {"model":"nomic-embed"}',
        unload: ['/api/v1/models/unload {"instance_id":"nomic-embed"}'],
      },
    });
    expect(await commandsOf("lmstudio/0.3")).toEqual({ "qwen3-8b": NONE, llava: NONE });
    const copies = catalogModel("q", "warm", { commands: ["unload"], instances: ["mine", "q:2"] });
    expect(adapterFor("lmstudio").unload(copies).map(written)).toEqual([
      '/api/v1/models/unload {"instance_id":"mine"}',
      '/api/v1/models/unload {"instance_id":"q:2"}',
    ]);
  });

  it("is accepted at once by a llama-server router, but one that sleeps takes no load: a request wakes it", async () => {
    const { sleeper, coming, ...others } = await commandsOf("llama-server/router");
    expect(coming).toEqual({
      load: '/models/load {"model":"coming"} ...',
      unload: ['/models/unload {"model":"coming"} ...'],
    });
    expect(sleeper).toEqual({ load: null, unload: ['/models/unload {"model":"sleeper"} ...'] });
    expect(Object.keys(others)).toHaveLength(2);
  });

  it("is for llama-swap an unload of that model alone, by POST", async () => {
    expect((await commandsOf("llama-swap/one-ready"))["qwen-coder"]).toEqual({
      load: null,
      unload: ["/api/models/unload/qwen-coder {}"],
    });
    const slashed = catalogModel("org/m:q4 ?", "warm", { commands: ["unload"] });
    expect(adapterFor("llama-swap").unload(slashed)[0]?.path).toBe("/api/models/unload/org%2Fm%3Aq4%20%3F");
  });

  it("is a call of their own for LocalAI and Lemonade, which always names the model", async () => {
    expect((await commandsOf("localai/imitates-ollama"))["phi-4"]).toEqual({
      load: '/backend/load {"model":"phi-4"}',
      unload: ['/backend/shutdown {"model":"phi-4"}'],
    });
    expect((await commandsOf("lemonade/imitates-ollama"))["Qwen3-0.6B-GGUF"]).toEqual({
      load: '/v1/load {"model_name":"Qwen3-0.6B-GGUF"}',
      unload: ['/v1/unload {"model_name":"Qwen3-0.6B-GGUF"}'],
    });
  });

  it("is for vLLM sleeping and waking, only where it tells whether it sleeps and serves one model", async () => {
    expect(await commandsOf("vllm/asleep")).toEqual({
      "Qwen/Qwen3-8B": { load: "/wake_up {}", unload: ["/sleep?level=1 {}"] },
    });
    expect(await commandsOf("vllm/one-model")).toEqual({ "Qwen/Qwen3-8B": NONE });
    const two = adapterFor("vllm").parse({ data: [{ id: "a" }, { id: "b" }] }, { is_sleeping: false });
    expect(two?.models.map((model) => [model.state, model.commands])).toEqual([
      ["warm", []],
      ["warm", []],
    ]);
  });

  it("is a job at an agent", async () => {
    expect((await commandsOf("agent/one-loaded")).coder).toEqual({
      load: "/models/coder/load {} ...",
      unload: ["/models/coder/unload {}"],
    });
  });

  it("is nothing for all others", async () => {
    for (const fixture of [
      "llama-server/single",
      "llama-server/asleep",
      "mlx/two-on-disk",
      "tei/embedding",
      "tgi/one-model",
      "sglang/one-model",
      "koboldcpp/one-model",
      "whisper/ready",
      "jano/one-loaded",
      "openai/someone",
    ]) {
      for (const commands of Object.values(await commandsOf(fixture)))
        expect([fixture, commands]).toEqual([fixture, NONE]);
    }
  });
});

describe("an answer that means it was so already", () => {
  const target: CatalogModel = catalogModel("m", "cold", { commands: ["load", "unload"] });
  it.each<[EngineName, "load" | "unload", number, string, boolean]>([
    ["llama-server", "load", 400, "model is already running", true],
    ["llama-server", "load", 404, "model is not found", false],
    ["llama-server", "unload", 400, "model is not running", true],
    ["llama-server", "unload", 400, "model is not found", false],
    ["localai", "unload", 404, 'model "m" is not loaded on this instance or on any worker node', true],
    ["lemonade", "unload", 404, "Model not found: m", true],
    ["lmstudio", "unload", 404, "no such instance", true],
  ])("%s, %s: %i %s", (engine, command, status, text, expected) => {
    const adapter = adapterFor(engine);
    const call = command === "load" ? adapter.load(target) : adapter.unload(target)[0];
    expect(call?.already?.status === status && call.already.text.test(text)).toBe(expected);
  });
});
