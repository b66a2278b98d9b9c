import { expect, test } from "vitest";
import { chat, engineWith, get } from "./ask.ts";

const LOADING = '{"error":{"message":"Loading model","type":"unavailable_error","code":503}}';

test("while it loads every path answers 503, then any name is served by its own model", async () => {
  const engine = await engineWith({ single: true, models: ["solo"], load: "300ms" });
  for (const path of ["/health", "/v1/models", "/props", "/nowhere"]) {
    expect(await get(engine, path)).toMatchObject({ status: 503, body: LOADING });
  }
  expect(await chat(engine).answer).toMatchObject({ status: 503, body: LOADING });
  await engine.waitFor(() => engine.loadedModels().length === 1);
  expect((await get(engine, "/health")).status).toBe(200);
  expect(JSON.parse((await chat(engine, { model: "whatever" }).answer).body).model).toBe("solo");
  expect(JSON.parse((await chat(engine, { model: undefined }).answer).body).model).toBe("solo");
  const list = JSON.parse((await get(engine, "/v1/models")).body);
  expect(list).toMatchObject({ models: [{ name: "solo" }], data: [{ id: "solo", owned_by: "llamacpp" }] });
  expect(list.data[0]).not.toHaveProperty("status");
  expect(JSON.parse((await get(engine, "/props")).body)).toMatchObject({ total_slots: 4, model_alias: "solo" });
  expect(JSON.parse((await get(engine, "/slots")).body)).toHaveLength(4);
});

test("a single-model engine that cannot load is gone", async () => {
  const engine = await engineWith({ single: true, models: ["solo"], load: "100ms", fail: ["load-fails"] });
  await engine.waitFor((stats) => stats.log.some((entry) => entry.event === "load-failed"));
  expect(await get(engine, "/health")).toMatchObject({ broken: "ECONNREFUSED" });
});
