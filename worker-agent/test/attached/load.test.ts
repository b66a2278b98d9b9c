import { describe, expect, it } from "vitest";
import { until } from "../support/conditions.ts";
import { attach, never, startOllama, startRouter, startServer } from "./attached-rig.ts";

describe("a load at an attached engine", () => {
  it("is done with the engine's answer (Ollama), and the model is told to stay", async () => {
    const ollama = await startOllama({ models: ["a", { name: "vectors", kind: "embedding" }], loadMs: 50 });
    const { holder, model, news } = await attach([{ url: ollama.url }]);
    for (const name of ["a", "vectors"]) {
      expect(await holder.load(model(name), null, never)).toEqual({ ok: true, tail: "" });
      expect(await holder.isReady(model(name), never)).toBe(true);
    }
    expect(ollama.models.loaded()).toEqual(["a:latest", "vectors:latest"]);
    expect(ollama.models.keepAlive("a:latest")).toBe(-1);
    // Loads of its own are no news.
    expect(news).toHaveLength(1);
  });

  it("makes a model stay that another client had loaded for a while", async () => {
    const ollama = await startOllama({ models: ["a"] });
    await fetch(`${ollama.url}/api/generate`, { method: "POST", body: JSON.stringify({ model: "a", keep_alive: 60 }) });
    const { holder, model } = await attach([{ url: ollama.url }]);
    expect(await holder.load(model("a"), null, never)).toMatchObject({ ok: true });
    expect(ollama.models.keepAlive("a:latest")).toBe(-1);
    expect(ollama.models.count("load")).toBe(1);
  });

  it("is done when the list says so (llama-server), and fails with what the list says", async () => {
    const engine = await startRouter({ models: ["a", "b"], load: "60ms" });
    const { holder, model } = await attach([{ url: engine.url, poll: "1h" }]);
    expect(await holder.load(model("a"), null, never)).toMatchObject({ ok: true });
    expect(engine.loadedModels()).toEqual(["a"]);
    await engine.setFail(["load-fails"]);
    const failed = await holder.load(model("b"), null, never);
    expect(failed).toMatchObject({ ok: false, reason: `${engine.url} could not load b` });
  });

  it("asks for nothing where the model is loaded already", async () => {
    const engine = await startRouter({ models: [{ name: "a", loaded: true }] });
    const { holder, model } = await attach([{ url: engine.url }]);
    expect(await holder.load(model("a"), null, never)).toMatchObject({ ok: true });
    expect(engine.stats.loads).toBe(0);
  });

  it("takes 'already' for done: another client was quicker", async () => {
    let loaded = false;
    const server = await startServer(({ method }, response) => {
      const entry = { id: "a", status: { value: loaded ? "loaded" : "unloaded" }, owned_by: "llamacpp" };
      if (method === "GET") return { data: [entry] };
      loaded = true;
      response.statusCode = 400;
      return { error: { message: "model is already running", type: "invalid_request_error" } };
    });
    const { holder, model } = await attach([{ url: server.url, engine: "llama-server" }]);
    expect(await holder.load(model("a"), null, never)).toMatchObject({ ok: true });
  });

  it("is a smallest request where the engine has no call, and only then counts as ready", async () => {
    const server = await startServer(({ method, path }) =>
      method === "POST" ? { model: "x" } : path === "/v1/models" ? { data: [{ id: "chat" }, { id: "bge-m3" }] } : "{}",
    );
    const { holder, model } = await attach([{ url: server.url, engine: "openai", apiKey: "k" }]);
    expect(await holder.isReady(model("chat"), never)).toBe(false);
    for (const name of ["chat", "bge-m3"]) {
      expect(await holder.load(model(name), null, never)).toMatchObject({ ok: true });
      expect(await holder.isReady(model(name), never)).toBe(true);
    }
    const posts = server.calls.filter(({ method }) => method === "POST");
    expect(posts.map(({ path }) => path)).toEqual(["/v1/chat/completions", "/v1/embeddings"]);
    expect(JSON.parse(posts[0]?.body ?? "")).toMatchObject({ model: "chat", max_tokens: 1, stream: false });
    expect(server.calls.every(({ headers }) => headers.authorization === "Bearer k")).toBe(true);
  });

  it("makes the last model go where an engine holds one at a time and cannot tell", async () => {
    const server = await startServer(({ method }) => (method === "POST" ? {} : { data: [{ id: "a" }, { id: "b" }] }));
    const { holder, model, news } = await attach([{ url: server.url, engine: "mlx" }]);
    await holder.load(model("a"), null, never);
    await holder.load(model("b"), null, never);
    expect(news.slice(1)).toEqual(["lost a: its engine loads b in its place"]);
    expect(await holder.isReady(model("a"), never)).toBe(false);
    expect(await holder.isReady(model("b"), never)).toBe(true);
  });

  it("fails where a request was answered by another model, as the list shows", async () => {
    const server = await startServer(({ method, path }, response) => {
      if (method === "POST") return { model: "b" };
      if (path === "/api/v0/models")
        return {
          data: [
            { id: "a", state: "not-loaded" },
            { id: "b", state: "loaded" },
          ],
        };
      response.statusCode = 404;
      return {};
    });
    const { holder, model } = await attach([{ url: server.url, engine: "lmstudio" }]);
    const result = await holder.load(model("a"), null, never);
    expect(result).toMatchObject({ ok: false });
    expect(result.ok ? "" : result.reason).toContain("does not have a as loaded");
  });

  it("falls back on a request where a release does not have the call yet", async () => {
    const loaded = new Set<string>();
    const server = await startServer(({ method, path, body }, response) => {
      if (path === "/v1/chat/completions") loaded.add((JSON.parse(body) as { model: string }).model);
      if (path === "/system") return { loaded_models: [...loaded].map((id) => ({ id })) };
      if (path === "/backend/load") response.statusCode = 404;
      return method === "GET" ? { data: [{ id: "a" }] } : {};
    });
    const { holder, model } = await attach([{ url: server.url, engine: "localai" }]);
    expect(await holder.load(model("a"), null, never)).toMatchObject({ ok: true });
    expect([...loaded]).toEqual(["a"]);
  });

  it("fails with the engine's own words", async () => {
    const ollama = await startOllama({ models: ["a"] });
    ollama.models.setFailing("a:latest", true);
    const { holder, model } = await attach([{ url: ollama.url }]);
    expect(await holder.load(model("a"), null, never)).toEqual({
      ok: false,
      reason: `${ollama.url}/api/generate answered 500: llama runner process has terminated: error loading model a:latest`,
      tail: "",
    });
    expect(await holder.isReady(model("a"), never)).toBe(false);
  });

  it("fails at once where nobody listens", async () => {
    const ollama = await startOllama({ models: ["a"] });
    const { holder, model } = await attach([{ url: ollama.url }]);
    await ollama.die();
    const result = await holder.load(model("a"), null, never);
    expect(result).toMatchObject({ ok: false, reason: `${ollama.url} did not answer: connection refused` });
  });

  it("fails when its time is over, and finds the model when it comes later", async () => {
    const ollama = await startOllama({ models: ["a"], loadMs: 400 });
    const { holder, model, count } = await attach([{ url: ollama.url, models: { a: { timeout: "100ms" } } }]);
    const result = await holder.load(model("a"), null, never);
    expect(result).toMatchObject({ ok: false });
    expect(result.ok ? "" : result.reason).toContain("no answer in time");
    await until(() => count("found a:latest") === 1);
  });

  it("ends when it is stopped", async () => {
    const engine = await startRouter({ models: ["a"], load: "1h" });
    const { holder, model } = await attach([{ url: engine.url }]);
    const stop = new AbortController();
    const load = holder.load(model("a"), null, stop.signal);
    await until(() => engine.stats.loads === 1);
    stop.abort();
    expect(await load).toMatchObject({ ok: false, reason: "it was stopped" });
  });
});
