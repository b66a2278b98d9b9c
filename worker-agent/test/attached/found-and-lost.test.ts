import { describe, expect, it } from "vitest";
import { until } from "../support/conditions.ts";
import { attach, never, startOllama, startRouter, startServer } from "./attached-rig.ts";

const generate = (url: string, body: object) =>
  fetch(`${url}/api/generate`, { method: "POST", body: JSON.stringify(body) });

describe("models that come and go at an attached engine by themselves", () => {
  it("are told as found at start, and not as news as well", async () => {
    const ollama = await startOllama({ models: ["a", "b"] });
    await generate(ollama.url, { model: "a" });
    const { holder, book, news, model } = await attach([{ url: ollama.url }], { asks: false });
    const looks = ollama.looks;
    await until(() => ollama.looks > looks + 2);
    expect(await holder.found(book.models)).toEqual([model("a")]);
    await until(() => ollama.looks > looks + 5);
    expect(news).toEqual([`models ${ollama.url}: a:latest b:latest`]);
  });

  it("are found at start while they load already, and not lost before they are loaded", async () => {
    const router = await startRouter({ models: ["a", "b"], load: "400ms" });
    const load = fetch(`${router.url}/models/load`, { method: "POST", body: JSON.stringify({ model: "a" }) });
    const state = async () => {
      const { data } = (await (await fetch(`${router.url}/models`)).json()) as {
        data: { status: { value: string } }[];
      };
      return data[0]?.status.value;
    };
    await until(async () => (await state()) === "loading");
    const { holder, book, news, model } = await attach([{ url: router.url }], { asks: false });
    expect(await holder.found(book.models)).toEqual([model("a")]);
    await load;
    await until(async () => (await state()) === "loaded");
    expect(await holder.isReady(model("a"), never)).toBe(true);
    expect(news.filter((text) => !text.startsWith("models"))).toEqual([]);
  });

  it("are found when another client loads one, and lost, once, when the engine unloads it", async () => {
    const ollama = await startOllama({ models: ["a"] });
    const { count } = await attach([{ url: ollama.url }]);
    await generate(ollama.url, { model: "a" });
    await until(() => count("found a:latest") === 1);
    ollama.models.evict("a:latest");
    await until(() => count("lost a:latest: its engine has unloaded it") === 1);
    const looks = ollama.looks;
    await until(() => ollama.looks > looks + 4);
    expect([count("found"), count("lost")]).toEqual([1, 1]);
  });

  it("are lost when the engine makes room for another by its own will", async () => {
    const ollama = await startOllama({ models: ["a", "b"], maxLoaded: 1 });
    const { holder, model, news, count } = await attach([{ url: ollama.url }]);
    expect(await holder.load(model("a"), null, never)).toMatchObject({ ok: true });
    expect(await holder.load(model("b"), null, never)).toMatchObject({ ok: true });
    await until(() => count("lost") > 0);
    expect(news.slice(1)).toEqual(["lost a:latest: its engine has unloaded it"]);
    expect(ollama.models.mostInMemory()).toBe(1);
  });

  it("are lost with an engine that died, and found when it comes back with them", async () => {
    const ollama = await startOllama({ models: ["a"] });
    const { holder, model, news, count } = await attach([{ url: ollama.url }]);
    await holder.load(model("a"), null, never);
    await ollama.die();
    await until(() => count("lost") === 1);
    await ollama.open();
    await generate(ollama.url, { model: "a" });
    await until(() => count("found") === 1);
    expect(news.slice(1)).toEqual(["lost a:latest: its engine is gone", "found a:latest"]);
  });

  it("stay while the engine only fails to show its list, and while it does not know their state", async () => {
    let answers: "well" | "500" | "no states" = "well";
    const server = await startServer(({ path }, response) => {
      if (path === "/api/generate") return { done: true };
      if (answers === "500") response.statusCode = 500;
      if (path === "/api/tags") return { models: [{ name: "a" }] };
      if (answers === "no states") response.statusCode = 500;
      return { models: [{ name: "a" }] };
    });
    const { count, holder, model, warnings } = await attach([{ url: server.url, engine: "ollama" }]);
    await holder.load(model("a"), null, never);
    for (const way of ["500", "no states"] as const) {
      answers = way;
      const before = server.calls.length;
      await until(() => server.calls.length > before + 6);
    }
    expect(warnings).toHaveLength(1);
    expect([count("found"), count("lost")]).toEqual([0, 0]);
  });

  it("are not told as lost by a look that began before their load had ended", async () => {
    let endLoad: (() => void) | null = null;
    let endLook: (() => void) | null = null;
    let loaded = false;
    const server = await startServer(async ({ method, path }) => {
      if (method === "POST") {
        await new Promise<void>((resolve) => (endLoad = resolve));
        loaded = true;
        return { done: true };
      }
      if (path === "/api/tags") return { models: [{ name: "a" }] };
      const answer = { models: loaded ? [{ name: "a" }] : [] };
      // What a look during the load says is of then, and comes after it.
      if (endLoad !== null && endLook === null) await new Promise<void>((resolve) => (endLook = resolve));
      return answer;
    });
    const { holder, model, news, count } = await attach([{ url: server.url, engine: "ollama" }]);
    const load = holder.load(model("a"), null, never);
    await until(() => endLook !== null);
    (endLoad as (() => void) | null)?.();
    expect(await load).toMatchObject({ ok: true });
    (endLook as (() => void) | null)?.();
    const before = server.calls.length;
    await until(() => server.calls.length > before + 4);
    expect(news.slice(1)).toEqual([]);
    loaded = false;
    await until(() => count("lost a") === 1);
  });

  it("are found again when the agent was told otherwise that one was lost", async () => {
    const ollama = await startOllama({ models: ["a"] });
    const { holder, model, count } = await attach([{ url: ollama.url }]);
    await holder.load(model("a"), null, never);
    holder.lost(model("a"));
    await until(() => count("found") === 1);
    expect(count("lost")).toBe(0);
  });
});
