import { describe, expect, it } from "vitest";
import { until } from "../support/conditions.ts";
import { attach, startOllama, startRouter, startServer } from "./attached-rig.ts";

describe("the list of an attached engine", () => {
  it("is served with what the engine and the owner say of each model", async () => {
    const small = { name: "small", quantization: "Q8_0", digest: "sha256:12" };
    const ollama = await startOllama({ models: [small, { name: "vectors", kind: "embedding" }, "big:32b"] });
    const { book, model } = await attach([
      {
        url: ollama.url,
        ttl: "5m",
        apiKey: "secret",
        models: {
          "big:32B": { aliases: ["huge"], slots: 3, memory: "20gb", timeout: "7s", ttl: "1m" },
          vectors: { pinned: true },
        },
      },
    ]);
    expect(book.models.map(({ name }) => name)).toEqual(["small:latest", "vectors:latest", "big:32b"]);
    expect(model("SMALL")).toMatchObject({
      engineName: "small:latest",
      url: ollama.url,
      apiKey: "secret",
      slots: 1,
      timeoutMs: 180_000,
      ttlMs: 300_000,
      pinned: false,
      kind: "chat",
      heldBy: { kind: "engine", url: ollama.url },
      leaves: "call",
      quantization: "Q8_0",
      digest: "sha256:12",
    });
    expect(model("huge")).toMatchObject({ name: "big:32b", slots: 3, timeoutMs: 7_000, ttlMs: 60_000 });
    expect(model("vectors").pinned).toBe(true);
    expect(model("huge").memoryBytes).toBe(20 * 1_024 ** 3);
    expect(model("vectors")).toMatchObject({
      kind: "embeddings",
      apis: ["embeddings", "ollama-embed", "ollama-embeddings"],
    });
  });

  it("comes and goes as the engine's own does", async () => {
    const ollama = await startOllama({ models: ["a"] });
    const { names, count, book } = await attach([{ url: ollama.url }]);
    ollama.models.setModels(["b", "c"]);
    await until(() => names().length === 2);
    expect(names()).toEqual(["b:latest", "c:latest"]);
    expect(book.find("a")).toBeUndefined();
    ollama.models.setModels([]);
    await until(() => names().length === 0);
    expect(count("models")).toBe(3);
  });

  it("is cut to what the configuration lets through", async () => {
    const ollama = await startOllama({ models: ["qwen:4b", "qwen:8b", "llama:8b"] });
    const { names } = await attach([{ url: ollama.url, allow: ["qwen*"], deny: ["*:8b"] }]);
    expect(names()).toEqual(["qwen:4b"]);
  });

  it("leaves out a name that is taken, and says so once", async () => {
    const [one, two] = [await startOllama({ models: ["a", "b"] }), await startRouter({ models: ["b", "c", "d"] })];
    const { names, warnings, model } = await attach(
      [
        { url: one.url, models: { b: { aliases: ["D"] } } },
        { url: two.url, models: { c: { aliases: ["b", "see"] } } },
      ],
      { models: [{ name: "a", url: "http://127.0.0.1:1" }] },
    );
    expect(names()).toEqual(["a", "b:latest", "c"]);
    expect(model("d").name).toBe("b:latest");
    expect(model("a").heldBy.kind).toBe("script");
    expect(model("b").url).toBe(one.url);
    expect(model("see").name).toBe("c");
    const looks = one.looks;
    await until(() => one.looks > looks + 4);
    expect(warnings).toEqual([
      `${one.url} lists a:latest, which is left out: that already names a model of the configuration`,
      `${two.url} lists b, which is left out: that already names a model of ${one.url}`,
      `${two.url} lists d, which is left out: that already names a model of ${one.url}`,
    ]);
  });

  it("gives a name to the next engine once the first one does not list it any more", async () => {
    const [one, two] = [await startOllama({ models: ["a"] }), await startOllama({ models: ["a"] })];
    const { model, names } = await attach([{ url: one.url }, { url: two.url }]);
    const first = model("a").url;
    expect(names()).toEqual(["a:latest"]);
    (first === one.url ? one : two).models.setModels([]);
    await until(() => names().length === 1 && model("a").url !== first);
  });

  it("is kept while the engine is away; that is said once, and again when it is back", async () => {
    const ollama = await startOllama({ models: ["a"] });
    const { names, warnings, infos } = await attach([{ url: ollama.url }]);
    expect(infos).toEqual([`${ollama.url} is ollama`]);
    await ollama.die();
    await until(() => warnings.length > 0);
    expect(names()).toEqual(["a:latest"]);
    await ollama.open();
    await until(() => infos.length === 2);
    expect(warnings).toEqual([`the list of the engine at ${ollama.url} is not to be had`]);
  });

  it("comes later when the engine was dead at start", async () => {
    const ollama = await startOllama({ models: ["a"] });
    await ollama.die();
    const { names, count, warnings } = await attach([{ url: ollama.url }]);
    expect(names()).toEqual([]);
    expect(warnings).toHaveLength(1);
    await ollama.open();
    await until(() => names().length === 1);
    expect(count("models")).toBe(1);
  });

  it("keeps the memory that a model took when it was last loaded", async () => {
    const ollama = await startOllama({ models: [{ name: "a", memory: 5_000 }] });
    const ps = [{ name: "a:latest", size: 7_000, context_length: 4_096 }];
    const running: { models: object[] } = { models: ps };
    const server = await startServer(({ path }) => {
      if (path === "/api/tags") return { models: [{ name: "a:latest", size: 5_000, capabilities: ["completion"] }] };
      return path === "/api/ps" ? running : "Ollama is running";
    });
    const { model, count } = await attach([{ url: server.url, engine: "ollama" }, { url: ollama.url }]);
    expect(model("a").memoryBytes).toBe(7_000);
    running.models = [];
    await until(() => count("lost a") === 1);
    expect(model("a").memoryBytes).toBe(7_000);
  });

  it("says of each model how it leaves memory", async () => {
    const router = await startRouter({ models: ["routed"] });
    const single = await startRouter({ models: ["alone"], single: true });
    const generic = await startServer(({ path }) => (path === "/v1/models" ? { data: [{ id: "swapped" }] } : "{}"));
    const { model, names } = await attach([
      { url: router.url },
      { url: single.url },
      { url: generic.url, engine: "mlx" },
    ]);
    await until(() => single.loadedModels().length === 1);
    await until(() => names().includes("alone"));
    expect(model("alone").leaves).toBe("never");
    expect(["routed", "swapped"].map((name) => model(name).leaves)).toEqual(["call", "replaced"]);
  });

  it("leaves out what an engine only passes on to a cloud", async () => {
    const local = { name: "a:1b", capabilities: ["completion"] };
    const cloud = { name: "b:1t-cloud", remote_host: "https://cloud.example", remote_model: "b:1t" };
    const server = await startServer(({ path }) =>
      path === "/api/tags" ? { models: [local, cloud] } : { models: [] },
    );
    const { names, warnings } = await attach([{ url: server.url, engine: "ollama" }]);
    expect(names()).toEqual(["a:1b"]);
    expect(warnings.join()).toContain("b:1t-cloud");
  });

  it("takes no worker agent for an engine", async () => {
    const server = await startServer(({ path }) => (path === "/catalog" ? { protocol: 1, models: [] } : "{}"));
    const { names, warnings } = await attach([{ url: server.url }]);
    expect(names()).toEqual([]);
    expect(warnings).toHaveLength(1);
  });
});
