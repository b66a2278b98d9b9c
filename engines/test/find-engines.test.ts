import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ENGINE_NAMES } from "../src/catalog.ts";
import { EnginePoll } from "../src/engine-poll.ts";
import { fakeServer } from "./fake-server.ts";

/** All that an address is ever asked while nobody knows what stands there: GETs that change nothing anywhere. */
const HARMLESS = new Set([
  "/catalog",
  "/",
  "/.well-known/localai.json",
  "/running",
  "/api/v1/models",
  "/api/v0/models",
  "/v1/health",
  "/api/extra/version",
  "/api/version",
  "/api/ps",
  "/props",
  "/info",
  "/health",
  "/v1/models",
]);
/** And once it is known: its own catalogue, the second GET beside it. */
const OF_ENGINES = new Set(["/api/tags", "/system", "/get_server_info", "/api/extra/perf", "/is_sleeping"]);
/** Detection, catalogue, second GET. */
const MOST_GETS = 16;

/** Server (its fixture) -> what one poll finds: the engine, and each model's state. */
const SERVERS: readonly (readonly [fixture: string, engine: string, models: Record<string, string>])[] = [
  ["agent/one-loaded", "agent", { coder: "warm", writer: "cold" }],
  ["ollama/one-loaded", "ollama", { "llama3.2:latest": "warm", "nomic-embed-text:latest": "cold" }],
  ["ollama/behind-a-proxy", "ollama", { "llama3.2:latest": "warm", "nomic-embed-text:latest": "cold" }],
  ["ollama/without-models", "ollama", {}],
  ["llama-server/single", "llama-server", { "qwen3-8b": "warm" }],
  ["llama-server/behind-a-proxy", "llama-server", { "qwen3-8b": "warm" }],
  ["llama-server/asleep", "llama-server", { "qwen3-8b": "cold" }],
  [
    "llama-server/router",
    "llama-server",
    { "ggml-org/gemma-3-4b-it-GGUF:Q4_K_M": "warm", sleeper: "cold", coming: "loading", broken: "failed" },
  ],
  ["vllm/one-model", "vllm", { "Qwen/Qwen3-8B": "warm" }],
  ["vllm/asleep", "vllm", { "Qwen/Qwen3-8B": "cold" }],
  ["lmstudio/0.4", "lmstudio", { "qwen/qwen3-8b": "warm", "nomic-embed": "cold" }],
  ["lmstudio/0.3", "lmstudio", { "qwen3-8b": "warm", llava: "cold" }],
  ["llama-swap/one-ready", "llama-swap", { "qwen-coder": "warm", writer: "loading", third: "cold" }],
  [
    "mlx/two-on-disk",
    "mlx",
    { "mlx-community/Qwen3-4B-4bit": "unknown", "mlx-community/gemma-3-4b-it-4bit": "unknown" },
  ],
  ["tei/embedding", "tei", { "BAAI/bge-m3": "warm" }],
  ["tei/reranker", "tei", { reranker: "warm" }],
  ["tgi/one-model", "tgi", { "HuggingFaceH4/zephyr-7b-beta": "warm" }],
  ["sglang/one-model", "sglang", { "meta-llama/Llama-3.1-8B": "warm" }],
  ["localai/imitates-ollama", "localai", { "phi-4": "warm", "whisper-1": "cold" }],
  ["localai/key-of-no-admin", "localai", { "phi-4": "unknown" }],
  [
    "lemonade/imitates-ollama",
    "lemonade",
    {
      "Qwen3-0.6B-GGUF": "warm",
      "nomic-embed-text-v1-GGUF": "cold",
      "Whisper-Tiny": "cold",
      "fireworks.kimi-k2p5": "cold",
    },
  ],
  ["koboldcpp/one-model", "koboldcpp", { "koboldcpp/gemma-3-4b": "warm" }],
  ["koboldcpp/behind-a-proxy", "koboldcpp", { "koboldcpp/gemma-3-4b": "warm" }],
  ["whisper/ready", "whisper", { whisper: "warm" }],
  ["jano/one-loaded", "jano", { chat: "cold", code: "warm" }],
  ["openai/someone", "openai", { m: "unknown" }],
];

/** Server -> what one poll finds where there is no catalogue. */
const WITHOUT: readonly (readonly [fixture: string, kind: string, engine: string | null])[] = [
  ["llama-server/loading", "loading", "llama-server"],
  ["whisper/loading", "loading", "whisper"],
  ["vllm/asks-for-a-key", "unauthorized", null],
  ["localai/asks-for-a-key", "unauthorized", "localai"],
  ["stray/html-everywhere", "no_catalog", "openai"],
  ["stray/404-everywhere", "no_catalog", "openai"],
  ["stray/json-everywhere", "no_catalog", "openai"],
  ["stray/key-everywhere", "unauthorized", null],
];

describe("an address of which nothing is known", () => {
  it.each(SERVERS)("%s is found to be %s, with its models", async (fixture, engine, models) => {
    const result = await new EnginePoll("auto", fakeServer(fixture).get).run();
    expect(result).toMatchObject({ kind: "ok", engine });
    if (result.kind !== "ok") return;
    expect(Object.fromEntries(result.report.models.map(({ id, state }) => [id, state]))).toEqual(models);
  });

  it.each(WITHOUT)("%s is %s (%s)", async (fixture, kind, engine) => {
    expect(await new EnginePoll("auto", fakeServer(fixture).get).run()).toMatchObject({ kind, engine });
  });

  it("is asked only what changes nothing, nothing twice, and not for ever", async () => {
    for (const [fixture, found] of [...SERVERS, ...WITHOUT]) {
      const { get, asked } = fakeServer(fixture);
      await new EnginePoll("auto", get).run();
      const strange = asked.filter((path) => !HARMLESS.has(path) && !OF_ENGINES.has(path));
      expect([fixture, strange]).toEqual([fixture, []]);
      expect(asked.length, `${fixture} (${found})`).toBeLessThanOrEqual(MOST_GETS);
      const detection = asked.slice(0, asked.length - 2);
      expect([fixture, detection.length]).toEqual([fixture, new Set(detection).size]);
    }
  });

  it("is asked nothing of another engine's once it is known", async () => {
    const { get, asked } = fakeServer("llama-swap/one-ready");
    const poll = new EnginePoll("auto", get);
    await poll.run();
    asked.length = 0;
    await poll.run();
    expect(asked).toEqual(["/v1/models", "/running"]);
  });
});

describe("the fixtures", () => {
  it("have every engine, and each of them is polled", () => {
    const folder = new URL("fixtures/", import.meta.url);
    const all = readdirSync(folder).flatMap((engine) =>
      readdirSync(new URL(`${engine}/`, folder)).map((file) => `${engine}/${file.replace(/\.json$/, "")}`),
    );
    expect([...SERVERS, ...WITHOUT].map(([fixture]) => fixture).sort()).toEqual(all.sort());
    expect(new Set(SERVERS.map(([, engine]) => engine))).toEqual(new Set(ENGINE_NAMES));
  });
});
