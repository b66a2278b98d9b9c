import { describe, expect, it } from "vitest";
import { until } from "../support/conditions.ts";
import { attach, never, startOllama, startRouter, startServer } from "./attached-rig.ts";

describe("an unload at an attached engine", () => {
  it("is done when its list does not have the model any more (Ollama), and is no news", async () => {
    const ollama = await startOllama({ models: ["a", { name: "vectors", kind: "embedding" }] });
    const { holder, model, news } = await attach([{ url: ollama.url }]);
    for (const name of ["a", "vectors"]) {
      await holder.load(model(name), null, never);
      expect(await holder.unload(model(name), never)).toEqual({ ok: true, tail: "" });
      expect(await holder.isReady(model(name), never)).toBe(false);
    }
    expect(ollama.models.loaded()).toEqual([]);
    const looks = ollama.looks;
    await until(() => ollama.looks > looks + 3);
    expect(news).toHaveLength(1);
  });

  it("waits for the answers that still run", async () => {
    const ollama = await startOllama({ models: ["a"], answerMs: 400 });
    const { holder, model } = await attach([{ url: ollama.url }]);
    await holder.load(model("a"), null, never);
    const body = JSON.stringify({ model: "a", messages: [{ role: "user", content: "Hi" }] });
    const answer = fetch(`${ollama.url}/v1/chat/completions`, { method: "POST", body });
    await until(() => ollama.models.count("request") === 1);
    expect(await holder.unload(model("a"), never)).toMatchObject({ ok: true });
    expect(ollama.models.count("answered")).toBe(1);
    expect((await answer).status).toBe(200);
  });

  it("goes by the list of a llama-server", async () => {
    const engine = await startRouter({ models: [{ name: "a", loaded: true }] });
    const { holder, model } = await attach([{ url: engine.url }]);
    expect(await holder.unload(model("a"), never)).toMatchObject({ ok: true });
    expect(engine.loadedModels()).toEqual([]);
    // It is so already.
    expect(await holder.unload(model("a"), never)).toMatchObject({ ok: true });
    expect(engine.stats.unloads).toBe(1);
  });

  it("takes every copy of a model (LM Studio)", async () => {
    const copies = new Set(["q/a", "q/a:2"]);
    const server = await startServer(({ method, path, body }) => {
      if (method === "GET" && path !== "/api/v1/models") return {};
      if (method === "GET") return { models: [{ key: "q/a", loaded_instances: [...copies].map((id) => ({ id })) }] };
      copies.delete((JSON.parse(body) as { instance_id: string }).instance_id);
      return {};
    });
    const { holder, model } = await attach([{ url: server.url, engine: "lmstudio" }]);
    expect(model("q/a").leaves).toBe("call");
    expect(await holder.unload(model("q/a"), never)).toMatchObject({ ok: true });
    expect([...copies]).toEqual([]);
  });

  it("fails with a reason where the engine has no call for it, and the model stays", async () => {
    const server = await startServer(({ method }) => (method === "POST" ? {} : { data: [{ id: "a" }] }));
    const { holder, model } = await attach([{ url: server.url, engine: "openai" }]);
    await holder.load(model("a"), null, never);
    const result = await holder.unload(model("a"), never);
    expect(result).toMatchObject({ ok: false, reason: `openai at ${server.url} has no call that unloads a` });
    expect(await holder.isReady(model("a"), never)).toBe(true);
  });

  it("fails with the engine's own words, or when the model is still there after its time", async () => {
    let status = 500;
    const server = await startServer(({ method, path }, response) => {
      if (method === "POST") response.statusCode = status;
      if (method === "POST") return { error: "it is stuck" };
      return path === "/api/tags" || path === "/api/ps" ? { models: [{ name: "a" }] } : "Ollama is running";
    });
    const engine = { url: server.url, models: { a: { timeout: "600ms" } } };
    const { holder, model } = await attach([engine]);
    expect(await holder.unload(model("a"), never)).toMatchObject({
      ok: false,
      reason: `${server.url}/api/generate answered 500: it is stuck`,
    });
    status = 200;
    expect(await holder.unload(model("a"), never)).toMatchObject({
      ok: false,
      reason: `${server.url} still has a loaded after 600 ms`,
    });
  });

  it("is done where the engine is gone", async () => {
    const ollama = await startOllama({ models: ["a"] });
    const { holder, model } = await attach([{ url: ollama.url }]);
    await holder.load(model("a"), null, never);
    await ollama.die();
    expect(await holder.unload(model("a"), never)).toMatchObject({ ok: true });
  });
});

describe("an attached engine of which the agent lets go", () => {
  it("stays as it is, and is not looked at any more", async () => {
    const ollama = await startOllama({ models: ["a"] });
    const { holder, model } = await attach([{ url: ollama.url }]);
    await holder.load(model("a"), null, never);
    expect(await holder.facts(model("a"), never)).toEqual({ engine: "ollama", contextLength: 4_096 });
    await holder.close();
    const looks = ollama.looks;
    // Another holder's looks tell that time has passed.
    const other = await startOllama({ models: ["b"] });
    await attach([{ url: other.url }]);
    await until(() => other.looks > 4);
    expect(ollama.looks).toBe(looks);
    expect(ollama.models.loaded()).toEqual(["a:latest"]);
  });
});
